// sim/prefetch/lines.h: which lines an object lies in.
//
// Units     bytes.
// Threads   values.
// Source    the simulator's specification, section 3.6.
#pragma once

#include <cstdint>

#include "sim/dram/organization.h"

namespace weft::sim {

inline constexpr uint64_t LineOf(uint64_t addr) { return addr / kLineBytes; }

struct LineSpan {
  uint64_t first = 0;
  uint64_t count = 0;

  bool operator==(const LineSpan&) const = default;
};

// How many lines `bytes` bytes from `addr` on touch.
// REQUIRES: bytes > 0
inline constexpr uint64_t LineCount(uint64_t addr, uint64_t bytes) {
  return (addr % kLineBytes + bytes - 1) / kLineBytes + 1;
}

}  // namespace weft::sim
