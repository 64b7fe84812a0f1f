#include "cache/index.h"

#include <thread>

#include "base/check.h"
#include "cache/object_writer.h"
#include "task/insert.h"

namespace weft::cache {
namespace {

constexpr double kCuckooLoadMax = 0.85;
constexpr double kSetAssociativeLoadMax = 0.75;

// Of that load: a table that grows to what memory can hold. The mean of the objects' sizes may fall
// by so much before it grows again.
constexpr double kGoodShareOfMax = 0.94;

uint64_t Even(uint64_t buckets) { return (buckets + 1) & ~uint64_t{1}; }

}  // namespace

Index::Index(IndexPolicy policy, bool may_drop, const KeyHasher& hasher, bool huge_pages,
             Epochs* epochs, PageSource* source)
    : policy_(policy),
      may_drop_(may_drop),
      hasher_(hasher),
      huge_pages_(huge_pages),
      epochs_(epochs),
      source_(source) {}

Index::~Index() = default;

task::TableRef Index::TableOf(const Pages& pages, uint64_t buckets) {
  return {reinterpret_cast<task::Bucket*>(pages.data()), buckets};
}

Result<std::unique_ptr<Index>> Index::Create(IndexPolicy policy, uint64_t buckets, bool may_drop,
                                             bool huge_pages, const KeyHasher& hasher,
                                             Epochs* epochs, PageSource* source) {
  // The constructor is private so that no index exists without its table; owned at once.
  auto index =
      std::unique_ptr<Index>(new Index(policy, may_drop, hasher, huge_pages, epochs, source));
  buckets = Even(buckets < 2 ? 2 : buckets);
  Result<Pages> moves = source->Reserve(kMoveStripes * sizeof(uint32_t), false);
  if (!moves) return moves.error();
  index->move_counts_ = std::move(moves.value());
  Result<Pages> pages = source->Reserve(buckets * sizeof(task::Bucket), huge_pages);
  if (!pages) return pages.error();
  base::MutexLock lock(&index->mutex_);
  index->table_ = std::move(pages.value());
  index->bucket_count_ = buckets;
  index->table_bytes_ = buckets * sizeof(task::Bucket);
  index->PublishLocked(TableOf(index->table_, buckets), {nullptr, 0}, false);
  return index;
}

void Index::PublishLocked(task::TableRef older, task::TableRef newer, bool insert_newer) {
  auto view = std::make_unique<task::IndexRef>();
  view->older = older;
  view->newer = newer;
  view->move_counts = reinterpret_cast<uint32_t*>(move_counts_.data());
  view->policy = policy_ == IndexPolicy::kCuckoo ? kPolicyCuckoo : kPolicySetAssociative;
  view->insert_newer = insert_newer ? 1 : 0;
  if (keeps_marks_ && newer.buckets == nullptr) view->marks = NewMarksLocked(older.bucket_count);
  current_.store(view.get(), std::memory_order_seq_cst);
  views_.push_back(std::move(view));
}

// Null where there is no memory for them: then nobody can mirror this table.
uint32_t* Index::NewMarksLocked(uint64_t buckets) {
  Result<Pages> pages = source_->Reserve(task::MarkWords(buckets) * sizeof(uint32_t), false);
  if (!pages) return nullptr;
  marks_.push_back(std::move(pages.value()));
  return reinterpret_cast<uint32_t*>(marks_.back().data());
}

Status Index::KeepMarks() {
  base::MutexLock lock(&mutex_);
  if (keeps_marks_) return Status::Ok();
  keeps_marks_ = true;
  if (phase_ == Phase::kSteady) PublishLocked(TableOf(table_, bucket_count()), {nullptr, 0}, false);
  return Status::Ok();
}

double Index::EntriesPerBucketMax() const {
  const double load_max = policy_ == IndexPolicy::kCuckoo ? kCuckooLoadMax : kSetAssociativeLoadMax;
  return load_max * kBucketSlots;
}

double Index::GoodEntriesPerBucket() const { return EntriesPerBucketMax() * kGoodShareOfMax; }

bool Index::IsCrowded(uint64_t items, uint64_t buckets) const {
  return static_cast<double>(items) > EntriesPerBucketMax() * static_cast<double>(buckets);
}

// Entries of a table, estimated from some of its buckets.
uint64_t Index::EntriesBySample(const Pages& table, uint64_t buckets) {
  constexpr uint64_t kSampleMax = 64;
  const auto* const first = reinterpret_cast<const task::Bucket*>(table.data());
  const uint64_t step = std::max<uint64_t>(1, buckets / kSampleMax);
  uint64_t looked = 0;
  uint64_t entries = 0;
  for (uint64_t i = 0; i < buckets; i += step, looked++) {
    for (const uint64_t& slot : first[i].slots) entries += task::LoadAcquire64(&slot) != 0;
  }
  return looked == 0 ? 0 : entries * buckets / looked;
}

bool Index::IsLoaded(uint64_t items) {
  const uint64_t many = bucket_count() * kBucketSlots * 7 / 10;
  if (items >= many) return true;
  base::MutexLock lock(&mutex_);
  uint64_t entries = EntriesBySample(table_, bucket_count());
  if (newer_.data() != nullptr) entries += EntriesBySample(newer_, newer_count_);
  return entries >= many;
}

uint64_t Index::NextBucketCount(uint64_t wanted) const {
  const uint64_t count = bucket_count();
  return Even(std::clamp(wanted & ~uint64_t{1}, count + count / 8 + 1, count + count / 2 + 1));
}

void Index::EnterLocked(Phase phase) {
  phase_ = phase;
  stamp_ = epochs_->Retire();
}

Status Index::StartGrowth(uint64_t wanted) {
  base::MutexLock lock(&mutex_);
  if (growing()) return {Code::kRetryLater, "the index is already growing"};
  const uint64_t count = NextBucketCount(wanted);
  Result<Pages> pages = source_->Reserve(count * sizeof(task::Bucket), huge_pages_);
  if (!pages) return pages.error();
  newer_ = std::move(pages.value());
  newer_count_ = count;
  table_bytes_ += count * sizeof(task::Bucket);
  drained_ = 0;
  PublishLocked(TableOf(table_, bucket_count()), TableOf(newer_, count), false);
  EnterLocked(Phase::kPrepare);
  return Status::Ok();
}

// Enters the next phase when it is due. True while a bucket may be drained.
bool Index::AdvanceLocked() {
  if (phase_ == Phase::kSteady || !epochs_->Passed(stamp_)) return false;
  switch (phase_) {
    case Phase::kSteady: return false;
    case Phase::kPrepare:
      PublishLocked(TableOf(table_, bucket_count()), TableOf(newer_, newer_count_), true);
      EnterLocked(Phase::kDrain);
      return false;
    case Phase::kDrain:
      if (drained_ < bucket_count() || !undrained_.empty()) return true;
      PublishLocked(TableOf(newer_, newer_count_), {nullptr, 0}, false);
      EnterLocked(Phase::kFinish);
      return false;
    case Phase::kFinish:
      std::swap(table_, newer_);
      table_bytes_ -= bucket_count() * sizeof(task::Bucket);
      bucket_count_ = newer_count_;
      newer_ = Pages();
      phase_ = Phase::kSteady;
      return false;
  }
  return false;
}

// The bucket to be drained now; of those that kept entries, `*again_left` are tried again.
bool Index::NextBucketLocked(size_t* again_left, uint64_t* bucket) {
  if (drained_ < bucket_count()) {
    *bucket = drained_++;
    return true;
  }
  if (*again_left == 0) return false;
  --*again_left;
  *bucket = undrained_.front();
  undrained_.pop_front();
  return true;
}

// Moves every entry of a bucket of the older table to the newer one. Returns how many were dropped
// for want of room, their locations in `dropped`. Those that may not be dropped stay, and the
// bucket is noted.
uint64_t Index::DrainBucketLocked(task::LogRef log, uint64_t bucket, uint64_t* dropped,
                                  uint32_t dropped_max) {
  const task::IndexRef& index = current();
  uint64_t dropped_count = 0;
  bool is_empty = true;
  constexpr uint64_t kBucketsAhead = 4;
  if (bucket + kBucketsAhead < index.older.bucket_count) {
    for (const uint64_t& slot : index.older.buckets[bucket + kBucketsAhead].slots) {
      const uint64_t word = task::LoadAcquire64(&slot);
      if (word != 0) task::Prefetch(task::ObjectAt(log, task::SlotLocation(word)));
    }
  }
  for (uint64_t& slot : index.older.buckets[bucket].slots) {
    for (;;) {  // Ends: a moving entry's mover is at work; nothing enters the older table any more.
      const uint64_t word = task::LoadAcquire64(&slot);
      if (word == kSlotEmpty) break;
      const uint64_t moving = task::WithState(word, kSlotMoving);
      if (task::SlotState(word) != kSlotLive || !task::CompareAndSwap64(&slot, word, moving)) {
        std::this_thread::yield();
        continue;
      }
      task::Object* object = task::ObjectAt(log, task::SlotLocation(word));
      uint64_t victim = 0;
      uint64_t* copy = task::PlaceWord(index, index.newer, log, hasher_(KeyView(object)), moving,
                                       may_drop_, &victim);
      if (copy == nullptr && !may_drop_) {
        is_empty = false;
        task::CompareAndSwap64(&slot, moving, word);  // nobody else changes a moving word
        break;
      }
      WEFT_CHECK(dropped_count + 2 <= dropped_max);
      if (victim != 0) dropped[dropped_count++] = task::SlotLocation(victim);
      if (copy == nullptr) {
        dropped[dropped_count++] = task::SlotLocation(word);
        task::NoteSeen(object);
      }
      task::CompareAndSwap64(&slot, moving, kSlotEmpty);
      if (copy != nullptr) task::CompareAndSwap64(copy, moving, word);
      break;
    }
  }
  if (!is_empty) undrained_.push_back(bucket);
  waits_for_room_.store(drained_ == bucket_count() && !undrained_.empty(),
                        std::memory_order_relaxed);
  return dropped_count;
}

}  // namespace weft::cache
