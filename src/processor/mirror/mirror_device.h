// processor/mirror/mirror_device.h: a device with memory of its own, as MirroredProcessor drives
// it: it keeps a mirror's memory and runs jobs there.
//
// Order     what is written to the memory before a group is launched is there for its jobs. What is
//           written later an earlier group may see, or some of it, as if another thread changed the
//           index meanwhile; but bytes of the log only when it was told that they are there, and
//           never a segment's next objects in the place of those that it was told of.
// Threads   one call at a time, of any thread.
// Errors    Status; after kDeviceLost nothing that was under way counts.
#pragma once

#include "processor/mirror/mirror_memory.h"
#include "processor/processor.h"

namespace weft::processor {

class MirrorDevice : public MirrorMemory {
 public:
  static constexpr uint32_t kGroupJobsMax = 16;

  virtual const Description& description() const = 0;
  // Memory for the columns of its jobs. It must go before the device does.
  virtual cache::PageSource* pages() = 0;

  // How many groups may be under way.
  virtual uint32_t groups_max() const = 0;
  // Begins jobs, or parts of some, that have the same tasks, with this memory's views in them. The
  // entries of their queries in the columns are the device's until the group was taken. Each counts
  // what it gathers from 0, wherever: nobody looks at values_used.
  // REQUIRES: 1 to kGroupJobsMax; `begin` is a multiple of kSetQueries and values_begin of 4; fewer
  // than groups_max() groups under way
  virtual Status Launch(std::span<const task::QueryJob> jobs) = 0;
  // Whether the oldest group is done. REQUIRES: one is under way
  virtual bool OldestIsDone() = 0;
  // Waits for the oldest group, which is under way no more. REQUIRES: one is
  virtual Status TakeOldest() = 0;
};

}  // namespace weft::processor
