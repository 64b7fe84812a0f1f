// processor/mirror/mirror_places.h: which segments of the log have memory on a device: as many as
// fit, the least recently used going first.
//
// Rounds    Age receives which segments were asked for since the last time. Each segment keeps that
//           for the last 32 rounds, the last in the highest bit. Read as numbers, these order
//           segments by the recency of their use.
// Claims    a segment's claim says what it may take from others when it needs memory. A segment
//           asked for in two rounds running replaces one that was not in kRestRounds. So where all
//           are used alike nothing moves (each is used in each round, mirror_log.h), and a single
//           use moves nothing.
// Runs      of neighbouring segments, for a large object, go by the first one's number. All have
//           memory, or none.
// Cost      Age: a pass over all segments that were ever begun. Hold: next to nothing if there is
//           room or nobody may be sent away; a pass if the victims that Age found are used up.
//
// Threads   one call at a time. Source: the aging of pages in old pagers (counters shifted each
//           round), which is least recently used to within a round.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "processor/mirror/mirror_memory.h"

namespace weft::processor {

class MirrorPlaces {
 public:
  // Which segments may be sent away for one that needs memory.
  enum class Claim : uint8_t {
    kIdle,    // those that count no longer
    kWanted,  // also those unused for kRestRounds rounds
    kNew,     // also any that are not growing, the least recently used first
  };
  static constexpr uint32_t kRestRounds = 4;

  // `memory` must outlive it.
  explicit MirrorPlaces(MirrorMemory* memory) : memory_(memory) {}

  // No segment of the log has memory. REQUIRES: none has
  void Open(uint32_t segments);

  // The log's state of the segment or run.
  void Note(uint32_t first, bool in_use, bool growing);
  // Segments [first, first + count) are filled anew, together. Any other run that had some of them
  // lets go; this run itself keeps its memory. It counts as just used.
  Status Begin(uint32_t first, uint32_t count);
  bool Holds(uint32_t first) const { return places_[first].held != 0; }
  // Gives the run memory, of which nothing is resident. False: it must go on without.
  // REQUIRES: it has none; Begin was its last call of [first, first + count)
  Result<bool> Hold(uint32_t first, uint32_t count, Claim claim);

  // Segments that count no longer, by Note, give their memory back, until that of `enough` segments
  // is free, or there are no more.
  Status DropIdle(uint32_t enough);

  // A round has ended: `uses` are the segments' LogRef::uses. False: nothing was used, so it is no
  // round.
  bool Age(std::span<const uint32_t> uses);
  // How recently it was used, in some order; 0: not in 32 rounds.
  uint32_t recency(uint32_t first) const { return places_[first].used; }
  // It was used in each of the last two rounds.
  bool IsWanted(uint32_t first) const { return places_[first].used >> 30 == 3; }

  // The first segments of all runs that ever began.
  std::span<const uint32_t> known() const { return known_; }
  uint32_t held() const { return held_; }            // segments with memory
  uint32_t limit() const { return limit_; }          // how many may have it, as far as known
  uint64_t sent_away() const { return sent_away_; }  // segments, so far

 private:
  struct Place {
    uint32_t owner = 0;  // first of the run for which the segment has memory; 0: it has none
    // For a run, at its first segment.
    uint32_t held = 0;      // segments that have memory for it: all or none
    uint32_t used = 0;      // bit 31: in the last round, 30: in that before, ...
    uint32_t use_seen = 0;  // LogRef::uses at the end of the last round
    bool known = false;
    bool in_use = false;
    bool growing = false;
  };
  struct Victim {
    uint64_t rank;
    uint32_t first;
  };

  // The lowest is sent away first.
  uint64_t RankOf(uint32_t first) const {
    return places_[first].in_use ? uint64_t{places_[first].used} + 1 : 0;
  }
  static uint64_t RankEnd(Claim claim);
  // All or none.
  Status HoldAll(uint32_t first, uint32_t count);
  Status SendAway(uint32_t first);
  void FindVictims();
  // The next victim below `end` in front of victims_[*at]; 0: there is none.
  uint32_t NextVictim(size_t* at, uint64_t end) const;
  Result<bool> MakeRoom(uint32_t count, Claim claim);

  MirrorMemory* const memory_;
  std::vector<Place> places_;
  std::vector<uint32_t> known_;
  uint32_t held_ = 0;
  uint32_t limit_ = 0;  // below SegmentsMax after memory was refused, until the next round
  // Those of lowest rank, the next one last; ranks are as of when the list was made.
  std::vector<Victim> victims_;
  uint64_t sent_away_ = 0;
};

}  // namespace weft::processor
