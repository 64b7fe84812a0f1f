// base/hash.h: the 64-bit hash of bytes without a secret, for where no client picks the
// bytes. Every bit of it is good: XXH3 (xxHash library). The cache's index uses base/keyed_hash.h.
//
// Threads: pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weft::base {

// Hash of `bytes` bytes at `data`: XXH3_64bits. Host only: devices are handed hashes.
inline uint64_t HashBytes(const void* data, size_t bytes) {
  // The part of it for so few bytes, which the compiler does not inline by itself: for a short key
  // the call takes as long as the hash.
  if (bytes <= 16)
    return XXH3_len_0to16_64b(static_cast<const uint8_t*>(data), bytes, XXH3_kSecret, 0);
  return XXH3_64bits(data, bytes);
}
inline uint64_t HashBytes(std::string_view text) { return HashBytes(text.data(), text.size()); }

}  // namespace weft::base
