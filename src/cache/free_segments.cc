// Which segments are free, which of them hold memory, and who may have them.
// The rules: docs/design/0002-memory.md, "What -m means"; docs/design/0020-room-in-the-log.md.
#include <algorithm>

#include "base/clock.h"
#include "cache/object_log.h"

namespace weft::cache {
namespace {

// Of the budget, kept for what replaces. More than the twentieth that must be dead in a segment
// before it is cleaned (kCleanPercentNoEvict), so that whoever has used it up finds such a segment.
constexpr uint32_t kReplacingShare = 16;
// Of the budget, the addresses beyond it that are in use at first, for runs.
constexpr uint32_t kSpareAddressShare = 4;

}  // namespace

uint32_t ObjectLog::AvailableLocked() const {
  const uint32_t fresh =
      budget_segments_ > backed_segments_ ? budget_segments_ - backed_segments_ : 0;
  return free_backed_.count() + std::min(fresh, free_bare_.count());
}

// Kept for carrying: half of the longest victim, for what others have emptied comes back meanwhile.
uint32_t ObjectLog::ReserveLocked() const {
  return std::max(reserve_segments_, std::min(longest_run_ / 2, budget_segments_ / 8) + 1);
}

// Segments that an append must leave free.
uint32_t ObjectLog::KeptFrom(Room room) const {
  switch (room) {
    case Room::kCarrying: return 0;
    case Room::kReplacing: return ReserveLocked();
    case Room::kNew: break;
  }
  return ReserveLocked() + KeptToReplace(budget_segments_);
}

// At the least budget nothing is kept for replacing: the largest object must fit.
uint32_t ObjectLog::KeptToReplace(uint32_t budget) const {
  if (!geometry_.keeps_for_replacing || budget <= geometry_.budget_min) return 0;
  return std::min(budget - geometry_.budget_min, budget / kReplacingShare + 1);
}

void ObjectLog::PublishCountsLocked() {
  const uint32_t available = AvailableLocked();
  const auto beyond = [available](uint32_t kept) {
    return available > kept ? available - kept : 0;
  };
  available_.store(beyond(KeptFrom(Room::kNew)), std::memory_order_relaxed);
  available_to_replace_.store(beyond(KeptFrom(Room::kReplacing)), std::memory_order_relaxed);
  keeps_to_replace_.store(KeptToReplace(budget_segments_) != 0, std::memory_order_relaxed);
  // What is kept for replacing counts as used: no index may grow into it.
  over_budget_.store(
      std::max(backed_segments_ + KeptToReplace(budget_goal_), budget_segments_) > budget_goal_,
      std::memory_order_relaxed);
  in_use_max_.store(std::max(budget_segments_, backed_segments_), std::memory_order_relaxed);
  retired_count_.store(retired_segments_, std::memory_order_relaxed);
  free_soon_.store(available + retired_segments_, std::memory_order_relaxed);
  evicting_count_.store(evicting_, std::memory_order_relaxed);
}

uint32_t ObjectLog::SegmentsNeeded(uint64_t bytes) const {
  const uint64_t segment_bytes = geometry_.segment_bytes;
  return static_cast<uint32_t>(std::max<uint64_t>(1, (bytes + segment_bytes - 1) / segment_bytes));
}

uint32_t ObjectLog::TakeLocked(Room room) {
  if (AvailableLocked() <= KeptFrom(room)) return 0;
  // Single segments stay at the low end, so that neighbours stay free at the other: memory that
  // is left up there by a run goes back to the system rather than to them.
  const bool is_low =
      free_backed_.count() != 0 && free_backed_.Lowest() <= geometry_.budget_segments;
  const bool take_bare =
      free_bare_.count() != 0 && !is_low &&
      (free_backed_.count() == 0 || free_bare_.Lowest() <= geometry_.budget_segments);
  const uint32_t segment = take_bare ? free_bare_.Lowest() : free_backed_.Lowest();
  if (!BackLocked(segment)) return 0;
  GiveBackLocked();
  if (room != Room::kCarrying) CountTakenLocked(1);
  PublishCountsLocked();
  return segment;
}

// Has memory behind a free segment that has none. False: a file's file system is full.
bool ObjectLog::AskForPagesLocked(uint32_t segment) {
  if (pages_.Back(uint64_t{segment} * geometry_.segment_bytes, geometry_.segment_bytes)) {
    free_bare_.Erase(segment);
    backed_segments_++;
    return true;
  }
  shortage_.refused.fetch_add(1, std::memory_order_relaxed);
  shortage_.asked_s = base::NowSeconds();
  return false;
}

// Takes a free segment out of its set, with memory behind it. False: there is none, for a file's
// file system is full. Then the log makes do with what it has, until there is room again or its
// budget is set. Below budget_min that may be too little for the largest objects, or for any: to
// count on segments that cannot be had would refuse the others, too.
bool ObjectLog::BackLocked(uint32_t segment) {
  if (free_backed_.Contains(segment)) {
    free_backed_.Erase(segment);
  } else if (!AskForPagesLocked(segment)) {
    if (!shortage_.lasts) shortage_.budget = budget_goal_;
    shortage_.lasts = true;
    budget_segments_ = backed_segments_;
    budget_goal_ = std::min(shortage_.budget, backed_segments_);
    PublishCountsLocked();
    return false;
  }
  used_end_ = std::max(used_end_, segment + 1);
  return true;
}

void ObjectLog::AskForPages(uint32_t now_s) {
  base::MutexLock lock(&mutex_);
  if (!shortage_.lasts || now_s <= shortage_.asked_s) return;
  // One on the way to a lower budget needs no more than it has.
  const bool needs = shortage_.budget > backed_segments_ && free_bare_.count() != 0;
  if (needs) {
    const uint32_t segment = free_bare_.Lowest();
    if (!AskForPagesLocked(segment)) return;
    free_backed_.Insert(segment);
    used_end_ = std::max(used_end_, segment + 1);
  }
  shortage_.lasts = false;
  budget_goal_ = shortage_.budget;
  budget_segments_ = std::max(budget_segments_, budget_goal_);
  PublishCountsLocked();
}

// Takes those free segments. `first` 0: there are none. Returns the first, or 0.
uint32_t ObjectLog::TakeRunLocked(uint32_t first, uint32_t count, Room room) {
  if (first == 0 || AvailableLocked() < count + KeptFrom(room)) return 0;
  for (uint32_t i = first; i < first + count; i++) {
    if (BackLocked(i)) continue;
    while (i-- > first) free_backed_.Insert(i);
    PublishCountsLocked();
    return 0;
  }
  GiveBackLocked();
  if (room != Room::kCarrying) CountTakenLocked(count);
  PublishCountsLocked();
  return first;
}

bool ObjectLog::IsFreeLocked(uint32_t segment) const {
  return free_bare_.Contains(segment) || free_backed_.Contains(segment);
}

// Addresses of a budget of `segments`, those of its largest object included, are in use from now
// on.
void ObjectLog::ReachLocked(uint64_t segments) {
  const uint64_t spare = std::max<uint64_t>(segments / kSpareAddressShare, geometry_.budget_min);
  reach_ = static_cast<uint32_t>(
      std::clamp<uint64_t>(1 + segments + spare, reach_.load(), segment_count_));
}

// The first of `count` free neighbours, or 0: such as hold memory rather than others, high ones
// rather than low ones, and those that an open segment may be extended by last of all.
uint32_t ObjectLog::FindRunInReachLocked(uint32_t count) const {
  const uint32_t apart = FindRunInReachLocked(count, false);
  return apart != 0 || growing_into_.count() == 0 ? apart : FindRunInReachLocked(count, true);
}

// The same, but where there are none more addresses come into use.
uint32_t ObjectLog::FindRunLocked(uint32_t count) {
  for (;;) {  // Ends: the reach grows each time.
    const uint32_t run = FindRunInReachLocked(count);
    if (run != 0 || reach_ == segment_count_) return run;
    reach_ = std::min(reach_ + count, segment_count_);
  }
}

bool ObjectLog::MayTakeLocked(uint32_t segment, bool any) const {
  return segment < reach_.load(std::memory_order_relaxed) && IsFreeLocked(segment) &&
         (any || !growing_into_.Contains(segment));
}

uint32_t ObjectLog::FindRunInReachLocked(uint32_t count, bool any) const {
  uint32_t best = 0;
  uint32_t most_backed = 0;
  for (uint32_t i = free_backed_.HighestBelow(reach_); i != 0 && most_backed < count;
       i = free_backed_.HighestBelow(i)) {
    uint32_t length = 0;
    uint32_t backed = 0;
    for (; length < count && MayTakeLocked(i + length, any); length++)
      backed += free_backed_.Contains(i + length);
    if (length < count || backed <= most_backed) continue;
    best = i;
    most_backed = backed;
  }
  uint32_t length = 0;
  for (uint32_t i = reach_ - 1; i > 0 && best == 0; i--) {
    length = MayTakeLocked(i, any) ? length + 1 : 0;
    if (length == count) best = i;
  }
  return best;
}

bool ObjectLog::HasNeighbours(uint32_t count) {
  if (count == 1) return true;
  base::MutexLock lock(&mutex_);
  return FindRunLocked(count) != 0;
}

// Gives free segments' memory back to the system while more are backed than the budget allows.
void ObjectLog::GiveBackLocked() {
  while (backed_segments_ > budget_segments_ && free_backed_.count() != 0) {
    const uint32_t segment = free_backed_.Lowest();
    pages_.Release(uint64_t{segment} * geometry_.segment_bytes, geometry_.segment_bytes);
    free_backed_.Erase(segment);
    free_bare_.Insert(segment);
    backed_segments_--;
  }
  // On the way down to its goal the budget follows what is resident, and the reserve, of which some
  // may never have held memory.
  const uint32_t needed = std::max(backed_segments_, UsedLocked() + ReserveLocked());
  budget_segments_ = std::max(budget_goal_, std::min(budget_segments_, needed));
}

// Takes the budget a segment nearer to its goal if that leaves the reserve, without which eviction
// would drop what it means to carry forward, and `kept` segments beside it.
void ObjectLog::LowerBudgetLocked(uint32_t kept) {
  if (budget_segments_ <= budget_goal_ || AvailableLocked() <= ReserveLocked() + kept) return;
  budget_segments_--;
  GiveBackLocked();
  kept_segments_ = kept;
}

// Stores took so many of the segments that were kept for them.
void ObjectLog::CountTakenLocked(uint32_t count) {
  kept_segments_ -= std::min(kept_segments_, count);
}

void ObjectLog::FreeLocked(uint32_t segment) {
  const uint32_t count = segments_[segment].run_segments;
  retired_segments_ -= count;
  for (uint32_t i = segment; i < segment + count; i++) FreeOneLocked(i);
  GiveBackLocked();
}

void ObjectLog::FreeOneLocked(uint32_t segment) {
  Segment& s = segments_[segment];
  s.state = State::kFree;
  SetPlacesLocked(segment, Places::kGone);
  free_backed_.Insert(segment);
  LowerBudgetLocked(kept_segments_ + 1);
}

void ObjectLog::Reclaim() {
  base::MutexLock lock(&mutex_);
  if (retired_.empty()) return;
  const uint64_t oldest = epochs_->Oldest();
  while (!retired_.empty() && segments_[retired_.front()].stamp < oldest) {
    FreeLocked(retired_.front());
    retired_.pop_front();
  }
  PublishCountsLocked();
}

void ObjectLog::SetBudget(uint32_t segments) {
  base::MutexLock lock(&mutex_);
  if (segments == (shortage_.lasts ? shortage_.budget : budget_goal_)) return;
  shortage_.lasts = false;
  if (segments > std::max(budget_goal_, geometry_.budget_segments)) AskForHugePages(segments);
  budget_goal_ = segments;
  ReachLocked(segments);
  // What is free beyond the reserve goes at once; what is in use stays until it falls free.
  budget_segments_ = std::max(segments, std::min(budget_segments_, UsedLocked() + ReserveLocked()));
  kept_segments_ = 0;
  GiveBackLocked();
  PublishCountsLocked();
}

void ObjectLog::GiveBackOne() {
  base::MutexLock lock(&mutex_);
  LowerBudgetLocked(0);
  PublishCountsLocked();
}

}  // namespace weft::cache
