// processor/cuda/pinned_ring.h: pinned memory in parts that go round: the host fills one while a
// stream reads those before it.
//
// Threads   one at a time.
#pragma once

#include <array>

#include "processor/cuda/device_memory.h"

namespace weft::processor {

class PinnedRing {
 public:
  // kNoMemory.
  static Result<PinnedRing> Create(size_t part_bytes);

  // Waits until the part in turn has been read, and may be filled.
  Status Begin() const { return read_[at_].Wait(); }
  // The part in turn.
  uint8_t* part() const { return static_cast<uint8_t*>(memory_.data()) + at_ * part_bytes_; }
  // What `stream` was given up to now reads the part in turn. The next one is in turn then.
  Status End(CudaStream stream);

 private:
  static constexpr size_t kParts = 4;

  PinnedBuffer memory_;
  size_t part_bytes_ = 0;
  std::array<Event, kParts> read_;
  size_t at_ = 0;
};

}  // namespace weft::processor
