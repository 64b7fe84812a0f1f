// base/bytes_test_kit.h: for tests: bytes in which no two places look alike.
//
// Cost      a draw for eight bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

namespace weft::base {

inline std::string RandomBytes(std::mt19937_64* random, size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
    const uint64_t word = (*random)();
    std::memcpy(text.data() + at, &word, std::min(sizeof word, bytes - at));
  }
  return text;
}

}  // namespace weft::base
