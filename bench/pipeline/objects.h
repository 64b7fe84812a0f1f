// bench/pipeline/objects.h: the keys and values of the in-memory workloads. Every byte follows from
// a key's number and a version, so a check can tell that a reply is whole and was once stored.
//
// Key       64-bit words; the first is a bijective mix of the number (so keys differ and are not
//           shaped to any hash), word i a mix of the first and i.
// Value     64-bit words; the first is a bijective mix of version, a fixed mark of 24 bits and the
//           key's first word, word i = first + i * odd constant. A value of another key, or one
//           with any byte changed, has another mark or other words. A change of the first word
//           passes in one case in 2^24, and the version's bounds stop most of these.
// Version   whoever stored it, and in which pass over its requests (bench/pipeline/request_ring.h).
// Units     bytes; sizes of keys and values are multiples of 8.
// Threads   pure.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/random.h"

namespace weft::bench {

struct Version {
  uint32_t writer = 0;  // below kWriters; 0: the fill
  uint32_t pass = 0;
  bool operator==(const Version&) const = default;
};

inline constexpr uint32_t kWriters = 1u << 8;

namespace objects_internal {
inline constexpr uint64_t kStep = base::kRandomStep;
inline constexpr uint64_t kKeySalt = 0x5bd1e995a3c59ac3u;
inline constexpr uint64_t kMark = 0xc0ffe7u;  // of a value, above the version's 40 bits
}  // namespace objects_internal

// The inverse of Mix.
inline uint64_t Unmix(uint64_t x) {
  // x ^ (x >> s) is undone by the shifts that are multiples of s; the factors are the inverses,
  // modulo 2^64, of Mix's.
  x ^= (x >> 31) ^ (x >> 62);
  x *= 0x319642b2d24d8ec3u;
  x ^= (x >> 27) ^ (x >> 54);
  x *= 0x96de1b173f119089u;
  return x ^ (x >> 30) ^ (x >> 60);
}

// First word of the key of `number`.
inline uint64_t KeyWord(uint64_t number) { return base::Mix(number + objects_internal::kKeySalt); }

inline void WriteBinaryKey(uint64_t number, char* out, uint32_t key_bytes) {
  const uint64_t first = KeyWord(number);
  std::memcpy(out, &first, 8);
  for (uint32_t i = 1; i < key_bytes / 8; ++i) {
    const uint64_t word = base::Mix(first + i * objects_internal::kStep);
    std::memcpy(out + 8 * i, &word, 8);
  }
}

// The number of the key at `key`.
inline uint64_t NumberOfKey(const char* key) {
  uint64_t first;
  std::memcpy(&first, key, 8);
  return Unmix(first) - objects_internal::kKeySalt;
}

inline void WriteVersionedValue(const char* key, Version version, char* out, uint32_t value_bytes) {
  uint64_t seed;
  std::memcpy(&seed, key, 8);
  const uint64_t packed =
      objects_internal::kMark << 40 | uint64_t{version.writer} << 32 | version.pass;
  uint64_t word = base::Mix(packed ^ seed);
  for (uint32_t at = 0; at < value_bytes; at += 8, word += objects_internal::kStep)
    std::memcpy(out + at, &word, 8);
}

// The version of the value, if every byte is the key's in that version; otherwise false.
inline bool ReadVersion(const char* key, const char* value, uint32_t value_bytes,
                        Version* version) {
  uint64_t seed, first;
  std::memcpy(&seed, key, 8);
  std::memcpy(&first, value, 8);
  uint64_t differing = 0, word = first;
  for (uint32_t at = 8; at < value_bytes; at += 8) {
    uint64_t got;
    std::memcpy(&got, value + at, 8);
    word += objects_internal::kStep;
    differing |= got ^ word;
  }
  const uint64_t packed = Unmix(first) ^ seed;
  version->writer = static_cast<uint32_t>(packed >> 32) & (kWriters - 1);
  version->pass = static_cast<uint32_t>(packed);
  return differing == 0 && packed >> 40 == objects_internal::kMark;
}

}  // namespace weft::bench
