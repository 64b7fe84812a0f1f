// cache/ghosts.h: which objects were dropped lately from the young generation.
//
// Whoever stores such an object again has missed it: it goes to the main generation at once. A
// ghost is a tag of the key's hash and the time of the drop, counted in what was dropped since, 4
// bytes in all, in a table of sets of eight. A full set forgets its oldest. A ghost counts until
// half as much again as the log holds was dropped behind it.
//
// Ghosts also tell whether one read says anything about an object. Where such as were read once
// come back more than twice as often as such as were not read, one read is enough to be carried.
// Where keys are asked for in short bursts, it is not. A sample is always dropped, so that the
// answer may change.
//
// Memory    none until the first eviction; then 6 bytes for each object that the store holds,
//           rounded up to a power of two, but no more than a 64th of the memory
//           (Store::GrowGhosts).
// Errors    one store in some four thousand is taken for that of a ghost whose tag it has.
// Threads   any. Words are changed without a lock: two that meet in a set may lose a ghost.
// Source    S3-FIFO (SOSP'23), section 4: the ghost queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "cache/pages.h"

namespace weft::cache {

class Ghosts {
 public:
  static constexpr uint64_t kGhostBytes = sizeof(uint32_t);
  static constexpr uint64_t kNone = UINT64_MAX;
  static constexpr uint64_t kMemoryShare = 64;  // of the store's memory they take at most one part

  // `bytes_max`: addresses that it may grow into. `huge_pages`: a table that fills some is to have
  // them, for each look at it is a random access.
  static Result<std::unique_ptr<Ghosts>> Create(uint64_t bytes_max, bool huge_pages = false);

  // As many as have room.
  uint64_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
  uint64_t bytes() const { return capacity() * kGhostBytes; }
  uint64_t bytes_max() const { return pages_.size(); }
  // Makes room for `ghosts`, rounded up to a power of two; never less than there is. Half of those
  // that are there are forgotten. One caller at a time. REQUIRES: they fit into bytes_max()
  void Grow(uint64_t ghosts);
  // There will be so many. Says how many keys are samples, and what holds before any has told.
  void Expect(uint64_t ghosts);
  // What the log holds, from which follows how long a ghost counts. One caller at a time.
  void SetLogUnits(uint64_t units);

  // For who will soon look at `hash`.
  void Prefetch(uint64_t hash) const {
    if (capacity() != 0) __builtin_prefetch(SetOf(Mixed(hash)), 1);
  }
  // An object of `units` was dropped. `was_read`: once.
  void Note(uint64_t hash, uint64_t units, bool was_read);
  // Units that were dropped since it was; kNone: it is no ghost.
  uint64_t AgeOf(uint64_t hash) const;
  // It is stored again, and a ghost no more.
  void Forget(uint64_t hash);

  // Whether an object that was read once is to be carried. Before enough samples were dropped:
  // where many ghosts are expected.
  bool OneReadCounts() const;
  // Their fates alone are counted, so they are dropped whatever one read counts: one key in sixteen
  // where there are few ghosts, one in 64 where there are many.
  bool IsSample(uint64_t hash) const {
    return (hash >> 20 & sample_mask_.load(std::memory_order_relaxed)) == 0;
  }

 private:
  // Of samples that were read once, or not at all.
  struct Fate {
    std::atomic<uint32_t> dropped{0};
    std::atomic<uint32_t> came_back{0};
  };

  static constexpr uint32_t kWays = 8;  // half a cache line

  Ghosts(Pages pages, bool huge_pages) : huge_pages_(huge_pages), pages_(std::move(pages)) {}
  // The index takes buckets and tags from the same hash: here both come from all of its bits.
  static uint64_t Mixed(uint64_t hash) {
    hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
  }
  std::atomic<uint32_t>* SetOf(uint64_t mixed) const {
    const uint64_t sets = capacity() / kWays;
    return &reinterpret_cast<std::atomic<uint32_t>*>(pages_.data())[(mixed & (sets - 1)) * kWays];
  }
  std::atomic<uint32_t>* Find(uint64_t hash) const;
  uint32_t Now() const;
  void CountDrop(bool was_read);

  const bool huge_pages_;
  Pages pages_;
  std::atomic<uint64_t> capacity_{0};
  std::atomic<uint64_t> dropped_units_{0};
  std::atomic<uint64_t> sample_mask_{15};
  std::atomic<uint64_t> tick_units_{1};  // that are dropped between two ticks of the clock
  Fate fates_[2];                        // [1]: read once
};

}  // namespace weft::cache
