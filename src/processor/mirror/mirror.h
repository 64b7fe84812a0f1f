// processor/mirror/mirror.h: keeps a copy of a store's index and object log up to date in a
// device's own memory, between the batches that it runs there.
//
// The host's store is the truth; the mirror only follows. A device whose memory is lost has lost
// nothing, and a key that the mirror lacks, for whatever reason, is looked up by the host.
//
// Index     whoever changes a bucket says so first: a session in its ring; anybody else, and a
//           session whose ring is full, by a mark (MarkBucket in task/index.h). Advance copies the
//           buckets that were named, a line each. A named bucket is about to change, and may not
//           have changed yet. Buckets of a ring whose change was not done when Advance looked are
//           copied again by the next one (cache/change_rings.h, which has the proof). Marked
//           buckets are copied by each one until all sessions that were changing the index when the
//           mark was taken have ended (cache/session.h). So after an Advance that returns true the
//           mirror has every change that anybody had seen before it began.
// Behind    if copying all changes takes long, an Advance copies kLinesAtOnce and returns false;
//           the next ones go on with the rest.
// Log       segments are copied as they fill: the bytes reserved before some Advance, once every
//           batch of that time has ended, because then they are written. `resident` says how far
//           each segment is there; the host looks up objects behind that, mostly new ones. A
//           segment that is filled anew is not resident from the Advance that finds it so; no word
//           of its new objects comes before that. mirror_log.h.
// Memory    if the device has less than the log takes, it holds the segments that are used. The
//           tasks note each segment that they are asked about (LogRef::uses), there or not. The
//           least recently used make room, bit by bit, for wanted and new ones. A segment is set to
//           nothing resident before it goes. mirror_places.h.
// Growth    while the index grows there is no mirror: Advance returns false and the host does all
//           the work. The new table is copied afresh, a part each Advance. So it is after an error.
// Cost      Advance reads a bit for 32 KiB of index (take_marks.h), and a line of each ring that is
//           written to; then the changes.
//
// Threads   one call at a time. Source: ours; Mega-KV and MemcachedGPU have the index only on the
//           device (docs/references.md, sections 1 and 2).
#pragma once

#include <cstdint>
#include <vector>

#include "cache/store.h"
#include "processor/mirror/mirror_log.h"
#include "processor/mirror/mirror_memory.h"

namespace weft::processor {

class Mirror {
 public:
  // Store and memory must outlive it.
  Mirror(cache::Store* store, MirrorMemory* memory, RoundClocks clocks = {})
      : store_(store), memory_(memory), log_(store, memory, clocks) {}
  ~Mirror();

  // Prepares marks and watching. kNoMemory.
  Status Open();

  // Follows the store up to now. True: a job with these views may run on the mirror, by Replace.
  // False: not now. An error: the memory is lost, or full.
  // REQUIRES: the caller, or somebody it waits for, is in an epoch and took the views in it
  Result<bool> Advance(const task::IndexRef& index, const task::LogRef& log);

  // Whether the last Advance returned false because there was more to copy than a job should wait
  // for. Unlike while the index grows, further Advances are enough, once the sessions that were
  // changing the index are done with it.
  bool is_behind() const { return is_behind_; }
  // Bytes of objects that were left to further ones, too. A job may run all the same: it finds
  // fewer objects, and waits for a part of the rest.
  uint64_t bytes_behind() const { return log_.bytes_behind(); }

  // Puts the mirror's views in place of the store's. REQUIRES: Advance has just returned true
  void Replace(task::QueryJob* job);

  static constexpr uint64_t kLinesAtOnce = 131072;  // 8 MiB

  struct Counters {
    uint64_t advances = 0;
    uint64_t index_lines = 0;         // copied, including repeats
    uint64_t log_bytes = 0;           // copied
    uint64_t segments_held = 0;       // now
    uint64_t segments_sent_away = 0;  // to make room for others
  };
  Counters counters() const;

 private:
  // Marked buckets, which are copied until `stamp` has passed.
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
  uint64_t begun_stamp_ = 0;   // once passed, all that change it say so
  bool begun_ = false;         // it has passed: copying
  uint64_t first_copied_ = 0;  // of the first copy: buckets [0, first_copied_) are there
  bool has_marks_left_ = false;
  bool is_behind_ = false;
  std::vector<Marked> marked_;
  std::vector<uint64_t> numbers_;  // of buckets to copy; those before copied_ are done
  size_t copied_ = 0;

  MirrorLog log_;
  Counters counters_;
};

}  // namespace weft::processor
