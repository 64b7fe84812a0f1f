// When the tables beside the log grow, and to what: the index and the ghosts.
// docs/design/0003-index.md, "Growing by half, or less", has the rules.
#include <algorithm>
#include <bit>

#include "cache/eviction_watch.h"
#include "cache/ghosts.h"
#include "cache/index.h"
#include "cache/object_log.h"
#include "cache/object_writer.h"
#include "cache/session.h"
#include "cache/store.h"

namespace weft::cache {
namespace {

constexpr uint64_t kBucketsPerWrite = 16;  // growth's work for each object stored
constexpr uint64_t kBucketsPerBatch = 64;  // and for each batch, so that readers finish it too

}  // namespace

// Half as many again as there are objects: what is dropped while ghosts count is about as many. The
// log gives up their memory first, so that the limit holds.
void Store::GrowGhosts() {
  const uint64_t bytes_max = std::min(memory_limit() / Ghosts::kMemoryShare, ghosts_->bytes_max());
  const uint64_t ghosts =
      std::min(std::bit_ceil(ItemCount() * 3 / 2), std::bit_floor(bytes_max / Ghosts::kGhostBytes));
  if (ghosts <= ghosts_->capacity()) return;
  ghosts_->Expect(ghosts);
  base::MutexLock lock(&budget_mutex_);
  if (growth_planned_) return;  // the log gives up another table's memory just now
  if (ghosts * Ghosts::kGhostBytes > ghosts_planned_bytes_) {
    ghosts_planned_bytes_ = ghosts * Ghosts::kGhostBytes;
    SetLogBudgetLocked(index_->table_bytes());
  }
  if (!log_->over_budget()) ghosts_->Grow(ghosts_planned_bytes_ / Ghosts::kGhostBytes);
}

// Of an index for as many objects as the memory holds, beside it, if they are like those that are
// there. A table that grew by a fixed share would be too large for its entries where the memory is
// full: no more come. Where nothing is evicted it grows so all the same, for it may find no memory
// to grow once that is full.
uint64_t Store::BucketsForFullMemory() const {
  if (!options_.evict) return UINT64_MAX;
  const uint64_t segment_bytes = log_->geometry().segment_bytes;
  const uint64_t all = log_->segments_in_use_max();
  const uint64_t free = std::min<uint64_t>(log_->SegmentsFreeSoon(), all);
  if (free == all) return UINT64_MAX;
  const double items_a_byte =
      static_cast<double>(ItemCount()) / static_cast<double>((all - free) * segment_bytes);
  // For objects and this table, beside ghosts and what is free even in a full memory.
  const uint64_t ghosts = ghosts_planned_bytes_ == 0 ? memory_limit() / Ghosts::kMemoryShare : 0;
  const uint64_t kept = free - std::min<uint64_t>(free, log_->SegmentsAvailable());
  const double bytes =
      static_cast<double>(LogBudgetBytes(ghosts)) - static_cast<double>(kept * segment_bytes);
  const double buckets =
      items_a_byte * std::max(bytes, 0.0) /
      (index_->GoodEntriesPerBucket() + items_a_byte * static_cast<double>(sizeof(task::Bucket)));
  return static_cast<uint64_t>(buckets);
}

// What the index may grow to; 0: not now. Both tables stand for a while; the log keeps half of the
// limit, and its largest object's room.
uint64_t Store::NextBucketCount() const {
  const uint64_t kept =
      std::max(memory_limit() / 2, log_->budget_min() * log_->geometry().segment_bytes);
  const uint64_t left = LogBudgetBytes(index_->table_bytes());
  const uint64_t most = left > kept ? (left - kept) / sizeof(task::Bucket) : 0;
  const uint64_t next = index_->NextBucketCount(std::min(BucketsForFullMemory(), most));
  return next <= most ? next : 0;
}

bool Store::DropsFromFullSets() const {
  if (!options_.evict || options_.index_policy != IndexPolicy::kSetAssociative) return false;
  if (index_->growing()) return !index_->preparing();
  return !index_->IsCrowded(ItemCount()) || NextBucketCount() == 0;
}

bool Store::MayDropEntry() const {
  if (!options_.evict) return false;
  if (!index_->IsLoaded(ItemCount())) return true;
  return !index_->growing() && NextBucketCount() == 0;
}

void Store::StartGrowthIfCrowded() {
  if (index_->growing() ||
      (!growth_wanted_.load(std::memory_order_relaxed) &&
       !growth_planned_.load(std::memory_order_relaxed) && !index_->IsCrowded(ItemCount())))
    return;
  base::MutexLock lock(&budget_mutex_);
  const uint64_t items = ItemCount();
  // What is planned stays planned: making room for it drops objects, which may leave the table a
  // good deal less than crowded, and to plan and give up in turns would evict without end.
  const bool wanted = index_->IsCrowded(items) ||
                      (growth_wanted_.load() && index_->IsLoaded(items)) ||
                      (growth_planned_.load() && !index_->IsSparse(items));
  if (index_->growing()) return;
  const uint64_t buckets = NextBucketCount();
  if (!wanted || buckets == 0) {
    growth_wanted_ = false;
    if (growth_planned_.exchange(false)) SetLogBudgetLocked(index_->table_bytes());
    return;
  }
  // The log gives up the new table's bytes first, so that the limit holds while both stand.
  growth_planned_ = true;
  SetLogBudgetLocked(index_->table_bytes() + buckets * sizeof(task::Bucket));
  if (log_->over_budget() && options_.evict) return;  // eviction ahead of need brings it down
  growth_wanted_ = false;
  growth_planned_ = false;
  if (log_->over_budget() || !index_->StartGrowth(buckets).ok())
    SetLogBudgetLocked(index_->table_bytes());
}

void Store::GrowIndex(Session& session, uint32_t writes) {
  if (!index_->growing()) return;
  {
    const InBatch batch(session);
    index_->Step(session.log(), kBucketsPerBatch + writes * kBucketsPerWrite,
                 [&](uint64_t dropped) {
                   TellEviction(session, dropped);
                   session.ReleaseObject(dropped);
                   session.counters().evictions.Add(1);
                   session.AddItems(-1);
                 });
  }
  if (index_->growing()) return;
  growth_wanted_ = false;
  UpdateLogBudget();
}

}  // namespace weft::cache
