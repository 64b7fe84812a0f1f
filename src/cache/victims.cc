// Which segment is to be emptied next. docs/design/0019-eviction-and-cleaning.md has the rule.
//
// A call looks at some of the segments, not at all of them: at the oldest ones, where most has been
// replaced, and at a window, which goes round. The best candidates of the windows before are
// remembered, so what is worth cleaning anywhere is found within a round. While there are fewer
// segments than a window has, every call sees them all.
#include <algorithm>
#include <utility>

#include "cache/object_log.h"

namespace weft::cache {
namespace {

constexpr uint32_t kWindow = 128;
constexpr uint32_t kOldest = 16;  // of each generation
// Live objects are evicted from so many segments before all segments are looked at again for one
// that is worth cleaning: at 16384 segments that adds a microsecond to each.
constexpr uint32_t kEvictedPerRound = 64;

// Below these shares of live data a segment is worth emptying by copying what lives.
constexpr uint64_t kCleanPercent = 75;         // before anything live is evicted
constexpr uint64_t kCleanPercentNoEvict = 95;  // where nothing live may be evicted
// Share of the memory that newly stored objects get to prove themselves (S3-FIFO's small queue), at
// least and at most.
constexpr uint64_t kYoungPercentMin = 5;
constexpr uint64_t kYoungPercentMax = 30;
// Steps of it in objects: more for one that a larger share would have kept than for one that not.
constexpr uint64_t kYoungGrowth = 5;
// Segments that are closed at once, to be cleaned when those who may be filling them have left.
constexpr uint32_t kClosedMax = 16;
// Holes are filled again when so many segments in a row were cleaned, and a quarter of all: where
// now and then something live is evicted, they would only hold memory.
constexpr uint32_t kCleanedToFill = 64;

}  // namespace

// Of `total` units.
uint64_t ObjectLog::YoungUnits(uint64_t total) const {
  return std::clamp(young_units_.load(std::memory_order_relaxed), total * kYoungPercentMin / 100,
                    total * kYoungPercentMax / 100);
}

void ObjectLog::AdaptYoung(uint64_t age_units, uint64_t units) {
  const uint64_t total = uint64_t{segments_in_use_max()} * segment_units_;
  const uint64_t young = YoungUnits(total);
  const bool is_in_reach = young + age_units <= total * kYoungPercentMax / 100;
  const uint64_t next = is_in_reach ? young + kYoungGrowth * units : young - std::min(young, units);
  young_units_.store(next, std::memory_order_relaxed);
}

void ObjectLog::EnqueueLocked(uint32_t segment) {
  Segment& s = segments_[segment];
  Queue& queue = queues_[static_cast<uint32_t>(s.generation.load())];
  s.state = State::kSealed;
  s.older = queue.newest;
  s.newer = 0;
  (queue.newest != 0 ? segments_[queue.newest].newer : queue.oldest) = segment;
  queue.newest = segment;
  queue.units += s.fill_units;
  sealed_++;
  NoteEndLocked(segment);
  NoteMayClean();
}

void ObjectLog::UnlinkLocked(uint32_t segment) {
  const Segment& s = segments_[segment];
  Queue& queue = queues_[static_cast<uint32_t>(s.generation.load())];
  (s.older != 0 ? segments_[s.older].newer : queue.oldest) = s.newer;
  (s.newer != 0 ? segments_[s.newer].older : queue.newest) = s.older;
  queue.units -= s.fill_units;
  sealed_--;
}

// A writer that is still in it may have its object to count, so 0 means that the end is not known,
// and an end that comes out too early only makes the next look at all segments come early.
void ObjectLog::NoteEndLocked(uint32_t segment) {
  const uint32_t last = segments_[segment].last_expiry.load(std::memory_order_relaxed);
  if (IsFlushedLocked(segment))
    end_due_s_ = 0;
  else if (last != kSomeNeverExpire)
    end_due_s_ = std::min<uint64_t>(end_due_s_, last);
}

bool ObjectLog::IsFlushedLocked(uint32_t segment) const {
  const uint64_t floor = flush_floor_.load(std::memory_order_relaxed);
  return floor != 0 && version_bases_[segment] < floor;
}

bool ObjectLog::HasEndedLocked(uint32_t segment, uint32_t now_s) const {
  if (IsFlushedLocked(segment)) return true;
  const uint32_t last = segments_[segment].last_expiry.load(std::memory_order_relaxed);
  return last != 0 && last != kSomeNeverExpire && last <= now_s;
}

// Looks at every segment, when one of them may have ended since the last time.
void ObjectLog::CollectEndedLocked(uint32_t now_s, uint64_t passed_below) {
  if (end_due_s_ > now_s || ends_collected_s_ >= now_s) return;
  ends_collected_s_ = now_s;
  end_due_s_ = UINT64_MAX;
  ended_.clear();
  for (uint32_t i = 1; i < used_end_; i++) {
    const Segment& s = segments_[i];
    if (s.state != State::kSealed) continue;
    const bool has_ended = HasEndedLocked(i, now_s);
    if (s.stamp >= passed_below || (has_ended && !IsUnfilledLocked(i, passed_below)))
      end_due_s_ = std::min<uint64_t>(end_due_s_, uint64_t{now_s} + 1);
    else if (has_ended)
      ended_.push_back(i);
    else if (s.last_expiry.load(std::memory_order_relaxed) != 0)
      NoteEndLocked(i);
  }
}

uint32_t ObjectLog::TakeEndedLocked(uint32_t now_s, uint64_t passed_below) {
  CollectEndedLocked(now_s, passed_below);
  while (!ended_.empty()) {
    const uint32_t segment = ended_.back();
    ended_.pop_back();
    const Segment& s = segments_[segment];
    if (s.state != State::kSealed) continue;
    if (s.stamp < passed_below && HasEndedLocked(segment, now_s) &&
        IsUnfilledLocked(segment, passed_below))
      return segment;
    NoteEndLocked(segment);  // it was used again since, or this caller's clock is behind
  }
  return 0;
}

struct ObjectLog::Survey {
  uint32_t now_s = 0;
  uint64_t passed_below = 0;
  uint32_t ended = 0;     // every object has ended
  uint32_t emptiest = 0;  // smallest share of live data
  double emptiest_share = 2;
  bool emptiest_by_ends = false;  // it would be fuller, had nothing in it ended
  bool counts_ends = false;
  uint32_t closed = 0;        // nobody fills it any more: it was closed to be cleaned
  bool closed_waits = false;  // one of those is not there yet
  bool any_unpassed = false;  // somebody may still be writing into one
};

void ObjectLog::RememberLocked(uint32_t segment) {
  const auto end = candidates_.begin() + candidate_count_;
  if (candidate_count_ == kCandidatesMax || std::find(candidates_.begin(), end, segment) != end)
    return;
  candidates_[candidate_count_++] = segment;
}

void ObjectLog::LookAtLocked(uint32_t segment, Survey* survey) {
  const Segment& s = segments_[segment];
  if (s.state != State::kSealed || segment == survey->emptiest) return;
  const bool was_closed = filling_ && s.group == 0 && PlacesOf(segment) == Places::kClosed;
  if (s.stamp >= survey->passed_below) {
    survey->any_unpassed = true;
    if (was_closed) {
      survey->closed_waits = true;
      RememberLocked(segment);
    }
    return;
  }
  if (HasEndedLocked(segment, survey->now_s)) {
    if (IsUnfilledLocked(segment, survey->passed_below))
      survey->ended = segment;
    else
      survey->any_unpassed = true;
  }
  const uint32_t live = s.live_units.load();  // NoteMayClean
  // Where nothing is evicted, whoever finds no room seals what is open, however little it holds.
  // What was carried there is packed as well as it can be: to carry it again gains nothing.
  const bool counts_unfilled = geometry_.keeps_for_replacing && !s.is_run && !s.is_repacked;
  const uint64_t units = counts_unfilled ? EndOf(segment) : s.fill_units;
  double share = units == 0 ? 0 : static_cast<double>(live) / static_cast<double>(units);
  // How much has ended is not known; a copy holds none of it, so each end is met here once at most.
  const double share_to_clean = static_cast<double>(kCleanPercentNoEvict) / 100;
  const bool by_ends =
      share > share_to_clean && survey->counts_ends && HasEndedInPartLocked(segment, survey->now_s);
  if (by_ends) share = share_to_clean;
  if (was_closed && share * 100 <= kCleanPercent) survey->closed = segment;
  const bool is_emptiest = share < survey->emptiest_share;
  if (std::max(share, survey->emptiest_share) * 100 <= kCleanPercent)
    RememberLocked(is_emptiest ? survey->emptiest : segment);  // the second best
  if (!is_emptiest) return;
  survey->emptiest_share = share;
  survey->emptiest_by_ends = by_ends;
  survey->emptiest = segment;
}

// Looks at the oldest, a window and the candidates. `whole`: goes on, at all if need be, until it
// has found one that is worth cleaning.
ObjectLog::Survey ObjectLog::SurveyLocked(uint32_t now_s, uint64_t passed_below, bool whole) {
  Survey survey;
  survey.now_s = now_s;
  survey.passed_below = passed_below;
  survey.counts_ends = ends_allowed_ > 0;
  const std::array<uint32_t, kCandidatesMax> remembered = candidates_;
  const uint32_t remembered_count = std::exchange(candidate_count_, 0);
  for (uint32_t i = 0; i < remembered_count; i++) LookAtLocked(remembered[i], &survey);
  for (const Queue& queue : queues_) {
    uint32_t segment = queue.oldest;
    for (uint32_t i = 0; i < kOldest && segment != 0; i++, segment = segments_[segment].newer)
      LookAtLocked(segment, &survey);
  }
  const uint32_t count = used_end_ - 1;
  for (uint32_t looked = 0; looked < count; looked++) {
    const bool is_found = survey.ended != 0 || survey.emptiest_share * 100 <= kCleanPercent;
    if (looked % kWindow == 0 && looked != 0 && (!whole || is_found)) break;
    if (survey_next_ >= used_end_) survey_next_ = 1;
    LookAtLocked(survey_next_++, &survey);
  }
  return survey;
}

// The oldest whose writers have left, but for `spared`; 0: there is none among the first.
uint32_t ObjectLog::OldestLocked(Generation generation, uint64_t passed_below,
                                 uint32_t spared) const {
  uint32_t segment = queues_[static_cast<uint32_t>(generation)].oldest;
  for (uint32_t i = 0; i < kWindow && segment != 0; i++) {
    if (segments_[segment].stamp < passed_below && segment != spared) return segment;
    segment = segments_[segment].newer;
  }
  return 0;
}

Victim ObjectLog::ClaimLocked(uint32_t segment, VictimKind kind, bool has_ended_in_part) {
  UnlinkLocked(segment);
  evicting_++;
  PublishCountsLocked();
  Segment& s = segments_[segment];
  s.state = State::kEvicting;
  SetPlacesLocked(segment, Places::kClosed);
  Victim victim;
  victim.kind = kind;
  victim.segment = segment;
  victim.generation = s.generation.load();
  victim.fill_units = s.fill_units;
  victim.live_units = s.live_units.load(std::memory_order_relaxed);
  victim.is_run = s.is_run;
  victim.has_ended_in_part = has_ended_in_part;
  if (has_ended_in_part) ends_allowed_ -= victim.live_units;
  return victim;
}

// Whether nobody fills it any more.
bool ObjectLog::IsUnfilledLocked(uint32_t segment, uint64_t passed_below) const {
  return filling_ ? PlacesOf(segment) != Places::kFillable : filling_ended_ < passed_below;
}

// From now on nobody begins to fill it, unless enough are closed.
void ObjectLog::CloseLocked(uint32_t segment) {
  Segment& s = segments_[segment];
  if (PlacesOf(segment) != Places::kFillable || closed_ >= kClosedMax) return;
  SetPlacesLocked(segment, Places::kClosed);
  s.stamp = epochs_->Retire();
  closed_++;
  RememberLocked(segment);
}

// False: somebody may still be filling.
bool ObjectLog::EndFillingLocked() {
  if (filling_) {
    filling_.store(false, std::memory_order_seq_cst);
    filling_ended_ = epochs_->Retire();
    cleaned_in_row_ = 0;
    closed_ = 0;
  }
  return epochs_->Passed(filling_ended_);  // now: whoever came since the survey may fill, too
}

// While live objects are evicted nothing is filled. What is being emptied stays closed.
void ObjectLog::NoteCleaningLocked() {
  if (!may_fill_ || filling_ || ++cleaned_in_row_ < std::max(kCleanedToFill, sealed_ / 4)) return;
  if (flush_floor_.load() == 0) filling_ = true;
}

void ObjectLog::AllowEndsLocked(uint32_t now_s) {
  if (now_s <= ends_allowed_s_) return;  // or this caller's clock is behind
  ends_allowed_s_ = now_s;
  ends_allowed_ = EndsAllowedMax();
}

// Where a twentieth is gained, as with others that are cleaned, there is no end to it.
void ObjectLog::NoteCleaned(const Victim& victim, uint64_t copied_units) {
  constexpr int64_t kLivePerGained = 100 / (100 - kCleanPercentNoEvict);
  const int64_t gained = int64_t{victim.live_units} - static_cast<int64_t>(copied_units);
  base::MutexLock lock(&mutex_);
  ends_allowed_ += kLivePerGained * std::max<int64_t>(gained, 0);
  ends_allowed_ = std::min(ends_allowed_, EndsAllowedMax());
}

Victim ObjectLog::PickVictim(uint32_t now_s, bool evict, bool only_ended, uint32_t spared) {
  base::MutexLock lock(&mutex_);
  const uint64_t passed_below = epochs_->Oldest();
  if (const uint32_t ended = TakeEndedLocked(now_s, passed_below); ended != 0)
    return ClaimLocked(ended, VictimKind::kDrop);
  Victim none;
  none.pending = evicting_ != 0;
  if (only_ended) return none;
  // Before filling ends because something live must go, all are looked at.
  const bool whole = !evict || filling_ || evicted_since_whole_ >= kEvictedPerRound;
  const bool remembers = geometry_.keeps_for_replacing && !evict;
  if (remembers && none_to_clean_s_ == now_s && !may_clean_.load()) return none;
  if (remembers) may_clean_.store(false);
  none_to_clean_s_ = 0;
  AllowEndsLocked(now_s);
  const Survey survey = SurveyLocked(now_s, passed_below, whole);
  if (survey.ended != 0) return ClaimLocked(survey.ended, VictimKind::kDrop);
  if (survey.closed != 0) {
    closed_ -= std::min(closed_, 1u);
    return ClaimLocked(survey.closed, VictimKind::kClean);
  }
  const uint64_t limit = evict ? kCleanPercent : kCleanPercentNoEvict;
  if (survey.emptiest != 0 && survey.emptiest_share * 100 <= static_cast<double>(limit)) {
    if (IsUnfilledLocked(survey.emptiest, passed_below)) {
      const Victim victim =
          ClaimLocked(survey.emptiest, VictimKind::kClean, survey.emptiest_by_ends);
      NoteCleaningLocked();  // it is closed now
      return victim;
    }
    if (filling_) CloseLocked(survey.emptiest);
    none.pending = true;
    return none;
  }
  none.pending = none.pending || survey.any_unpassed;
  // Remembered for the second alone: segments end by the clock as well.
  if (remembers && !survey.any_unpassed) none_to_clean_s_ = now_s;
  if (!evict) return none;
  if ((filling_ && survey.closed_waits) || (may_fill_ && !EndFillingLocked())) {
    none.pending = true;
    return none;
  }
  evicted_since_whole_ = whole ? 0 : evicted_since_whole_ + 1;
  const uint64_t total = queues_[0].units + queues_[1].units;
  const bool young_is_due = queues_[0].units > YoungUnits(total);
  const Generation due = young_is_due ? Generation::kYoung : Generation::kMain;
  const Generation other = young_is_due ? Generation::kMain : Generation::kYoung;
  uint32_t segment = OldestLocked(due, passed_below, spared);
  if (segment == 0) segment = OldestLocked(other, passed_below, spared);
  if (segment != 0) {
    cleaned_in_row_ = 0;
    return ClaimLocked(segment, VictimKind::kEvict);
  }
  const bool is_sealed = spared != 0 && segments_[spared].state == State::kSealed;
  none.pending = none.pending || sealed_ > (is_sealed ? 1u : 0u);
  return none;
}

void ObjectLog::Retire(uint32_t segment) {
  base::MutexLock lock(&mutex_);
  Segment& s = segments_[segment];
  s.state = State::kRetired;
  SetPlacesLocked(segment, Places::kGone);
  s.stamp = epochs_->Retire();
  retired_.push_back(segment);
  retired_segments_ += s.run_segments;
  evicting_--;
  PublishCountsLocked();
  // When nothing that a flush emptied is left in the index, readers need not ask any more.
  if (IsFlushedLocked(segment) && --flushed_left_ == 0) EndFlushLocked();
}

void ObjectLog::Renew(uint32_t segment) {
  base::MutexLock lock(&mutex_);
  Segment& s = segments_[segment];
  s.generation = Generation::kMain;
  if (s.group == 0) SetPlacesLocked(segment, Places::kFillable);
  evicting_--;
  EnqueueLocked(segment);
  PublishCountsLocked();
}

// Whether what lives in the open segments of one generation and group would take fewer.
bool ObjectLog::RowShrinksLocked(std::span<const Open> row) const {
  uint64_t live = 0;
  uint64_t units = 0;
  for (const Open& open : row) {
    const auto segment = static_cast<uint32_t>(open.cursor.load() >> 32);
    if (segment == 0) continue;
    live += segments_[segment].live_units.load(std::memory_order_relaxed);
    units += EndOf(segment);
  }
  return live + segment_units_ <= units;
}

// Only where nothing live is evicted: elsewhere what has ended goes with the rest.
bool ObjectLog::HasEndedInPartLocked(uint32_t segment, uint32_t now_s) const {
  const Segment& s = segments_[segment];
  return geometry_.keeps_for_replacing && !s.is_run &&
         s.first_expiry.load(std::memory_order_relaxed) <= now_s;
}

bool ObjectLog::BringsRoomLocked(const Open& open, uint32_t now_s) const {
  const uint64_t cursor = open.cursor.load();
  const auto segment = static_cast<uint32_t>(cursor >> 32);
  if (segment == 0) return false;
  const uint64_t live = segments_[segment].live_units.load(std::memory_order_relaxed);
  const uint64_t used = std::max<uint64_t>(static_cast<uint32_t>(cursor), live);
  const uint64_t little = EndOf(segment) * (100 - kCleanPercentNoEvict);
  return HasEndedLocked(segment, now_s) || HasEndedInPartLocked(segment, now_s) ||
         (used - live) * 100 >= little;
}

bool ObjectLog::SealForRoom(uint32_t now_s) {
  base::MutexLock lock(&mutex_);
  const size_t rows = size_t{kGenerations} * geometry_.groups;
  const uint32_t sealed_before = sealed_;
  if (!geometry_.keeps_for_replacing) {
    SealAllLocked();
    return true;
  }
  for (size_t i = 0; i < rows; i++) {
    const std::span<Open> row(&open_[i * geometry_.lanes], geometry_.lanes);
    const bool shrinks = RowShrinksLocked(row);
    for (Open& open : row) {
      if (!shrinks && !BringsRoomLocked(open, now_s)) continue;
      segments_[open.cursor.load() >> 32].is_repacked = false;
      SealLocked(&open);
    }
  }
  return sealed_ != sealed_before;
}

// Nothing that a flush emptied is left.
void ObjectLog::EndFlushLocked() {
  flush_floor_.store(0);
  if (may_fill_) filling_ = true;
}

void ObjectLog::Flush() {
  base::MutexLock lock(&mutex_);
  SealAllLocked();
  EndFillingLocked();
  // Segments are opened under this lock, so whatever comes later has a base of at least this.
  flush_floor_.store(versions_.load(), std::memory_order_seq_cst);
  flushed_left_ = sealed_ + evicting_;
  if (flushed_left_ == 0) EndFlushLocked();
  end_due_s_ = 0;
  ends_collected_s_ = 0;
  NoteMayClean();
}

}  // namespace weft::cache
