#include "processor/mirror.h"

#include <algorithm>
#include <utility>

#include "processor/take_marks.h"

namespace weft::processor {
namespace {

constexpr uint64_t kFirstCopyPieces = 131072;  // of one Advance: 8 MiB
constexpr size_t kPiecesTogether = 16384;
// Pieces lie anywhere in the index: each is asked for so many before it is copied.
constexpr size_t kPrefetchPieces = 16;

}  // namespace

Mirror::~Mirror() {
  if (slot_ != nullptr) store_->epochs().Release(slot_);
}

Status Mirror::Open() {
  slot_ = store_->epochs().Claim();
  if (slot_ == nullptr) return {Code::kNoMemory, "too many sessions to mirror the store"};
  if (Status status = store_->index().KeepMarks(); !status.ok()) return status;
  return log_.Open();
}

Result<bool> Mirror::Advance(const task::IndexRef& index, const task::LogRef& log) {
  counters_.advances++;
  // What is looked at stays what it is: no segment is freed meanwhile.
  store_->epochs().Enter(slot_);
  Status status;
  bool ready = false;
  if (index.newer.buckets == nullptr && index.marks != nullptr) {
    // A table that came and went unseen may have lain where this one lies; its marks did not.
    if (index.older.buckets != source_.older.buckets || index.marks != source_.marks)
      status = BeginTable(index);
    begun_ = begun_ || store_->epochs().Passed(begun_stamp_);
    if (status.ok() && begun_) {
      status = CopyIndex();
      ready = next_piece_ == UINT64_MAX;
    }
  }
  // After the index: no word of an object in a segment that is filled anew can have been copied
  // before this finds out.
  if (status.ok()) status = log_.Follow(log);
  store_->epochs().Exit(slot_);
  if (!status.ok()) return status;
  return ready;
}

Status Mirror::BeginTable(const task::IndexRef& index) {
  source_ = {};
  taken_.clear();
  next_piece_ = 0;
  begun_ = false;
  begun_stamp_ = store_->epochs().Retire();
  if (Status status = memory_->NewIndex(index.older.bucket_count); !status.ok()) return status;
  source_ = index;
  return Status::Ok();
}

Status Mirror::CopyIndex() {
  // Those taken before are copied with those taken now; what has passed was copied for the last
  // time by this.
  const size_t before = taken_.size();
  TakeMarked();
  size_t passed = 0;
  for (size_t i = 0; i < before && store_->change_epochs().Passed(taken_[i].stamp); i++) passed++;
  for (const Taken& taken : taken_) {
    for (size_t i = 0; i < taken.numbers.size(); i++) {
      if (i + kPrefetchPieces < taken.numbers.size())
        task::Prefetch(&source_.older.buckets[taken.numbers[i + kPrefetchPieces] * kMarkBuckets]);
      Add(taken.numbers[i]);
      if (pieces_.size() < kPiecesTogether) continue;
      if (Status status = Send(); !status.ok()) return status;
    }
  }
  taken_.erase(taken_.begin(), taken_.begin() + static_cast<ptrdiff_t>(passed));
  const uint64_t pieces = (source_.older.bucket_count + kMarkBuckets - 1) / kMarkBuckets;
  for (uint64_t n = 0; next_piece_ != UINT64_MAX && n < kFirstCopyPieces; n++) {
    Add(next_piece_++);
    if (next_piece_ == pieces) next_piece_ = UINT64_MAX;
    if (pieces_.size() < kPiecesTogether) continue;
    if (Status status = Send(); !status.ok()) return status;
  }
  return Send();
}

void Mirror::TakeMarked() {
  Taken taken;
  TakeMarks(source_, &taken.numbers);
  if (taken.numbers.empty()) return;
  // After the marks are taken: whoever set one, or saw one set, is in an epoch up to this.
  taken.stamp = store_->change_epochs().Retire();
  taken_.push_back(std::move(taken));
}

void Mirror::Add(uint64_t number) {
  MirrorMemory::Piece& piece = pieces_.emplace_back();
  piece.number = number;
  for (uint64_t b = 0; b < kMarkBuckets; b++) {
    const uint64_t bucket = number * kMarkBuckets + b;
    for (uint32_t i = 0; i < kBucketSlots; i++) {
      piece.buckets[b].slots[i] =
          bucket < source_.older.bucket_count
              ? task::LoadAcquire64(&source_.older.buckets[bucket].slots[i])
              : kSlotEmpty;
    }
  }
}

Status Mirror::Send() {
  if (pieces_.empty()) return Status::Ok();
  counters_.index_pieces += pieces_.size();
  Status status = memory_->WriteIndex(pieces_);
  pieces_.clear();
  return status;
}

Mirror::Counters Mirror::counters() const {
  Counters counters = counters_;
  counters.log_bytes = log_.copied_bytes();
  counters.segments_held = log_.places().held();
  counters.segments_sent_away = log_.places().sent_away();
  return counters;
}

void Mirror::Replace(task::QueryJob* job) {
  const task::IndexRef index = memory_->index();
  job->index.older = index.older;
  job->index.move_counts = index.move_counts;
  job->index.marks = nullptr;
  const task::LogRef log = memory_->log();
  job->log.base = log.base;
  job->log.version_bases = log.version_bases;
  job->log.resident = log.resident;
  job->log.uses = log_.everything_fits() ? nullptr : log.uses;
  job->log.use_tick = log_.use_tick();
  log_.CountQueries(job->end - job->begin);
  job->mirrored = 1;
  job->notes = 0;
  job->set_claims = nullptr;
}

}  // namespace weft::processor
