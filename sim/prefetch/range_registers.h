// sim/prefetch/range_registers.h: the registers by which a unit knows the store's memory: the
// index's range (the paper's IRR), and the objects', set by the system once.
//
// The paper makes the index contiguous, so that a comparison finds its buckets, but the pointers in
// them are virtual. New here: objects lie in a pinned, contiguous log. A third register pair has
// its base and limit, and the distance of its physical addresses from the virtual ones.
//
// Units     bytes; limits are exclusive.
// Threads   values.
// Source    paper 004, section 3.2; the simulator's specification, sections 1.1 and 1.3.
#pragma once

#include <cstdint>

#include "sim/prefetch/lines.h"
#include "sim/trace/trace_source.h"

namespace weft::sim {

class IndexRange {
 public:
  explicit IndexRange(const StoreShape& shape)
      : start_(shape.table_base), end_(shape.table_limit), overflow_end_(shape.log_base) {}

  bool Contains(uint64_t addr) const { return start_ <= addr && addr < end_; }
  // REQUIRES: Contains(addr)
  uint64_t BucketOf(uint64_t addr) const { return (addr - start_) / kLineBytes; }
  // An overflow bucket's. The hardware has no such register: this counts what triggers nothing.
  bool IsOverflow(uint64_t addr) const { return end_ <= addr && addr < overflow_end_; }

 private:
  const uint64_t start_;
  const uint64_t end_;
  const uint64_t overflow_end_;
};

class LogRange {
 public:
  // `offset` is added to a pointer for its physical address; traces have physical ones.
  explicit LogRange(const StoreShape& shape, uint64_t offset = 0)
      : base_(shape.log_base), limit_(shape.log_limit), offset_(offset) {}

  bool Contains(uint64_t pointer) const { return base_ <= pointer && pointer < limit_; }
  // The `count` lines from the pointer's on, without those past the limit.
  // REQUIRES: Contains(pointer)
  LineSpan Lines(uint64_t pointer, uint64_t count) const {
    const uint64_t last = LineOf(limit_ - 1 + offset_);
    const uint64_t first = LineOf(pointer + offset_);
    return {first, first + count - 1 <= last ? count : last - first + 1};
  }

 private:
  const uint64_t base_;
  const uint64_t limit_;
  const uint64_t offset_;
};

}  // namespace weft::sim
