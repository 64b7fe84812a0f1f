// cache/ghosts.h: which objects were dropped lately from the young generation.
//
// Whoever stores such an object again has missed it, so it goes to the main generation at once. A
// ghost has 4 bytes: a tag of the key's hash and the time of the drop. They lie in a table of sets
// of eight. Time is counted in units dropped. A full set forgets its oldest. A ghost counts until
// one and a half times what the log holds was dropped after it.
//
// Ghosts also show whether one read says anything about an object. If objects that were read once
// come back more than twice as often as unread ones, one read is enough to be carried. Where keys
// are asked for in short bursts, it is not. A sample is always dropped, so that the answer may
// change.
//
// Memory    none until the first eviction; then 6 bytes for each object that the store holds,
//           rounded up to a power of two, but no more than a 64th of the memory
//           (Store::GrowGhosts).
// Errors    one store in some four thousand is mistaken for that of a ghost with the same tag.
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
  static constexpr uint64_t kMemoryShare = 64;  // of the store's memory: at most one part in this

  // `bytes_max`: addresses that it may grow into. `huge_pages`: use them once the table fills some,
  // because each look at it is a random access.
  static Result<std::unique_ptr<Ghosts>> Create(uint64_t bytes_max, bool huge_pages = false);

  // The most ghosts that there is room for.
  uint64_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
  uint64_t bytes() const { return capacity() * kGhostBytes; }
  uint64_t bytes_max() const { return pages_.size(); }
  // Makes room for `ghosts`, rounded up to a power of two; never less than there is. Half of the
  // present ones are forgotten. One caller at a time. REQUIRES: they fit into bytes_max()
  void Grow(uint64_t ghosts);
  // Expects this many: sets how many keys are samples, and the answer before samples give one.
  void Expect(uint64_t ghosts);
  // What the log holds: it decides how long a ghost counts. One caller at a time.
  void SetLogUnits(uint64_t units);

  // For callers that will soon look at `hash`.
  void Prefetch(uint64_t hash) const {
    if (capacity() != 0) __builtin_prefetch(SetOf(Mixed(hash)), 1);
  }
  // An object of `units` was dropped. `was_read`: it was read once.
  void Note(uint64_t hash, uint64_t units, bool was_read);
  // Units dropped since the object was; kNone: it is no ghost.
  uint64_t AgeOf(uint64_t hash) const;
  // The object is stored again, and is a ghost no more.
  void Forget(uint64_t hash);

  // Whether to carry an object that was read once. Before enough samples were dropped: true if many
  // ghosts are expected.
  bool OneReadCounts() const;
  // Only the fates of samples are counted, so these are dropped whatever one read counts. One key
  // in sixteen is a sample where there are few ghosts, one in 64 where there are many.
  bool IsSample(uint64_t hash) const {
    return (hash >> 20 & sample_mask_.load(std::memory_order_relaxed)) == 0;
  }

 private:
  // Fate of samples that were read once, or not at all.
  struct Fate {
    std::atomic<uint32_t> dropped{0};
    std::atomic<uint32_t> came_back{0};
  };

  static constexpr uint32_t kWays = 8;  // half a cache line

  Ghosts(Pages pages, bool huge_pages) : huge_pages_(huge_pages), pages_(std::move(pages)) {}
  // The index takes buckets and tags from the same hash; here both come from all of its bits.
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
  std::atomic<uint64_t> tick_units_{1};  // dropped between two ticks of the clock
  Fate fates_[2];                        // [1]: read once
};

}  // namespace weft::cache
