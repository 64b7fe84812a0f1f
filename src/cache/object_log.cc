#include "cache/object_log.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace weft::cache {
namespace {

constexpr uint64_t kSegmentBytesMin = 64u << 10;
constexpr uint64_t kSegmentBytesMax = 1u << 20;
constexpr uint64_t kSegmentsWanted = 4096;
constexpr uint32_t kAddressFactor = 4;  // reserved addresses over the budget, for runs
// Of the budget, kept for what replaces. More than the twentieth that must be dead in a segment
// before it is cleaned (kCleanPercentNoEvict), so that whoever has used it up finds such a segment.
constexpr uint32_t kReplacingShare = 16;

// Segments that have addresses; the first is never used, for location 0 names no object.
uint32_t AddressedSegments(const LogGeometry& geometry) {
  const uint64_t wanted = 1 + uint64_t{kAddressFactor} * geometry.budget_segments;
  return static_cast<uint32_t>(std::min(wanted, kLogAddressesMax / geometry.segment_bytes));
}

uint32_t SegmentOfCursor(uint64_t cursor) { return static_cast<uint32_t>(cursor >> 32); }
uint32_t UnitOfCursor(uint64_t cursor) { return static_cast<uint32_t>(cursor); }

}  // namespace

LogGeometry GeometryFor(uint64_t memory_bytes, uint32_t lanes, uint32_t object_bytes_max) {
  LogGeometry geometry;
  geometry.segment_bytes = std::clamp(std::bit_floor(memory_bytes / kSegmentsWanted),
                                      kSegmentBytesMin, kSegmentBytesMax);
  // An object of the largest size must fit beside what is open, whatever the memory.
  const uint64_t largest = object_bytes_max + 8 * geometry.segment_bytes;
  geometry.budget_min = static_cast<uint32_t>(largest / geometry.segment_bytes) + 1;
  geometry.budget_segments =
      std::max(geometry.budget_min, static_cast<uint32_t>(memory_bytes / geometry.segment_bytes));
  geometry.groups = memory_bytes < (256u << 20) ? 4 : memory_bytes < (2048ull << 20) ? 8 : 16;
  // What is open is lost to eviction, so all that can be open is a sixteenth of the memory.
  const uint64_t lanes_max =
      std::max<uint64_t>(1, geometry.budget_segments / (16 * kGenerations * geometry.groups));
  geometry.lanes = static_cast<uint32_t>(std::clamp<uint64_t>(lanes, 1, lanes_max));
  return geometry;
}

ObjectLog::ObjectLog(const LogGeometry& geometry, Epochs* epochs)
    : geometry_(geometry),
      segment_units_(static_cast<uint32_t>(geometry.segment_bytes / kLocationUnitBytes)),
      segment_count_(AddressedSegments(geometry)),
      reserve_segments_(std::min(2 * geometry.lanes + 2, geometry.budget_segments / 8 + 1)),
      epochs_(epochs),
      open_(std::make_unique<Open[]>(size_t{kGenerations} * geometry.groups * geometry.lanes)),
      versions_a_segment_(segment_units_),
      budget_goal_(geometry.budget_segments),
      budget_segments_(geometry.budget_segments),
      free_backed_(segment_count_),
      free_bare_(segment_count_) {
  for (uint32_t i = 1; i < segment_count_; i++) free_bare_.Insert(i);
}

Result<std::unique_ptr<ObjectLog>> ObjectLog::Create(const LogGeometry& geometry, bool huge_pages,
                                                     Epochs* epochs, PageSource* source) {
  if (geometry.budget_segments > kLogBytesMax / geometry.segment_bytes)
    return Status(Code::kInvalidArgument, "a log holds at most 4 TiB: its locations have 40 bits");
  // The constructor is private so that no log exists without its pages.
  auto log = std::unique_ptr<ObjectLog>(new ObjectLog(geometry, epochs));  // owned at once
  Result<Pages> pages =
      source->Reserve(size_t{log->segment_count_} * geometry.segment_bytes, huge_pages);
  if (!pages) return pages.error();
  log->pages_ = std::move(pages.value());
  // Zeroes, which say that a segment is free: nothing is written for those that are never used.
  static_assert(static_cast<int>(State::kFree) == 0);
  Result<Pages> segments =
      SystemPages()->Reserve(size_t{log->segment_count_} * sizeof(Segment), false);
  if (!segments) return segments.error();
  log->segment_pages_ = std::move(segments.value());
  log->segments_ = reinterpret_cast<Segment*>(log->segment_pages_.data());
  Result<Pages> bases = source->Reserve(size_t{log->segment_count_} * sizeof(uint64_t), false);
  if (!bases) return bases.error();
  log->base_pages_ = std::move(bases.value());
  log->version_bases_ = reinterpret_cast<uint64_t*>(log->base_pages_.data());
  base::MutexLock lock(&log->mutex_);
  log->PublishCountsLocked();
  return log;
}

task::LogRef ObjectLog::Ref() const {
  task::LogRef ref{};
  ref.base = pages_.data();
  ref.version_bases = version_bases_;
  ref.flush_floor = flush_floor_.load(std::memory_order_seq_cst);
  ref.segment_shift = static_cast<uint32_t>(std::countr_zero(segment_units_));
  return ref;
}

uint32_t ObjectLog::GroupOf(uint32_t ttl_s) const {
  if (ttl_s == 0 || geometry_.groups == 1) return 0;
  // Equal steps of the logarithm up to about two months; the last group takes the rest.
  constexpr uint32_t kBits = 22;
  const uint32_t bits = std::min<uint32_t>(std::bit_width(ttl_s) - 1, kBits - 1);
  return 1 + bits * (geometry_.groups - 1) / kBits;
}

void ObjectLog::Count(uint32_t segment, uint32_t units, Expiry expiry) {
  Segment& s = segments_[segment];
  s.live_units.fetch_add(units, std::memory_order_relaxed);
  const uint32_t end = expiry == kNeverExpires ? kSomeNeverExpire : expiry;
  uint32_t last = s.last_expiry.load(std::memory_order_relaxed);
  while (last < end && !s.last_expiry.compare_exchange_weak(last, end)) {
  }
}

uint64_t ObjectLog::Append(uint32_t lane, Generation generation, uint32_t group, uint64_t bytes,
                           Expiry expiry, Room room) {
  WEFT_DCHECK(bytes % kLocationUnitBytes == 0);
  const uint64_t units = bytes / kLocationUnitBytes;
  if (units > segment_units_ / 2) return AppendRun(generation, group, units, expiry, room);
  // What is open may have been opened to replace: to fill it with what is new would use that up.
  if (room == Room::kNew && SegmentsAvailable() == 0 &&
      keeps_to_replace_.load(std::memory_order_relaxed))
    return 0;
  Open& open = OpenOf(lane % geometry_.lanes, generation, group);
  for (;;) {  // Ends: each round another writer took units, or a new segment was opened.
    uint64_t cursor = open.cursor.load(std::memory_order_acquire);
    const uint32_t segment = SegmentOfCursor(cursor);
    const uint32_t unit = UnitOfCursor(cursor);
    if (segment == 0 || unit + units > segment_units_) {
      if (!OpenNext(&open, generation, group, cursor, room)) return 0;
      continue;
    }
    if (!open.cursor.compare_exchange_weak(cursor, cursor + units)) continue;
    Count(segment, static_cast<uint32_t>(units), expiry);
    return uint64_t{segment} * segment_units_ + unit;
  }
}

uint64_t ObjectLog::AppendRun(Generation generation, uint32_t group, uint64_t units, Expiry expiry,
                              Room room) {
  const uint32_t count = static_cast<uint32_t>((units + segment_units_ - 1) / segment_units_);
  base::MutexLock lock(&mutex_);
  const uint32_t first = TakeRunLocked(count, room);
  if (first == 0) return 0;
  BeginLocked(first, generation, group);
  Segment& s = segments_[first];
  s.run_segments = count;
  s.is_run = true;
  s.fill_units = static_cast<uint32_t>(units);
  for (uint32_t i = 1; i < count; i++) segments_[first + i].state = State::kRunTail;
  Count(first, s.fill_units, expiry);
  s.stamp = epochs_->Retire();
  EnqueueLocked(first);
  return uint64_t{first} * segment_units_;
}

void ObjectLog::NoteShown(uint64_t version) {
  uint64_t shown = shown_.load(std::memory_order_relaxed);
  if (version <= shown || version >= versions_.load(std::memory_order_relaxed)) return;
  while (shown < version && !shown_.compare_exchange_weak(shown, version)) {
  }
}

bool ObjectLog::WouldRise(uint32_t lane, uint32_t group) const {
  const uint64_t shown = shown_.load(std::memory_order_relaxed);
  if (shown == 0) return true;
  const Open& open = OpenOf(lane % geometry_.lanes, Generation::kYoung, group);
  const uint64_t cursor = open.cursor.load(std::memory_order_relaxed);
  // A segment that is opened next has the greatest base of all.
  if (SegmentOfCursor(cursor) == 0) return true;
  const uint64_t base = std::atomic_ref<uint64_t>(version_bases_[SegmentOfCursor(cursor)])
                            .load(std::memory_order_relaxed);
  return base + UnitOfCursor(cursor) > shown;
}

void ObjectLog::Release(uint64_t location, uint64_t bytes) {
  segments_[location / segment_units_].live_units.fetch_sub(
      static_cast<uint32_t>(bytes / kLocationUnitBytes), std::memory_order_relaxed);
}

bool ObjectLog::OpenNext(Open* open, Generation generation, uint32_t group, uint64_t seen,
                         Room room) {
  base::MutexLock lock(&mutex_);
  // Another writer of the lane may have been here first.
  if (SegmentOfCursor(open->cursor.load()) != SegmentOfCursor(seen)) return true;
  const uint32_t next = TakeLocked(room);
  if (next == 0) return false;
  SealLocked(open);
  BeginLocked(next, generation, group);
  segments_[next].state = State::kOpen;
  open->cursor.store(uint64_t{next} << 32, std::memory_order_release);
  return true;
}

void ObjectLog::SealLocked(Open* open) {
  const uint64_t cursor = open->cursor.exchange(0);
  const uint32_t segment = SegmentOfCursor(cursor);
  if (segment == 0) return;
  Segment& s = segments_[segment];
  s.fill_units = UnitOfCursor(cursor);
  // Whoever reserved here and has not written yet is in an epoch up to this stamp.
  s.stamp = epochs_->Retire();
  EnqueueLocked(segment);
}

void ObjectLog::SealAll() {
  base::MutexLock lock(&mutex_);
  SealAllLocked();
}

void ObjectLog::SealAllLocked() {
  const size_t count = size_t{kGenerations} * geometry_.groups * geometry_.lanes;
  for (size_t i = 0; i < count; i++) SealLocked(&open_[i]);
}

void ObjectLog::BeginLocked(uint32_t segment, Generation generation, uint32_t group) {
  Segment& s = segments_[segment];
  s.live_units.store(0, std::memory_order_relaxed);
  s.last_expiry.store(0, std::memory_order_relaxed);
  s.generation = generation;
  s.group = group;
  s.fill_units = 0;
  s.run_segments = 1;
  s.is_run = false;
  const uint64_t base = versions_.fetch_add(versions_a_segment_, std::memory_order_relaxed);
  std::atomic_ref<uint64_t>(version_bases_[segment]).store(base, std::memory_order_release);
  if (watched_) ListLocked(segment);
}

// Once, however often it begins before somebody looks.
void ObjectLog::ListLocked(uint32_t segment) {
  if (is_begun_[segment]) return;
  is_begun_[segment] = true;
  begun_.push_back(segment);
}

void ObjectLog::Watch() {
  base::MutexLock lock(&mutex_);
  watched_ = true;
  is_begun_.resize(segment_count_);
  for (uint32_t i = 1; i < segment_count_; i++) {
    const State state = segments_[i].state;
    if (state != State::kFree && state != State::kRunTail) ListLocked(i);
  }
}

void ObjectLog::LookAt(std::vector<Watched>* watched) {
  base::MutexLock lock(&mutex_);
  size_t kept = 0;
  for (const Watched& each : *watched) {
    if (is_begun_.empty() || !is_begun_[each.segment]) (*watched)[kept++] = each;
  }
  watched->resize(kept);
  for (const uint32_t segment : begun_) {
    watched->push_back({segment, 0, 0, true, true});
    is_begun_[segment] = false;
  }
  begun_.clear();
  UpdateLocked(*watched);
}

void ObjectLog::LookAgain(std::span<Watched> watched) {
  base::MutexLock lock(&mutex_);
  UpdateLocked(watched);
}

void ObjectLog::UpdateLocked(std::span<Watched> watched) {
  const size_t count = size_t{kGenerations} * geometry_.groups * geometry_.lanes;
  for (size_t i = 0; i < count; i++) {
    const uint64_t cursor = open_[i].cursor.load(std::memory_order_acquire);
    if (cursor != 0) segments_[SegmentOfCursor(cursor)].fill_units = UnitOfCursor(cursor);
  }
  for (Watched& each : watched) {
    const Segment& s = segments_[each.segment];
    each.base = version_bases_[each.segment];
    each.fill_units = s.fill_units;
    each.growing = s.state == State::kOpen;
    each.in_use =
        s.state == State::kOpen || s.state == State::kSealed || s.state == State::kEvicting;
  }
}

uint32_t ObjectLog::AvailableLocked() const {
  const uint32_t fresh =
      budget_segments_ > backed_segments_ ? budget_segments_ - backed_segments_ : 0;
  return free_backed_.count() + std::min(fresh, free_bare_.count());
}

// Segments that an append must leave free.
uint32_t ObjectLog::KeptFrom(Room room) const {
  switch (room) {
    case Room::kCarrying: return 0;
    case Room::kReplacing: return reserve_segments_;
    case Room::kNew: break;
  }
  return reserve_segments_ + KeptToReplace(budget_segments_);
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
  over_budget_.store(backed_segments_ + KeptToReplace(budget_goal_) > budget_goal_,
                     std::memory_order_relaxed);
  in_use_max_.store(std::max(budget_segments_, backed_segments_), std::memory_order_relaxed);
  retired_count_.store(static_cast<uint32_t>(retired_.size()), std::memory_order_relaxed);
  evicting_count_.store(evicting_, std::memory_order_relaxed);
}

uint32_t ObjectLog::SegmentsNeeded(uint64_t bytes) const {
  const uint64_t units = bytes / kLocationUnitBytes;
  if (units <= segment_units_ / 2) return 1;
  return static_cast<uint32_t>((units + segment_units_ - 1) / segment_units_);
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
  BackLocked(segment);
  GiveBackLocked();
  if (room != Room::kCarrying) CountTakenLocked(1);
  PublishCountsLocked();
  return segment;
}

// Takes a free segment out of its set, with memory behind it.
void ObjectLog::BackLocked(uint32_t segment) {
  used_end_ = std::max(used_end_, segment + 1);
  if (free_backed_.Contains(segment)) {
    free_backed_.Erase(segment);
    return;
  }
  free_bare_.Erase(segment);
  backed_segments_++;
}

uint32_t ObjectLog::TakeRunLocked(uint32_t count, Room room) {
  if (count == 1) return TakeLocked(room);
  if (AvailableLocked() < count + KeptFrom(room)) return 0;
  const uint32_t first = FindRunLocked(count);
  if (first == 0) return 0;
  for (uint32_t i = first; i < first + count; i++) BackLocked(i);
  GiveBackLocked();
  CountTakenLocked(count);
  PublishCountsLocked();
  return first;
}

// The highest free run of `count` segments, or 0.
uint32_t ObjectLog::FindRunLocked(uint32_t count) const {
  uint32_t length = 0;
  for (uint32_t i = segment_count_ - 1; i > 0; i--) {
    length = free_bare_.Contains(i) || free_backed_.Contains(i) ? length + 1 : 0;
    if (length == count) return i;
  }
  return 0;
}

bool ObjectLog::HasNeighbours(uint32_t count) const {
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
  // On the way down to its goal the budget follows what is resident.
  budget_segments_ = std::max(budget_goal_, std::min(budget_segments_, backed_segments_));
}

// Takes the budget a segment nearer to its goal if that leaves the reserve, without which eviction
// would drop what it means to carry forward, and `kept` segments beside it.
void ObjectLog::LowerBudgetLocked(uint32_t kept) {
  if (budget_segments_ <= budget_goal_ || AvailableLocked() <= reserve_segments_ + kept) return;
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
  for (uint32_t i = segment; i < segment + count; i++) {
    segments_[i].state = State::kFree;
    free_backed_.Insert(i);
    LowerBudgetLocked(kept_segments_ + 1);
  }
  GiveBackLocked();
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
  if (segments == budget_goal_) return;
  budget_goal_ = segments;
  // What is free beyond the reserve goes at once; what is in use stays until it falls free.
  const uint32_t free = free_backed_.count();
  const uint32_t spare = free > reserve_segments_ ? free - reserve_segments_ : 0;
  budget_segments_ = std::max(segments, std::min(budget_segments_, backed_segments_ - spare));
  kept_segments_ = 0;
  GiveBackLocked();
  PublishCountsLocked();
}

void ObjectLog::GiveBackOne() {
  base::MutexLock lock(&mutex_);
  LowerBudgetLocked(0);
  PublishCountsLocked();
}

uint64_t ObjectLog::live_bytes() const {
  uint64_t units = 0;
  for (uint32_t i = 1; i < segment_count_; i++)
    units += segments_[i].live_units.load(std::memory_order_relaxed);
  return units * kLocationUnitBytes;
}

uint64_t ObjectLog::resident_bytes() const {
  base::MutexLock lock(&mutex_);
  return uint64_t{backed_segments_} * geometry_.segment_bytes;
}

}  // namespace weft::cache
