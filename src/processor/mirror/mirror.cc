#include "processor/mirror/mirror.h"

#include <algorithm>
#include <span>
#include <utility>

#include "processor/mirror/take_marks.h"

namespace weft::processor {

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
  is_behind_ = false;
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
      is_behind_ = has_marks_left_ || copied_ != numbers_.size() ||
                   first_copied_ != source_.older.bucket_count;
      ready = !is_behind_;
      // What was to be copied is forgotten by now.
      if (!status.ok()) source_ = {};
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
  marked_.clear();
  numbers_.clear();
  copied_ = 0;
  first_copied_ = 0;
  begun_ = false;
  begun_stamp_ = store_->epochs().Retire();
  if (Status status = memory_->NewIndex(index.older.bucket_count); !status.ok()) return status;
  source_ = index;
  return Status::Ok();
}

// All that is copied now is looked at after all who might have announced or marked it were asked
// how far they are: ChangeRings::Read counts on that, and so does what is said of marks.
// That holds for what is left to a later Advance, too.
Status Mirror::CopyIndex() {
  const uint64_t bucket_count = source_.older.bucket_count;
  numbers_.erase(numbers_.begin(), numbers_.begin() + static_cast<ptrdiff_t>(copied_));
  copied_ = 0;
  // What is new is asked for by an Advance that may get to it. Nothing is lost by that: of rings
  // that are full marks are made, and those are bits.
  has_marks_left_ = numbers_.size() >= kLinesAtOnce;
  if (!has_marks_left_) {
    AddMarked();
    store_->change_rings().Read(bucket_count, &numbers_);
  }
  while (numbers_.size() < kLinesAtOnce && first_copied_ < bucket_count)
    numbers_.push_back(first_copied_++);
  copied_ = std::min<size_t>(numbers_.size(), kLinesAtOnce);
  if (copied_ == 0) return Status::Ok();
  const std::span<const uint64_t> now = std::span(numbers_).first(copied_);
  counters_.index_lines += now.size();
  return memory_->CopyIndex(source_.older.buckets, now);
}

// Those marked before, and now, unless there are more. When the stamp has passed, the changes were
// made, and are copied for the last time.
void Mirror::AddMarked() {
  Marked now;
  has_marks_left_ = !TakeMarks(source_, kLinesAtOnce, &now.numbers);
  if (!now.numbers.empty()) {
    // After the marks are taken: whoever set one, or saw one set, is in an epoch up to this.
    now.stamp = store_->change_epochs().Retire();
    marked_.push_back(std::move(now));
  }
  size_t passed = 0;
  while (passed < marked_.size() && store_->change_epochs().Passed(marked_[passed].stamp)) passed++;
  // Nobody works on the copy before all that is marked is there: once is enough.
  const size_t copied = has_marks_left_ ? passed : marked_.size();
  for (size_t i = 0; i < copied; i++)
    numbers_.insert(numbers_.end(), marked_[i].numbers.begin(), marked_[i].numbers.end());
  marked_.erase(marked_.begin(), marked_.begin() + static_cast<ptrdiff_t>(passed));
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
