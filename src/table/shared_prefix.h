// table/shared_prefix.h: how many bytes two keys begin with in common.
//
// Threads   pure.
// Cost      eight bytes a step.
#pragma once

#include <bit>
#include <cstddef>

#include "base/coding.h"

namespace weft::table {

// REQUIRES: both have `limit` bytes
inline size_t SharedPrefix(const char* a, const char* b, size_t limit) {
  size_t at = 0;
  for (; at + 8 <= limit; at += 8) {
    const uint64_t difference = base::DecodeFixed64(a + at) ^ base::DecodeFixed64(b + at);
    if (difference != 0) return at + static_cast<size_t>(std::countr_zero(difference)) / 8;
  }
  while (at < limit && a[at] == b[at]) at++;
  return at;
}

}  // namespace weft::table
