// processor/mirror_places.h: which segments of the log have memory on a device: as many as fit, the
// least recently used going first.
//
// Rounds    Age is told which segments were asked for since the last time. Each segment keeps what
//           it was told in the last 32 rounds, the last in the highest bit; read as numbers, they
//           order segments by the recency of their use.
// Claims    what a segment that needs memory may take from others is said by its claim. What was
//           asked for in two rounds running takes the place of what was not in kRestRounds, so
//           where all are used alike nothing moves (in a round, mirror_log.h, each is), and a
//           single use moves nothing.
// Runs      of neighbouring segments, for a large object, go by the first one's number. They have
//           memory all or none.
// Cost      Age: a pass over all segments that were ever begun. Hold: next to nothing where there
//           is room or nobody may be sent away; where those whom Age found are used up, a pass.
//
// Threads   one call at a time. Source: the aging of pages in old pagers (counters shifted each
//           round), which is least-recently-used to within a round.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "processor/mirror_memory.h"

namespace weft::processor {

class MirrorPlaces {
 public:
  // Who may be sent away for a segment that needs memory.
  enum class Claim : uint8_t {
    kIdle,    // what counts no longer
    kWanted,  // also what was not used for kRestRounds rounds
    kNew,     // also anything that is not growing, the least recently used first
  };
  static constexpr uint32_t kRestRounds = 4;

  // `memory` must outlive it.
  explicit MirrorPlaces(MirrorMemory* memory) : memory_(memory) {}

  // No segment of so many has memory. REQUIRES: none has
  void Open(uint32_t segments);

  // What the log says of the segment or run.
  void Note(uint32_t first, bool in_use, bool growing);
  // Segments [first, first + count) are filled anew, together. Whoever had any of them for
  // something else lets go; the run of these itself keeps its memory. It counts as just used.
  Status Begin(uint32_t first, uint32_t count);
  bool Holds(uint32_t first) const { return places_[first].held != 0; }
  // Gives the run memory, of which nothing is resident. False: it is to go on without.
  // REQUIRES: it has none; Begin was its last call of [first, first + count)
  Result<bool> Hold(uint32_t first, uint32_t count, Claim claim);

  // What counts no longer, as Note was told, gives its memory back, until that of so many segments
  // is free, or there is no more.
  Status DropIdle(uint32_t enough);

  // A round has ended: `uses` are the segments' LogRef::uses. False: nothing was used, which makes
  // no round.
  bool Age(std::span<const uint32_t> uses);
  // How recently it was used, in some order; 0: not in 32 rounds.
  uint32_t recency(uint32_t first) const { return places_[first].used; }
  // Was used in the last two rounds.
  bool IsWanted(uint32_t first) const { return places_[first].used >> 30 == 3; }

  // The first segments of all that ever began.
  std::span<const uint32_t> known() const { return known_; }
  uint32_t held() const { return held_; }            // segments with memory
  uint32_t limit() const { return limit_; }          // how many may have it, as far as is known
  uint64_t sent_away() const { return sent_away_; }  // segments, so far

 private:
  struct Place {
    uint32_t owner = 0;  // first of the run for which the segment has memory; 0: it has none
    // Of a run, at its first segment.
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

  // The lower, the sooner it is sent away.
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
  uint32_t limit_ = 0;  // below SegmentsMax where memory was refused, until the next round
  // The lowest in rank, the next one last; ranks are those of when it was made.
  std::vector<Victim> victims_;
  uint64_t sent_away_ = 0;
};

}  // namespace weft::processor
