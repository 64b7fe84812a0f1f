// processor/cuda/transfer.h: many small pieces of host memory on their way to as many places of the
// device: gathered in pinned memory, scattered by one kernel.
//
// A copy command for each would cost some microseconds a piece. The kernel reads the pinned memory
// in place, so a large piece comes as fast as the bus is.
//
// Order     pieces of one Flush are copied in any order; of several, one after the other.
// Threads   one at a time.
#pragma once

#include <vector>

#include "processor/cuda/pinned_ring.h"

namespace weft::processor {

// A piece: `bytes` from offset `from` of the pinned memory to `to`.
struct Parcel {
  uint64_t to;
  uint32_t from;
  uint32_t bytes;  // a multiple of 8 at multiples of 8, or 4 at a multiple of 4
};

class Transfer {
 public:
  static Result<Transfer> Create();

  // Takes a copy of `bytes` at `from`, for `to`. Flushes what is full. Sizes as a Parcel's.
  Status Add(void* to, const void* from, uint64_t bytes, CudaStream stream);
  // Nothing was added since the last Flush.
  bool is_empty() const { return parcels_.empty(); }
  // Enqueues the copies of all that was added.
  Status Flush(CudaStream stream);

 private:
  static constexpr uint32_t kPartBytes = 4u << 20;
  static constexpr uint32_t kParcelBytesMax = 2048;

  uint32_t Room() const;

  PinnedRing ring_;
  uint32_t used_ = 0;  // bytes of the part
  std::vector<Parcel> parcels_;
};

}  // namespace weft::processor
