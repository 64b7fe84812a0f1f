// sim/trace/table_image.h: the contents of an index's buckets, as a unit in the memory controller
// would read them: for each slot, where its object is and how long.
//
// Units     bytes; addresses as in record.h.
// Threads   one owner.
// Source    the simulator's specification, sections 3.4 and 3.5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/trace/record.h"

namespace weft::sim {

struct TableSlot {
  uint64_t addr = 0;   // of the object, or of the overflow bucket
  uint32_t bytes = 0;  // of the whole object; 0: the slot has none
  uint16_t tag = 0;
  bool is_chain = false;

  bool has_object() const { return bytes != 0 && !is_chain; }
  bool operator==(const TableSlot&) const = default;
};
static_assert(sizeof(TableSlot) == 16);

class TableImage {
 public:
  TableImage() = default;
  TableImage(uint64_t buckets, int slots_per_bucket)
      : slots_per_bucket_(static_cast<size_t>(slots_per_bucket)),
        slots_(buckets * slots_per_bucket_) {}

  uint64_t buckets() const {
    return slots_per_bucket_ == 0 ? 0 : slots_.size() / slots_per_bucket_;
  }
  int slots_per_bucket() const { return static_cast<int>(slots_per_bucket_); }
  // REQUIRES: bucket < buckets(), slot < slots_per_bucket()
  TableSlot& At(uint64_t bucket, int slot) {
    return slots_[bucket * slots_per_bucket_ + static_cast<size_t>(slot)];
  }
  const TableSlot& At(uint64_t bucket, int slot) const {
    return slots_[bucket * slots_per_bucket_ + static_cast<size_t>(slot)];
  }
  // Performs a kSlot or kChain record; others change nothing.
  // REQUIRES: its bucket and slot are there
  void Apply(const Record& record);

  bool operator==(const TableImage&) const = default;

 private:
  size_t slots_per_bucket_ = 0;
  std::vector<TableSlot> slots_;
};

}  // namespace weft::sim
