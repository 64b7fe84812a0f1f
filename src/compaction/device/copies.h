// compaction/device/copies.h: ranges of the host's memory on their way to a device, and back.
//
// Threads   values.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::compaction::device {

// Some that go together lie one behind the other on the device.
struct RangeIn {
  const char* from = nullptr;
  uint64_t bytes = 0;
};

struct RangeOut {
  void* to = nullptr;
  const void* from = nullptr;  // on the device
  uint64_t bytes = 0;
};

// How long whole pieces were on their way.
struct CopyTimes {
  std::atomic<uint64_t> in_ns{0};
  std::atomic<uint64_t> out_ns{0};
};

}  // namespace weft::compaction::device
