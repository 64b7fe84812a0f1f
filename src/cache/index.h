// cache/index.h: the owner of the index's tables, and how they grow without a stop.
//
// Sizing    the table starts with one bucket a 64 KiB of memory, or with what `expected_items` asks
//           for (Store has exceptions). It grows by an eighth to a half when it is 85 % full (75 %
//           with policy kSetAssociative), so it takes 9 to 14 bytes an item. While both tables
//           stand, the new one's bytes come from the log's budget; the old one's go back
//           afterwards. So the memory limit holds throughout.
// Growth    in phases. Each is entered only when every batch that began before the previous phase
//           has ended (cache/epoch.h). So any two batches at work are at most one phase apart:
//             kSteady   one table.
//             kPrepare  searches look into both, inserts go to the older.
//             kDrain    inserts go to the newer; Step moves entries over, bucket by bucket.
//             kFinish   the newer is the only table; the older waits for its last readers.
//           Two inserts of one key that go to different tables still find each other, because both
//           phases in which that can happen search both tables.
// Threads   current(): any. Step: any; one at a time does the work, the others return at once.
// Lock      mutex_: before ObjectLog's.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "cache/epoch.h"
#include "cache/key_hasher.h"
#include "cache/pages.h"
#include "task/index.h"
#include "task/log.h"
#include "weft/cache.h"

namespace weft::cache {

class Index {
 public:
  // `may_drop`: while the table grows, an entry that finds no room may go. `source`: where the
  // tables' memory comes from; it must outlive the index.
  static Result<std::unique_ptr<Index>> Create(IndexPolicy policy, uint64_t buckets, bool may_drop,
                                               bool huge_pages, const KeyHasher& hasher,
                                               Epochs* epochs, PageSource* source = SystemPages());
  ~Index();

  // The view for a batch that begins now. Valid until the batch leaves its epoch.
  const task::IndexRef& current() const { return *current_.load(std::memory_order_seq_cst); }

  // From now on views of a steady index have marks (task/index.h). Batches that began before have
  // views without.
  Status KeepMarks() WEFT_EXCLUDES(mutex_);

  uint64_t bucket_count() const { return bucket_count_.load(std::memory_order_relaxed); }
  // Bytes of all tables that exist.
  uint64_t table_bytes() const { return table_bytes_.load(std::memory_order_relaxed); }
  // Growing has begun, but inserts still go to the older table.
  bool preparing() const { return phase_.load(std::memory_order_relaxed) == Phase::kPrepare; }
  bool growing() const { return phase_.load(std::memory_order_relaxed) != Phase::kSteady; }
  // Growth cannot end before entries go: some that may not be dropped find no room in the newer
  // table (only by a flood of equal hashes). Both tables stand meanwhile.
  bool waits_for_room() const { return waits_for_room_.load(std::memory_order_relaxed); }

  // True if `items` entries are too many for the table.
  bool IsCrowded(uint64_t items) const { return IsCrowded(items, bucket_count()); }
  bool IsCrowded(uint64_t items, uint64_t buckets) const;
  // True if a table half as large again would be far too large for `items` entries.
  bool IsSparse(uint64_t items) const { return items < bucket_count() * kBucketSlots / 4; }
  // True if the table is full enough that full pairs of buckets must be expected. Below that, a
  // full pair is a sign of similar hashes, against which a larger table helps little, so it does
  // not grow for them. `items` lacks what batches under way have entered, so if it is low, a sample
  // of the table is looked at.
  bool IsLoaded(uint64_t items) WEFT_EXCLUDES(mutex_);
  // A good mean number of entries a bucket: below what counts as crowded, with some to spare.
  double GoodEntriesPerBucket() const;
  // What the table grows to: `wanted` buckets, within two bounds. At least an eighth more than
  // there are, so that growing is rare; at most half as many again, so that it never takes much.
  uint64_t NextBucketCount(uint64_t wanted = UINT64_MAX) const;
  // Starts growing to NextBucketCount(wanted). kRetryLater while it grows already.
  Status StartGrowth(uint64_t wanted = UINT64_MAX) WEFT_EXCLUDES(mutex_);

  // Does up to `buckets` buckets of growth's work, if any. Calls `dropped` with the location of
  // each entry that found no room and may be dropped (only by a flood of equal hashes).
  // REQUIRES: the caller is in an epoch and took `log` in it.
  template <typename Dropped>
  void Step(task::LogRef log, uint64_t buckets, Dropped dropped) WEFT_EXCLUDES(mutex_);

 private:
  enum class Phase : uint8_t { kSteady, kPrepare, kDrain, kFinish };

  Index(IndexPolicy policy, bool may_drop, const KeyHasher& hasher, bool huge_pages, Epochs* epochs,
        PageSource* source);
  uint32_t* NewMarksLocked(uint64_t buckets) WEFT_REQUIRES(mutex_);
  void PublishLocked(task::TableRef older, task::TableRef newer, bool insert_newer)
      WEFT_REQUIRES(mutex_);
  void EnterLocked(Phase phase) WEFT_REQUIRES(mutex_);
  double EntriesPerBucketMax() const;
  static uint64_t EntriesBySample(const Pages& table, uint64_t buckets);
  bool AdvanceLocked() WEFT_REQUIRES(mutex_);
  bool NextBucketLocked(size_t* again_left, uint64_t* bucket) WEFT_REQUIRES(mutex_);
  uint64_t DrainBucketLocked(task::LogRef log, uint64_t bucket, uint64_t* dropped,
                             uint32_t dropped_max) WEFT_REQUIRES(mutex_);
  static task::TableRef TableOf(const Pages& pages, uint64_t buckets);

  // Constant after construction.
  const IndexPolicy policy_;
  const bool may_drop_;
  const KeyHasher hasher_;
  const bool huge_pages_;
  Epochs* const epochs_;
  PageSource* const source_;
  Pages move_counts_;  // kMoveStripes words

  // Provides its own synchronisation.
  std::atomic<const task::IndexRef*> current_{nullptr};
  std::atomic<uint64_t> bucket_count_{0};
  std::atomic<uint64_t> table_bytes_{0};
  std::atomic<Phase> phase_{Phase::kSteady};
  std::atomic<bool> waits_for_room_{false};

  base::Mutex mutex_;
  Pages table_ WEFT_GUARDED_BY(mutex_);
  Pages newer_ WEFT_GUARDED_BY(mutex_);
  uint64_t newer_count_ WEFT_GUARDED_BY(mutex_) = 0;
  uint64_t drained_ WEFT_GUARDED_BY(mutex_) = 0;            // drained buckets of the older table
  std::deque<uint64_t> undrained_ WEFT_GUARDED_BY(mutex_);  // drained ones that still hold entries
  uint64_t stamp_ WEFT_GUARDED_BY(mutex_) = 0;              // of the phase's start
  bool keeps_marks_ WEFT_GUARDED_BY(mutex_) = false;
  std::vector<Pages> marks_ WEFT_GUARDED_BY(mutex_);  // of the tables so far, the last one's last
  // Views ever published; some hundreds in a lifetime, kept because batches hold references.
  std::vector<std::unique_ptr<task::IndexRef>> views_ WEFT_GUARDED_BY(mutex_);
};

template <typename Dropped>
void Index::Step(task::LogRef log, uint64_t buckets, Dropped dropped) {
  if (!growing() || !mutex_.TryLock()) return;
  constexpr uint32_t kDroppedMax = 16;
  size_t again_left = undrained_.size();
  uint64_t bucket = 0;
  for (uint64_t i = 0; i < buckets && AdvanceLocked() && NextBucketLocked(&again_left, &bucket);
       i++) {
    uint64_t words[kDroppedMax];
    const uint64_t count = DrainBucketLocked(log, bucket, words, kDroppedMax);
    for (uint64_t j = 0; j < count; j++) dropped(words[j]);
  }
  mutex_.Unlock();
}

}  // namespace weft::cache
