// processor/mirror.h: keeps a copy of a store's index and object log up to date in memory of a
// device's own, between the batches that it runs there.
//
// The host's store is the truth; the mirror only follows. A device whose memory is lost has lost
// nothing, and a key that the mirror lacks, for whatever reason, is looked up by the host.
//
// Index     whoever changes a bucket says so first: a session in its ring, anybody else, and a
//           session whose ring is full, by a mark (MarkBucket in task/index.h). Advance copies the
//           buckets that were named, a line each. What is named is about to change, and need not
//           have changed yet: of a ring, the buckets whose change was not done when Advance looked
//           are copied again by the next one (cache/change_rings.h, which has the proof); those
//           that were marked by each one, until everybody has ended who was changing the index
//           when the mark was taken (cache/session.h). So after an Advance that says true
//           the mirror has every change that anybody had seen before it began.
// Behind    where so much was changed that it takes long to copy, an Advance copies kLinesAtOnce
//           and says false; the next ones go on with that.
// Log       segments are copied as they fill: the bytes that were reserved before some Advance,
//           once every batch of that time has ended, for then they are written. `resident` says
//           how far each segment is there; what lies behind, newly written objects mostly, the
//           host looks up. A segment that is filled anew is not resident from the Advance on that
//           finds it so, and no word of its new objects comes before that. mirror_log.h.
// Memory    where the device has less than the log takes, it has the segments that are used: the
//           tasks note each segment that they are asked about (LogRef::uses), there or not, and the
//           least recently used make room, bit by bit, for those that are wanted and for new ones.
//           What is sent away is set to nothing resident first. mirror_places.h.
// Growth    while the index grows there is no mirror: Advance says false and the host does all. The
//           new table is copied afresh, a part each Advance. So it is after an error.
// Cost      Advance reads a bit for 32 KiB of index (take_marks.h), and a line of each ring that is
//           written to; then what was changed.
//
// Threads   one call at a time. Source: ours; Mega-KV and MemcachedGPU have the index
//           on the device alone (prior-systems.md, sections 1 and 2).
#pragma once

#include <cstdint>
#include <vector>

#include "cache/store.h"
#include "processor/mirror_log.h"
#include "processor/mirror_memory.h"

namespace weft::processor {

class Mirror {
 public:
  // Both must outlive it.
  Mirror(cache::Store* store, MirrorMemory* memory)
      : store_(store), memory_(memory), log_(store, memory) {}
  ~Mirror();

  // Sees to marks and watching. kNoMemory.
  Status Open();

  // Follows the store up to now. True: a job with these views may run on the mirror, by Replace.
  // False: not now. An error: the memory is lost, or full.
  // REQUIRES: the caller, or somebody it waits for, is in an epoch and took the views in it
  Result<bool> Advance(const task::IndexRef& index, const task::LogRef& log);

  // Of the last Advance: it said false for there was more to copy than who waits for it should
  // wait for. Unlike where the index grows, it takes no more than further ones, once those are
  // done with the index who were changing it.
  bool is_behind() const { return is_behind_; }
  // So many bytes of objects were left to further ones, too. A job may run all the same: it finds
  // fewer objects, and waits for a part of the rest.
  uint64_t bytes_behind() const { return log_.bytes_behind(); }

  // The views of the mirror in the place of the store's. REQUIRES: Advance has just said true
  void Replace(task::QueryJob* job);

  static constexpr uint64_t kLinesAtOnce = 131072;  // 8 MiB

  struct Counters {
    uint64_t advances = 0;
    uint64_t index_lines = 0;         // copied, repeats included
    uint64_t log_bytes = 0;           // copied
    uint64_t segments_held = 0;       // now
    uint64_t segments_sent_away = 0;  // to make room for others
  };
  Counters counters() const;

 private:
  // Buckets that were marked, which are copied until `stamp` has passed.
  struct Marked {
    uint64_t stamp;
    std::vector<uint64_t> numbers;
  };

  Status BeginTable(const task::IndexRef& index);
  Status CopyIndex();
  void AddMarked();

  cache::Store* const store_;
  MirrorMemory* const memory_;
  cache::Epochs::Slot* slot_ = nullptr;

  // The table that is mirrored, or will be.
  task::IndexRef source_{};
  uint64_t begun_stamp_ = 0;   // once passed, all who change it say so
  bool begun_ = false;         // it has passed: copying
  uint64_t first_copied_ = 0;  // of the first copy: buckets [0, first_copied_) are there
  bool has_marks_left_ = false;
  bool is_behind_ = false;
  std::vector<Marked> marked_;
  std::vector<uint64_t> numbers_;  // of buckets to copy, those before copied_ no more
  size_t copied_ = 0;

  MirrorLog log_;
  Counters counters_;
};

}  // namespace weft::processor
