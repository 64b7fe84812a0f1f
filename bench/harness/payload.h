// bench/harness/payload.h: the keys and values of all benchmarks, both computed from a number. So
// whoever reads a value can tell whether it belongs to the key.
//
// Layout    key: a fixed prefix, then eight letters a..p, four bits of the id each (low end last).
//           value: 64-bit words, word i = Mix(id) + i * odd constant; the last one may be cut.
// Threads   pure.
// Cost      a key is a dozen instructions; a value an addition a word.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/random.h"

namespace weft::bench {

inline constexpr uint32_t kPayloadKeyBytesMax = 128;

namespace payload_internal {
inline constexpr uint64_t kStep = base::kRandomStep;
inline constexpr char kPrefix[] =
    "weft:weft:weft:weft:weft:weft:weft:weft:weft:weft:weft:weft:"
    "weft:weft:weft:weft:weft:weft:weft:weft:weft:weft:weft:weft:";
static_assert(sizeof(kPrefix) - 1 == kPayloadKeyBytesMax - 8);

inline uint64_t SpreadNibbles(uint32_t id) {
  uint64_t x = id;
  x = (x | (x << 16)) & 0x0000ffff0000ffffu;
  x = (x | (x << 8)) & 0x00ff00ff00ff00ffu;
  return (x | (x << 4)) & 0x0f0f0f0f0f0f0f0fu;
}
}  // namespace payload_internal

// Writes the `key_bytes` of key `id` at `out`. REQUIRES: 8 <= key_bytes <= kPayloadKeyBytesMax
inline void WriteKey(uint32_t id, char* out, uint32_t key_bytes) {
  const uint64_t letters = payload_internal::SpreadNibbles(id) + 0x6161616161616161u;
  const uint64_t text = __builtin_bswap64(letters);
  if (key_bytes == 16) {
    std::memcpy(out, payload_internal::kPrefix, 8);
  } else {
    std::memcpy(out, payload_internal::kPrefix, key_bytes - 8);
  }
  std::memcpy(out + key_bytes - 8, &text, 8);
}

// First word of the value of `id`.
inline uint64_t ValueSeed(uint32_t id) { return base::Mix(id + payload_internal::kStep); }

inline void WriteValue(uint32_t id, char* out, uint32_t value_bytes) {
  uint64_t word = ValueSeed(id);
  uint32_t at = 0;
  for (; at + 8 <= value_bytes; at += 8, word += payload_internal::kStep)
    std::memcpy(out + at, &word, 8);
  if (at < value_bytes) std::memcpy(out + at, &word, value_bytes - at);
}

// Does every byte at `value` belong to `id`?
inline bool ValueMatches(uint32_t id, const char* value, uint32_t value_bytes) {
  uint64_t word = ValueSeed(id);
  uint64_t differing = 0;
  uint32_t at = 0;
  for (; at + 8 <= value_bytes; at += 8, word += payload_internal::kStep) {
    uint64_t got;
    std::memcpy(&got, value + at, 8);
    differing |= got ^ word;
  }
  if (at < value_bytes && std::memcmp(value + at, &word, value_bytes - at) != 0) return false;
  return differing == 0;
}

static_assert(std::endian::native == std::endian::little, "the key's letters are byte-swapped");

}  // namespace weft::bench
