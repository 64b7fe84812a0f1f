// sim/cache/l1_cache.h: a core's private cache, write-back and write-allocate, with its misses
// under way: an access to a line that is on its way joins the miss and asks for nothing.
//
//     Start --> hit, or a new miss: the caller asks L2 --> Granted --> Fill: who waited
//
// What the directory does to a line takes effect at once, even while the line is on its way.
// Whoever waits for it then gets its data, but the line isn't kept.
//
// States    MESI. A line that was asked to be owned comes modified, because a store waits for it.
// Threads   one owner.
// Source    paper 004, table 2; the simulator's specification, sections 1.1 and 3.3.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cache/cache_shape.h"
#include "sim/cache/tag_array.h"

namespace weft::sim {

enum class Access : uint8_t { kLoad, kPrefetch, kStore };
enum class Mesi : uint8_t { kShared, kExclusive, kModified };

// An access that waits for a line; everything but `access` is the caller's own.
struct Waiter {
  Access access = Access::kLoad;
  uint8_t cls = 0;
  bool is_measured = false;
  uint32_t ordinal = 0;
  uint64_t token = 0;
  int64_t started = 0;
};

class L1Cache {
 public:
  // REQUIRES: Validate(shape, 1, ...).ok()
  explicit L1Cache(const CacheShape& shape);

  enum class Outcome : uint8_t {
    kHit,
    kMiss,    // now under way: the caller asks L2, to own the line if it stores
    kJoined,  // joined: waits for a miss under way
    kFull,    // as many misses are under way as can be; nothing happened
  };
  Outcome Start(uint64_t line, const Waiter& waiter);

  struct Filled {
    uint64_t line = 0;
    std::vector<Waiter> waiters = {};  // the first asked for the line
    bool retries_stores = false;  // the line isn't owned after all: stores among them start again
    bool has_victim = false;      // a line left: tell the directory
    bool is_victim_modified = false;
    uint64_t victim = 0;
  };
  // The line that was granted is here. Valid until the next call.
  // REQUIRES: it is under way, and granted
  const Filled& Fill(uint64_t line);

  // For the directory. REQUIRES of Granted: the line is under way.
  void Granted(uint64_t line, Mesi state);
  // Takes away the line, or the right to change it, if it is here or granted. Was it modified?
  bool Invalidate(uint64_t line) { return TakeAway(line, true); }
  bool Downgrade(uint64_t line) { return TakeAway(line, false); }

  int under_way() const { return under_way_; }
  // Is the line here, and may it be changed?
  bool Has(uint64_t line) const { return tags_.Find(SetOf(line), line) != Tags::kNone; }
  bool Owns(uint64_t line) const {
    const size_t at = tags_.Find(SetOf(line), line);
    return at != Tags::kNone && tags_[at] != Mesi::kShared;
  }

 private:
  using Tags = TagArray<Mesi>;
  struct Mshr {
    uint64_t line = Tags::kNoLine;  // kNoLine: free
    bool owns = false;              // asked to be owned
    bool is_granted = false;
    bool is_lost = false;  // taken away after it was granted
    Mesi state = Mesi::kShared;
    std::vector<Waiter> waiters;
  };

  size_t SetOf(uint64_t line) const { return line & (sets_ - 1); }
  Mshr* UnderWay(uint64_t line);
  bool TakeAway(uint64_t line, bool whole);
  void Keep(uint64_t line, Mesi state);

  const size_t sets_;
  Tags tags_;
  std::vector<Mshr> mshrs_;
  int under_way_ = 0;
  Filled filled_;
};

}  // namespace weft::sim
