// lsm/snapshot_list.h: the snapshots of a store that are not released yet.
//
// Threads   guarded by the store's mutex.
// Cost      New and Delete: constant time, for sequence numbers only grow.
#pragma once

#include <list>
#include <memory>

#include "base/check.h"
#include "table/internal_key.h"
#include "weft/db.h"

namespace weft::lsm {

class SnapshotList {
 public:
  bool empty() const { return snapshots_.empty(); }
  // REQUIRES: !empty()
  table::SequenceNumber oldest() const { return snapshots_.front().sequence(); }

  // REQUIRES: sequence is not below that of any snapshot so far
  const Snapshot* New(table::SequenceNumber sequence) {
    WEFT_DCHECK(snapshots_.empty() || snapshots_.back().sequence() <= sequence);
    snapshots_.emplace_back(sequence);
    snapshots_.back().here = std::prev(snapshots_.end());
    return &snapshots_.back();
  }
  // REQUIRES: New gave it, and it was not deleted
  void Delete(const Snapshot* snapshot) {
    snapshots_.erase(static_cast<const Entry*>(snapshot)->here);
  }

 private:
  struct Entry final : Snapshot {
    explicit Entry(table::SequenceNumber its_sequence) : number(its_sequence) {}
    uint64_t sequence() const override { return number; }
    const table::SequenceNumber number;
    std::list<Entry>::iterator here;
  };
  std::list<Entry> snapshots_;  // oldest first
};

}  // namespace weft::lsm
