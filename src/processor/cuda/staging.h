// processor/cuda/staging.h: pinned host memory that goes round: what the host writes there a stream
// reads, and when it has, the memory is used again.
//
// Threads   one at a time.
#pragma once

#include <array>

#include "processor/cuda/device_memory.h"

namespace weft::processor {

class Staging {
 public:
  static constexpr size_t kPartBytes = 4u << 20;

  static Result<Staging> Create();

  // The next part, of kPartBytes, for the host to write; waits until the stream has read what was
  // there before.
  Result<uint8_t*> Next();
  // What was enqueued up to now reads the part that Next gave last.
  Status Enqueued(CudaStream stream);

 private:
  static constexpr size_t kParts = 4;
  PinnedBuffer memory_;
  std::array<Event, kParts> read_;
  size_t at_ = kParts - 1;
};

}  // namespace weft::processor
