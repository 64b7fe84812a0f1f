// cache/emptying.h: the emptying of one victim, which can be carried on piece by piece.
//
// A victim is emptied object by object and retired whole. First its objects that have an entry are
// collected (its residents), then each is either carried forward (copied to an open segment, its
// entry swung to the copy) or its entry is removed. A segment of small objects has tens of
// thousands, so an emptying can be left at any object and be carried on later, by any session. In
// between the victim is nobody else's, its bytes stay, and its objects may be read, replaced,
// deleted and flushed as all others: each one's entry is looked up again when its turn has come.
//
// Use       Emptying emptying(victim);
//           while (emptying.state() == Emptying::State::kUnderWay) emptying.Advance(session, 64);
//           Then the log is told: ObjectLog::Retire or ObjectLog::Renew.
// Threads   one at a time.
// Cost      some 100 ns a look, where the index is not in the CPU's cache. 32 bytes of memory a
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
    kEmptied,  // the segment holds nothing any more: it is to be retired
    kStays,    // something lives in it still: it is to be renewed
  };

  // `victim`: as ObjectLog::PickVictim gave it out.
  explicit Emptying(const Victim& victim);

  const Victim& victim() const { return victim_; }
  State state() const { return state_; }
  // Units of the victim that a cleaning has copied so far, because they live.
  uint64_t cleaned_units() const { return cleaned_units_; }

  // Looks at up to `objects` objects more, each of which is looked at twice in all: when it is
  // collected, and when it goes or is carried. Returns how many it were: fewer only where the
  // emptying has come to its end. The session enters an epoch every few objects, so that what
  // others free meanwhile is memory again.
  // REQUIRES: `session` is outside, state() is kUnderWay
  uint64_t Advance(Session& session, uint64_t objects);

  // An object of the victim that had an entry when it was collected.
  struct Resident {
    uint64_t location;
    uint64_t hash;
    uint64_t word;
    uint32_t units;
  };
  // What residents are judged by.
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
  bool ClearByCleaning(Session& session, Resident* resident);
  // Those that are still to be cleared.
  std::span<const Resident> Left() const { return std::span(residents_).subspan(next_); }

  const Victim victim_;
  State state_ = State::kUnderWay;
  Stage stage_ = Stage::kCollect;
  uint64_t collected_units_ = 0;  // of the segment, from its beginning
  uint64_t cleaned_units_ = 0;
  std::vector<Resident> residents_;
  size_t next_ = 0;                 // of the residents
  uint64_t carried_units_max_ = 0;  // that an eviction may still carry
  Measure measure_;
  uint32_t least_worth_ = 0;  // that is carried
  uint64_t least_units_ = 0;  // of it, that may still be
};

// How many objects a batch looks at that stored what takes as much room as `writes` of those that
// lie in the log, so that freeing keeps up with storing.
// `ready` of `wanted` segments are free or will be when their last readers have left: the fewer,
// the more it looks at. REQUIRES: ready < wanted
uint64_t ObjectsToEmpty(uint64_t writes, uint32_t ready, uint32_t wanted);

}  // namespace weft::cache
