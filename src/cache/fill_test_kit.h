// cache/fill_test_kit.h: stores that fill the places of replaced objects, and values for them.
//
// Threads   any; they share nothing.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "cache/cache_test_kit.h"

namespace weft::cache {

inline std::unique_ptr<Store> OpenFilling(uint64_t mib) {
  CacheOptions options;
  options.memory_bytes = mib << 20;
  return OpenFillingStore(options);
}

// The key's value of a version, which no other key has.
inline std::string Stamped(uint64_t key, uint64_t version, size_t bytes = 40) {
  std::string value = std::to_string(key) + "." + std::to_string(version) + ".";
  value.resize(std::max(bytes, value.size()), static_cast<char>('a' + key % 26));
  return value;
}

}  // namespace weft::cache
