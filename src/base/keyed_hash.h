// base/keyed_hash.h: the 64-bit hash of a key that clients choose, under a secret: nobody who does
// not know the secret can make keys with the same hash.
//
// The sum of the key's words, each times a random number of 128 bits, and of its length times
// another; its upper half is the hash. Over all secrets, the hashes of any two keys are provably
// uniform and independent. So they share a hash, or a bucket and a tag, as seldom as if drawn by
// lot. The last step mixes the bits: without it, keys that count up would stand in a lattice.
//
// Units     bytes. Of a longer key than kBytesMax, the first kBytesMax and the length count.
// Threads   constant after construction: any.
// Errors    Random reports why the system has no random numbers.
// Cost      two multiplications for each 8 bytes, independent of each other.
// Source    D. Lemire, O. Kaser, "Strongly universal string hashing is fast" (2014): MULTILINEAR.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "weft/status.h"

namespace weft::base {

class KeyedHash {
 public:
  static constexpr size_t kBytesMax = 256;

  // Under a secret of the system's random numbers.
  static Result<KeyedHash> Random();
  // The same hash for the same seed: for tests and measurements. Anybody may foresee it.
  static KeyedHash FromSeed(uint64_t seed);

  uint64_t operator()(std::string_view key) const {
    const auto* at = reinterpret_cast<const uint8_t*>(key.data());
    const size_t bytes = std::min(key.size(), kBytesMax);
    Wide sum = secret_.start + secret_.length * key.size();
    const Wide* factor = secret_.word;
    if (bytes >= 8) {
      // The last word overlaps the one before it: for keys of one length no two of them look alike.
      const uint8_t* const last = at + bytes - 8;
      sum += *factor++ * Load<uint64_t>(last);
      for (; at < last; at += 8) sum += *factor++ * Load<uint64_t>(at);
    } else if (bytes >= 4) {
      const uint64_t high = Load<uint32_t>(at + bytes - 4);
      sum += *factor * (high << 32 | Load<uint32_t>(at));
    } else if (bytes != 0) {
      sum += *factor * (uint64_t{at[bytes - 1]} << 16 | uint64_t{at[bytes / 2]} << 8 | at[0]);
    }
    return Mixed(static_cast<uint64_t>(sum >> 64));
  }

 private:
  __extension__ using Wide = unsigned __int128;

  struct Secret {
    Wide start, length;
    Wide word[kBytesMax / 8];
  };

  KeyedHash() = default;

  template <typename Word>
  static Word Load(const uint8_t* at) {
    Word word;
    std::memcpy(&word, at, sizeof word);
    return word;
  }

  // One to one.
  static uint64_t Mixed(uint64_t hash) {
    hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u;
    return hash ^ hash >> 32;
  }

  Secret secret_;
};

}  // namespace weft::base
