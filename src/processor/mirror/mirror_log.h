// processor/mirror/mirror_log.h: the object log's part of a mirror (mirror.h): copies segments as
// they fill, and keeps the used ones in the device's memory.
//
// Copies    bytes of a segment that were reserved before some Follow are copied once every batch of
//           that time has ended, because then they are written. Then they are resident.
// Anew      a segment that is filled anew is set to nothing resident by the Follow that finds it
//           so, before any job. It keeps its memory.
// Memory    MirrorPlaces decides. Segments being filled now, or since the last Follow, have the
//           first claim. Then come those asked for, resident or not, which the tasks note in
//           LogRef::uses. A segment that lost its memory to another and is wanted again is copied
//           again from its start. Objects of segments without memory are not resident.
// All fit   if there is memory for as many segments as may be in use, and a few more. Then all have
//           some, whoever uses them. Those that count no longer give theirs back when none is left.
// Rounds    otherwise, and as long as some segment in use lacks memory: of kUsesPerSegment queries
//           for each segment in use, so that an evenly used one is used in each round. A round
//           lasts at least kRestPerRound times as long as ending it takes. At its end at most a
//           kMovedShare-th of the memory goes from resting segments to wanted ones.
// Cost      Follow looks at segments that are open or not yet copied. It looks at all at the end of
//           a round, and, if all fit but all memory is taken, once for kMovedShare of it.
//
// Threads   one call at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "cache/store.h"
#include "processor/mirror/mirror_places.h"

namespace weft::processor {

// The clocks by which rounds rest: both in nanoseconds.
struct RoundClocks {
  uint64_t (*now_ns)() = base::NowNs;
  uint64_t (*cpu_ns)() = base::ThreadCpuNs;
};

class MirrorLog {
 public:
  static constexpr uint32_t kUsesPerSegment = 32;
  static constexpr uint32_t kMovedShare = 32;
  static constexpr uint32_t kRestPerRound = 32;

  // Store and memory must outlive it.
  MirrorLog(cache::Store* store, MirrorMemory* memory, RoundClocks clocks = {})
      : store_(store), memory_(memory), clocks_(clocks), places_(memory) {}

  // kNoMemory.
  Status Open();
  // Brings the copy up to now. REQUIRES: the caller is in an epoch; the index was copied in it, so
  // that this knows the segment of each word there
  Status Follow(const task::LogRef& log);

  // This many queries are asked with `use_tick`.
  void CountQueries(uint32_t queries) { queries_ += queries; }
  uint32_t use_tick() const { return use_tick_; }
  // If so, nobody needs to know what is used.
  bool everything_fits() const { return has_room_for_all() && !lacks_; }

  uint64_t copied_bytes() const { return copied_bytes_; }
  // Bytes stored that the last Follow left to the next ones. Segments to which a round gave memory
  // do not count: the mirror did without them before.
  uint64_t bytes_behind() const { return bytes_behind_; }
  const MirrorPlaces& places() const { return places_; }

 private:
  struct Segment {
    uint64_t base = 0;            // as last seen: another one means that it is filled anew
    uint32_t copied_units = 0;    // of the part that has memory now
    uint32_t complete_units = 0;  // written once stamp has passed; 0: none is awaited
    uint64_t stamp = 0;
    bool is_moved_in = false;  // by a round, whose copies take their time
  };
  using Watched = cache::ObjectLog::Watched;

  bool has_room_for_all() const {
    const uint64_t most = store_->log().segments_in_use_max();
    return places_.limit() >= std::min<uint64_t>(most + most / 8, segments_.size());
  }
  uint32_t SegmentsOf(const Watched& state) const;
  Result<bool> Hold(const Watched& state, MirrorPlaces::Claim claim);
  Status Begin(const Watched& state);
  Status Copy(const task::LogRef& log, const Watched& state);
  bool RoundIsOver() const;
  Status EndRound();
  std::vector<Watched> LookAtAll();

  cache::Store* const store_;
  MirrorMemory* const memory_;
  const RoundClocks clocks_;
  MirrorPlaces places_;
  std::vector<Segment> segments_;
  std::vector<Watched> watched_;  // have memory, and are open or not yet copied;
  bool begun_ = false;            // the segments of the beginning are known;
  uint64_t budget_ = 0;           // bytes that this Follow may still copy
  uint64_t oldest_ = 0;           // epoch that a batch was still in when this began
  uint64_t copied_bytes_ = 0;
  uint64_t bytes_behind_ = 0;

  std::vector<uint32_t> uses_;
  uint32_t use_tick_ = 1;
  bool lacks_ = false;            // some segment in use went without memory
  uint64_t round_ends_ns_ = 0;    // not earlier
  uint64_t queries_ = 0;          // in this round
  uint64_t segments_in_use_ = 0;  // a run counts as one; roughly
};

}  // namespace weft::processor
