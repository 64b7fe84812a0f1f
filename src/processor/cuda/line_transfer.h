// processor/cuda/line_transfer.h: lines of the host's index on their way to the device's: gathered
// in pinned memory with their numbers, put in their places by one kernel.
//
// Narrower than Transfer (transfer.h), and faster for it: a line is copied once, and nothing is
// kept of it but its number.
//
// Order     what one call copies may come in any order; of several calls, one after the other.
// Threads   one at a time.
#pragma once

#include <span>

#include "processor/cuda/pinned_ring.h"
#include "task/bucket.h"

namespace weft::processor {

class LineTransfer {
 public:
  static Result<LineTransfer> Create();

  // Takes bucket n of `from`, while others change it, and enqueues its way to bucket n of `to`, for
  // each n of `numbers`.
  Status Copy(const task::Bucket* from, std::span<const uint64_t> numbers, task::Bucket* to,
              CudaStream stream);

 private:
  static constexpr size_t kPartLines = 16384;
  static constexpr size_t kPartBytes = kPartLines * (sizeof(task::Bucket) + sizeof(uint64_t));

  PinnedRing ring_;
};

}  // namespace weft::processor
