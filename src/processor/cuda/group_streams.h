// processor/cuda/group_streams.h: the streams in which groups of jobs run side by side, and the one
// that changes the data they look at.
//
// While a group waits for the bus, another one searches. A group sees all changes enqueued before
// it. It may or may not see later ones. To a search they look like other threads' changes to a
// table. A key that it misses while its entry moves is looked up again on the host
// (TableJob::mirrored). Changes that groups must not see wait for them (ToReplace): those by which
// bytes that a group may be reading become another object's. Streams wait for each other on the
// device; asking for the next one does not wait.
//
// Threads   one at a time.
// Errors    as base/cuda/cuda_status.h says.
#pragma once

#include <array>

#include "processor/cuda/device_memory.h"

namespace weft::processor {

class GroupStreams {
 public:
  static constexpr uint32_t kGroups = 4;  // under way at once at most

  static Result<GroupStreams> Create();

  // For changes that groups under way may see. Whoever enqueues there asks for it anew.
  CudaStream ToChange();
  // For those that they must not see: these and all later ones wait for the groups.
  Result<CudaStream> ToReplace();
  // For reading words that groups write, whatever they are at the moment.
  CudaStream ToWatch() const { return changes_.get(); }
  // For the next group. REQUIRES: fewer than kGroups are under way
  Result<CudaStream> NextGroup();
  // All work of the next group is enqueued: it is under way.
  Status GroupBegun();

  // REQUIRES: a group is under way
  bool OldestIsDone() const { return groups_[oldest_].done.IsPassed(); }
  // Waits for the oldest group. REQUIRES: one is under way
  Status TakeOldest();
  // Waits for all that was enqueued. Groups stay under way until they are taken.
  Status Settle();

 private:
  struct Group {
    Stream stream;
    Event done;
  };

  uint32_t next() const { return (oldest_ + under_way_) % kGroups; }

  Stream changes_;
  Event changed_;
  bool has_changed_ = false;   // since changed_ was recorded
  bool has_launched_ = false;  // since changes_ has waited for groups
  std::array<Group, kGroups> groups_;
  // Groups that have not waited for the latest change.
  std::array<bool, kGroups> is_behind_{};
  uint32_t oldest_ = 0;
  uint32_t under_way_ = 0;
};

}  // namespace weft::processor
