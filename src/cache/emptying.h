// cache/emptying.h: the emptying of one victim, which can be done piece by piece.
//
// A victim is emptied object by object and retired whole. First, its objects that have an entry are
// collected: its residents. Then each is carried forward (copied to an open segment, its entry
// swung to the copy), or its entry is removed. A segment may hold tens of thousands of small
// objects, so an emptying can stop at any object; any session can go on with it. Meanwhile nobody
// else touches the victim and its bytes stay. Its objects may be read, replaced, deleted and
// flushed like any other, so each entry is looked up again when its turn comes.
//
// Use       Emptying emptying(victim);
//           while (emptying.state() == Emptying::State::kUnderWay) emptying.Advance(session, 64);
//           Then call ObjectLog::Retire or ObjectLog::Renew.
// Threads   one at a time.
// Cost      some 100 ns a look, if the index is not in the CPU's cache. 32 bytes of memory a
//           resident.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cache/object_log.h"
#include "cache/session.h"

namespace weft::cache {

class Ghosts;

class Emptying {
 public:
  enum class State : uint8_t {
    kUnderWay,
    kEmptied,  // the segment holds nothing any more: retire it
    kStays,    // something still lives in it: renew it
  };

  // `victim`: as returned by ObjectLog::PickVictim.
  explicit Emptying(const Victim& victim);

  const Victim& victim() const { return victim_; }
  State state() const { return state_; }
  // Units of live objects that a cleaning has copied out of the victim so far.
  uint64_t cleaned_units() const { return cleaned_units_; }

  // Looks at up to `objects` objects more. Each is looked at twice in all: when it is collected,
  // and when it goes or is carried. Returns the number of looks: fewer only if the emptying has
  // come to its end. The session enters an epoch anew every few objects, so that what others free
  // meanwhile becomes memory again.
  // REQUIRES: `session` is outside, state() is kUnderWay
  uint64_t Advance(Session& session, uint64_t objects);

  // An object of the victim that had an entry when it was collected.
  struct Resident {
    uint64_t location;
    uint64_t hash;
    uint64_t word;
    uint32_t units;
  };
  // The measure that residents are judged by.
  struct Measure {
    uint64_t mean_units = 0;
    bool one_read_counts = false;  // Ghosts::OneReadCounts
    const Ghosts* ghosts = nullptr;
  };

 private:
  enum class Stage : uint8_t { kCollect, kDrop, kClean, kEvict };

  uint32_t Collect(Session& session, uint32_t objects);
  uint32_t Clear(Session& session, uint32_t objects);
  void BeginToClear(Session& session);
  void BeginToEvict(Session& session);
  bool KeepRun(Session& session);
  void ClearByEviction(Session& session, Resident* resident);
  bool ClearByCleaning(Session& session, const Resident& resident);
  // Residents that are still to be cleared.
  std::span<const Resident> Left() const { return std::span(residents_).subspan(next_); }

  const Victim victim_;
  State state_ = State::kUnderWay;
  Stage stage_ = Stage::kCollect;
  uint64_t collected_units_ = 0;  // collected so far, from the segment's start
  uint64_t cleaned_units_ = 0;
  std::vector<Resident> residents_;
  size_t next_ = 0;                 // of the residents
  uint64_t carried_units_max_ = 0;  // that this eviction may still carry
  Measure measure_;
  uint32_t least_worth_ = 0;  // the least worth that is carried
  uint64_t least_units_ = 0;  // units of just that worth that may still be carried
};

// How many objects a batch looks at so that freeing keeps up with storing. It stored as much as
// `writes` objects of the mean size in the log. `ready` of `wanted` segments are free, or will be
// when their last readers have left: the fewer, the more it looks at. REQUIRES: ready < wanted
uint64_t ObjectsToEmpty(uint64_t writes, uint32_t ready, uint32_t wanted);

}  // namespace weft::cache
