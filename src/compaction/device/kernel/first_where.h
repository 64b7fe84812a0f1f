// compaction/device/kernel/first_where.h: the binary search of the kernels.
//
// Threads   pure.
#pragma once

#include "base/host_device.h"

namespace weft::compaction::device {

// The first number of [low, high) that `holds`, high where none does. REQUIRES: of those that do
// all behind them do
template <typename Predicate>
WEFT_HOST_DEVICE inline uint32_t FirstWhere(uint32_t low, uint32_t high, const Predicate& holds) {
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace weft::compaction::device
