#include "processor/mirror.h"

#include <algorithm>
#include <utility>

#include "processor/take_marks.h"

namespace weft::processor {
namespace {

constexpr uint64_t kFirstCopyPieces = 32768;     // of one Advance: 8 MiB
constexpr uint64_t kLogBytesMax = 64ull << 20;   // of one Advance
constexpr size_t kPiecesTogether = 4096;

}  // namespace

Mirror::~Mirror() {
  if (slot_ != nullptr) store_->epochs().Release(slot_);
}

Status Mirror::Open() {
  slot_ = store_->epochs().Claim();
  if (slot_ == nullptr) return {Code::kNoMemory, "too many sessions to mirror the store"};
  if (Status status = store_->index().KeepMarks(); !status.ok()) return status;
  cache::ObjectLog& log = store_->log();
  log.Watch();
  return memory_->NewLog(log.segment_count(), log.geometry().segment_bytes);
}

Result<bool> Mirror::Advance(const task::IndexRef& index, const task::LogRef& log) {
  counters_.advances++;
  // What is looked at stays what it is: no segment is freed meanwhile.
  store_->epochs().Enter(slot_);
  log_budget_ = kLogBytesMax;
  Status status;
  bool ready = false;
  if (index.newer.buckets == nullptr && index.marks != nullptr) {
    if (index.older.buckets != source_.older.buckets) status = BeginTable(index);
    begun_ = begun_ || store_->epochs().Passed(begun_stamp_);
    if (status.ok() && begun_) {
      status = CopyIndex();
      ready = next_piece_ == UINT64_MAX;
    }
  }
  // After the index: no word of an object in a segment that is filled anew can have been copied
  // before this finds out.
  if (status.ok()) status = FollowLog(log);
  store_->epochs().Exit(slot_);
  if (!status.ok()) return status;
  return ready;
}

Status Mirror::BeginTable(const task::IndexRef& index) {
  source_ = index;
  taken_.clear();
  next_piece_ = 0;
  begun_ = false;
  begun_stamp_ = store_->epochs().Retire();
  return memory_->NewIndex(index.older.bucket_count);
}

Status Mirror::CopyIndex() {
  // Those taken before are copied with those taken now; what has passed was copied for the last
  // time by this.
  const size_t before = taken_.size();
  TakeMarked();
  size_t passed = 0;
  for (size_t i = 0; i < before && store_->epochs().Passed(taken_[i].stamp); i++) passed++;
  for (const Taken& taken : taken_) {
    for (const uint64_t number : taken.numbers) {
      Add(number);
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
  taken.stamp = store_->epochs().Retire();
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

Status Mirror::FollowLog(const task::LogRef& log) {
  store_->log().LookAt(&watched_);
  // Bytes reserved up to now are written when the batches of now have ended.
  const uint64_t stamp = store_->epochs().Retire();
  for (const cache::ObjectLog::Watched& state : watched_) {
    const uint64_t end = state.segment + store_->log().SegmentsNeeded(
                                             uint64_t{state.fill_units} * kLocationUnitBytes);
    if (end > memory_->SegmentsMax()) continue;  // no room for it
    auto at = std::find_if(segments_.begin(), segments_.end(), [&](const Segment& each) {
      return each.state.segment == state.segment;
    });
    if (at == segments_.end()) at = segments_.insert(segments_.end(), Segment{});
    Segment& segment = *at;
    const bool anew = segment.base != state.base;
    segment.state = state;
    if (anew) {
      segment.base = state.base;
      segment.copied_units = 0;
      segment.complete_units = 0;
      if (Status status = memory_->SetResident(state.segment, 0, state.base); !status.ok())
        return status;
    }
    if (Status status = FollowSegment(log, &segment); !status.ok()) return status;
    if (segment.complete_units == 0 && state.fill_units > segment.copied_units) {
      segment.complete_units = state.fill_units;
      segment.stamp = stamp;
    }
  }
  // What is whole, or counts no longer, is done with until it is filled anew.
  std::erase_if(segments_, [](const Segment& each) {
    return !each.state.in_use ||
           (!each.state.growing && each.copied_units == each.state.fill_units);
  });
  std::erase_if(watched_, [&](const cache::ObjectLog::Watched& state) {
    return std::none_of(segments_.begin(), segments_.end(), [&](const Segment& each) {
      return each.state.segment == state.segment;
    });
  });
  return Status::Ok();
}

Status Mirror::FollowSegment(const task::LogRef& log, Segment* segment) {
  if (!segment->state.in_use || segment->complete_units == 0 ||
      !store_->epochs().Passed(segment->stamp))
    return Status::Ok();
  const uint64_t bytes =
      uint64_t{segment->complete_units - segment->copied_units} * kLocationUnitBytes;
  if (bytes > log_budget_ && log_budget_ != kLogBytesMax) return Status::Ok();  // the next time
  log_budget_ -= std::min(log_budget_, bytes);
  const uint64_t offset =
      uint64_t{segment->state.segment} * store_->log().geometry().segment_bytes +
      uint64_t{segment->copied_units} * kLocationUnitBytes;
  Status status = memory_->WriteLog(offset, log.base + offset, bytes);
  if (!status.ok()) return status;
  counters_.log_bytes += bytes;
  segment->copied_units = segment->complete_units;
  segment->complete_units = 0;
  return memory_->SetResident(segment->state.segment, segment->copied_units, segment->base);
}

void Mirror::Replace(task::QueryJob* job) const {
  const task::IndexRef index = memory_->index();
  job->index.older = index.older;
  job->index.move_counts = index.move_counts;
  job->index.marks = nullptr;
  const task::LogRef log = memory_->log();
  job->log.base = log.base;
  job->log.version_bases = log.version_bases;
  job->log.resident = log.resident;
  job->mirrored = 1;
  job->notes = 0;
  job->set_claims = nullptr;
}

}  // namespace weft::processor
