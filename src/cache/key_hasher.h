// cache/key_hasher.h: the hash the store uses for keys, which tests may weaken.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/keyed_hash.h"

namespace weft::cache {

class KeyHasher {
 public:
  // `bits` below 64 leaves so many distinct hashes, spread over tags and buckets alike.
  KeyHasher(const base::KeyedHash& hash, uint32_t bits)
      : hash_(hash), mask_(bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1) {}

  uint64_t operator()(std::string_view key) const {
    const uint64_t hash = hash_(key);
    return __builtin_expect(mask_ == UINT64_MAX, 1) ? hash : (hash & mask_) * 0x9e3779b97f4a7c15u;
  }

 private:
  base::KeyedHash hash_;
  uint64_t mask_;
};

}  // namespace weft::cache
