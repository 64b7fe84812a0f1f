// processor/cuda/line_transfer.h: lines of the host's index on their way to the device's: gathered
// in pinned memory with their numbers, put in their places by one kernel.
//
// Narrower than Transfer (transfer.h), and faster for it: a line is copied once, and nothing is
// kept of it but its number.
//
// Order     lines of one Flush may come in any order; of several, one after the other.
// Threads   one at a time.
#pragma once

#include <span>

#include "processor/cuda/pinned_ring.h"
#include "task/bucket.h"

namespace weft::processor {

class LineTransfer {
 public:
  static Result<LineTransfer> Create();

  // Nothing was gathered since the last Flush.
  bool is_empty() const { return count_ == 0; }
  // Lines that may be gathered before the next Flush.
  size_t room() const { return kPartLines - count_; }
  // Takes bucket n of `from`, while others change it, for each n of `numbers`.
  // REQUIRES: no more than room()
  Status Gather(const task::Bucket* from, std::span<const uint64_t> numbers);
  // Enqueues the way of what was gathered to the buckets of the same numbers of `to`.
  Status Flush(task::Bucket* to, CudaStream stream);

 private:
  static constexpr size_t kPartLines = 16384;
  static constexpr size_t kPartBytes = kPartLines * (sizeof(task::Bucket) + sizeof(uint64_t));

  task::Bucket* lines() const { return reinterpret_cast<task::Bucket*>(ring_.part()); }
  uint64_t* numbers() const { return reinterpret_cast<uint64_t*>(lines() + kPartLines); }

  PinnedRing ring_;
  size_t count_ = 0;  // of lines in the part in turn
};

}  // namespace weft::processor
