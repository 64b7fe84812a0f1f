#include "cache/object_log.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace weft::cache {
namespace {

// Of 64 MiB or more; of less it is so small that there are about a thousand.
constexpr uint64_t kSegmentBytesMin = 64u << 10;
constexpr uint64_t kSegmentsWantedOfLittle = 900;
constexpr uint64_t kSegmentBytesLeast = 16u << 10;
constexpr uint64_t kSegmentBytesMax = 1u << 20;
constexpr uint64_t kSegmentsWanted = 4096;
constexpr uint32_t kAddressFactor = 4;  // reserved addresses over the budget, for runs
constexpr uint32_t kEmptyShare = 32;    // of a segment, may be left empty at its end
constexpr uint32_t kRunMax = 16;        // segments that are filled as one
constexpr uint32_t kLargeShare = 16;    // of a segment: what is more is large

// Segments that have addresses; the first is never used, for location 0 names no object.
uint32_t AddressedSegments(const LogGeometry& geometry) {
  const uint64_t wanted = 1 + uint64_t{kAddressFactor} * geometry.budget_segments;
  return static_cast<uint32_t>(std::min(wanted, kLogAddressesMax / geometry.segment_bytes));
}

// How many segments `units` take.
uint32_t CeilSegments(uint64_t units, uint32_t segment_units) {
  return static_cast<uint32_t>((units + segment_units - 1) / segment_units);
}
// Whether what is left behind `units` in the last of their segments is little.
bool FillsWell(uint64_t units, uint32_t segment_units) {
  const uint64_t whole = uint64_t{CeilSegments(units, segment_units)} * segment_units;
  return (whole - units) * kEmptyShare <= whole;
}

// So many that what large objects have open is a quarter of the memory at most, if they have all
// lifetimes. With fewer they would lie alone, and the ends of their segments be lost. One where
// nothing is evicted: whoever cleans has to find room for all that lives in a victim.
uint32_t RunMax(const LogGeometry& geometry) {
  if (geometry.keeps_for_replacing) return 1;
  return std::clamp(geometry.budget_segments / (4 * kGenerations * geometry.groups), 1u, kRunMax);
}

// So many segments that objects of `units` fill them well, or that half of such an object is little
// beside them, up to `run_max`.
uint32_t WideFor(uint64_t units, uint32_t segment_units, uint32_t run_max) {
  const uint32_t wide = std::min(run_max, CeilSegments(units * kEmptyShare / 2, segment_units));
  for (uint64_t sum = units; CeilSegments(sum, segment_units) < wide; sum += units)
    if (FillsWell(sum, segment_units)) return CeilSegments(sum, segment_units);
  return wide;
}

uint32_t SegmentOfCursor(uint64_t cursor) { return static_cast<uint32_t>(cursor >> 32); }
uint32_t UnitOfCursor(uint64_t cursor) { return static_cast<uint32_t>(cursor); }

}  // namespace

LogGeometry GeometryFor(uint64_t memory_bytes, uint32_t lanes, uint32_t object_bytes_max) {
  LogGeometry geometry;
  const uint64_t least = std::clamp(std::bit_floor(memory_bytes / kSegmentsWantedOfLittle),
                                    kSegmentBytesLeast, kSegmentBytesMin);
  geometry.segment_bytes =
      std::clamp(std::bit_floor(memory_bytes / kSegmentsWanted), least, kSegmentBytesMax);
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
      segment_shift_(static_cast<uint32_t>(std::countr_zero(segment_units_))),
      segment_count_(AddressedSegments(geometry)),
      reserve_segments_(std::min(2 * geometry.lanes + 2, geometry.budget_segments / 8 + 1)),
      run_max_(RunMax(geometry)),
      epochs_(epochs),
      open_(std::make_unique<Open[]>(size_t{kGenerations} * geometry.groups * geometry.lanes)),
      versions_a_segment_(segment_units_),
      budget_goal_(geometry.budget_segments),
      budget_segments_(geometry.budget_segments),
      free_backed_(segment_count_),
      free_bare_(segment_count_),
      growing_into_(segment_count_) {
  for (uint32_t i = 1; i < segment_count_; i++) free_bare_.Insert(i);
}

Result<std::unique_ptr<ObjectLog>> ObjectLog::Create(const LogGeometry& geometry, bool huge_pages,
                                                     Epochs* epochs, PageSource* source,
                                                     PageSource* objects) {
  if (geometry.budget_segments > kLogBytesMax / geometry.segment_bytes)
    return Status(Code::kInvalidArgument, "a log holds at most 4 TiB: its locations have 40 bits");
  // The constructor is private so that no log exists without its pages.
  auto log = std::unique_ptr<ObjectLog>(new ObjectLog(geometry, epochs));  // owned at once
  Result<Pages> pages =
      (objects != nullptr ? objects : source)
          ->Reserve(size_t{log->segment_count_} * geometry.segment_bytes, huge_pages);
  if (!pages) return pages.error();
  log->pages_ = std::move(pages.value());
  log->huge_pages_ = huge_pages;
  log->AskForHugePages(geometry.budget_segments);
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
  static_assert(MarkOf(Places::kGone, Generation::kYoung) == 0);
  Result<Pages> marks = SystemPages()->Reserve(log->segment_count_, false);
  if (!marks) return marks.error();
  log->mark_pages_ = std::move(marks.value());
  log->marks_ = reinterpret_cast<std::atomic<uint8_t>*>(log->mark_pages_.data());
  base::MutexLock lock(&log->mutex_);
  log->ReachLocked(geometry.budget_segments);
  log->PublishCountsLocked();
  return log;
}

// A huge page is resident whole, though little of it is used. So only the low end has such, where
// single segments lie side by side, and neighbours at the other end have small ones.
void ObjectLog::AskForHugePages(uint32_t low_segments) {
  if (!huge_pages_) return;
  const uint64_t end = std::min<uint64_t>(uint64_t{low_segments} + 1, segment_count_);
  const uint64_t low_bytes = end * geometry_.segment_bytes / kHugePageBytes * kHugePageBytes;
  pages_.AskForHuge(0, low_bytes, true);
  pages_.AskForHuge(low_bytes, pages_.size() - low_bytes, false);
}

task::LogRef ObjectLog::Ref() const {
  task::LogRef ref{};
  ref.base = pages_.data();
  ref.version_bases = version_bases_;
  ref.flush_floor = flush_floor_.load(std::memory_order_seq_cst);
  ref.segment_shift = segment_shift_;
  return ref;
}

uint32_t ObjectLog::GroupOf(uint32_t ttl_s) const {
  if (ttl_s == 0 || geometry_.groups == 1) return 0;
  // Equal steps of the logarithm up to about two months; the last group takes the rest.
  constexpr uint32_t kBits = 22;
  const uint32_t bits = std::min<uint32_t>(std::bit_width(ttl_s) - 1, kBits - 1);
  return 1 + bits * (geometry_.groups - 1) / kBits;
}

// Large objects share a lane, so that few of the segments that they need are open.
uint32_t ObjectLog::LaneFor(uint32_t lane, uint64_t units) const {
  return units * kLargeShare > segment_units_ ? 0 : lane % geometry_.lanes;
}

void ObjectLog::Count(uint32_t segment, uint32_t units, Expiry expiry) {
  Segment& s = segments_[segment];
  s.live_units.fetch_add(units, std::memory_order_relaxed);
  const uint32_t end = expiry == kNeverExpires ? kSomeNeverExpire : expiry;
  uint32_t last = s.last_expiry.load(std::memory_order_relaxed);
  while (last < end && !s.last_expiry.compare_exchange_weak(last, end)) {
  }
  if (!geometry_.keeps_for_replacing) return;
  uint32_t first = s.first_expiry.load(std::memory_order_relaxed);
  while (end < first && !s.first_expiry.compare_exchange_weak(first, end)) {
  }
}

uint64_t ObjectLog::Append(uint32_t lane, Generation generation, uint32_t group, uint64_t bytes,
                           Expiry expiry, Room room) {
  WEFT_DCHECK(bytes % kLocationUnitBytes == 0);
  const uint64_t units = bytes / kLocationUnitBytes;
  // Alone where nothing is lost by it, or where it is too large to be moved: what lies alone stays
  // where it is.
  const uint32_t count = CeilSegments(units, segment_units_);
  if (units > segment_units_ / 2 && (count > run_max_ / 2 || FillsWell(units, segment_units_) ||
                                     watched_.load(std::memory_order_relaxed)))
    return AppendRun(generation, group, units, expiry, room);
  // What is open may have been opened to replace: to fill it with what is new would use that up.
  if (room == Room::kNew && SegmentsAvailable() == 0 &&
      keeps_to_replace_.load(std::memory_order_relaxed))
    return 0;
  Open& open = OpenOf(LaneFor(lane, units), generation, group);
  for (;;) {  // Ends: each round another writer took units, or a new segment was opened.
    uint64_t cursor = open.cursor.load(std::memory_order_acquire);
    const uint32_t segment = SegmentOfCursor(cursor);
    const uint32_t unit = UnitOfCursor(cursor);
    if (segment == 0 || unit + units > EndOf(segment)) {
      if (!MakeOpen(&open, generation, group, units, room)) return 0;
      continue;
    }
    if (!open.cursor.compare_exchange_weak(cursor, cursor + units)) continue;
    Count(segment, static_cast<uint32_t>(units), expiry);
    return uint64_t{segment} * segment_units_ + unit;
  }
}

uint64_t ObjectLog::AppendRun(Generation generation, uint32_t group, uint64_t units, Expiry expiry,
                              Room room) {
  base::MutexLock lock(&mutex_);
  const uint32_t count = CeilSegments(units, segment_units_);
  const uint32_t first =
      count == 1 ? TakeLocked(room) : TakeRunLocked(FindRunLocked(count), count, room);
  if (first == 0) return 0;
  BeginLocked(first, generation, group);
  for (uint32_t i = 1; i < count; i++) segments_[first + i].state = State::kRunTail;
  Segment& s = segments_[first];
  s.run_segments = count;
  s.is_run = true;
  s.fill_units = static_cast<uint32_t>(units);
  Count(first, s.fill_units, expiry);
  s.stamp = epochs_->Retire();
  EnqueueLocked(first);
  return uint64_t{first} * segment_units_;
}

bool ObjectLog::NoteShown(uint64_t version) {
  uint64_t shown = shown_.load(std::memory_order_acquire);
  if (version <= shown || version >= versions_.load(std::memory_order_relaxed)) return false;
  while (shown < version && !shown_.compare_exchange_weak(shown, version)) {
  }
  return true;
}

bool ObjectLog::WouldRise(uint32_t lane, Generation generation, uint32_t group, uint64_t bytes,
                          uint64_t floor) const {
  const uint64_t shown = shown_.load(std::memory_order_relaxed);
  if (shown == 0) return true;
  const Open& open = OpenOf(LaneFor(lane, bytes / kLocationUnitBytes), generation, group);
  const uint64_t cursor = open.cursor.load(std::memory_order_acquire);
  const uint32_t segment = SegmentOfCursor(cursor);
  // A segment that is opened next has the greatest base of all.
  if (segment == 0 || UnitOfCursor(cursor) >= EndOf(segment)) return true;
  const uint32_t at = segment + UnitOfCursor(cursor) / segment_units_;
  const uint64_t base =
      std::atomic_ref<uint64_t>(version_bases_[at]).load(std::memory_order_relaxed);
  // Others may append before it: then it lies further behind, or in a segment with a greater base.
  return base + UnitOfCursor(cursor) % segment_units_ > std::max(shown, floor);
}

void ObjectLog::AllowFilling() {
  base::MutexLock lock(&mutex_);
  WEFT_CHECK(!geometry_.keeps_for_replacing && !watched_);
  // With one group, segments may hold what ends by itself, and end with it.
  may_fill_ = geometry_.groups > 1;
  filling_ = may_fill_;
}

bool ObjectLog::IsHole(uint64_t location, uint64_t version) const {
  const auto segment = static_cast<uint32_t>(location >> segment_shift_);
  return PlacesOf(segment) >= Places::kClosed && VersionOfPlace(location) == version;
}

void ObjectLog::Release(uint64_t location, uint64_t bytes) {
  segments_[SegmentOf(location)].live_units.fetch_sub(
      static_cast<uint32_t>(bytes / kLocationUnitBytes), std::memory_order_seq_cst);
  NoteMayClean();
}

// Of this and a look at all segments (PickVictim) one sees the other, for all four accesses are
// sequentially consistent. Mostly it is noted already, and nothing is written to a shared line.
void ObjectLog::NoteMayClean() {
  if (geometry_.keeps_for_replacing && !may_clean_.load()) may_clean_.store(true);
}

// Makes room for `units` in what is open: by more neighbours, or by the next segment.
bool ObjectLog::MakeOpen(Open* open, Generation generation, uint32_t group, uint64_t units,
                         Room room) {
  base::MutexLock lock(&mutex_);
  const uint64_t cursor = open->cursor.load();
  const uint32_t segment = SegmentOfCursor(cursor);
  // Another writer of the lane may have been here first.
  if (segment != 0 && UnitOfCursor(cursor) + units <= EndOf(segment)) return true;
  if (segment != 0 && ExtendLocked(segment, UnitOfCursor(cursor), units, room)) return true;
  const uint32_t count = CeilSegments(units, segment_units_);
  const uint32_t next = OpenLocked(units, room);
  if (next == 0) return false;
  SealLocked(open);
  BeginLocked(next, generation, group);
  segments_[next].state = State::kOpen;
  segments_[next].is_repacked = room == Room::kCarrying;
  if (count > 1) segments_[next].whole_units = 0;
  AddTailsLocked(next, count);
  open->cursor.store(uint64_t{next} << 32, std::memory_order_release);
  return true;
}

// The first of the segments that an object of `units` needs, for what is to be open. Large objects
// get one with free neighbours that more of them need.
uint32_t ObjectLog::OpenLocked(uint64_t units, Room room) {
  const uint32_t count = CeilSegments(units, segment_units_);
  const uint32_t wide = WideFor(units, segment_units_, run_max_);
  if (count == 1 && (wide == 1 || watched_)) return TakeLocked(room);
  const uint32_t found = wide > count ? FindRunLocked(wide) : 0;
  const uint32_t first = TakeRunLocked(found != 0 ? found : FindRunLocked(count), count, room);
  for (uint32_t i = first + count; found != 0 && first != 0 && i < first + wide; i++)
    growing_into_.Insert(i);
  return first;
}

// Takes the neighbours that an object of `units` behind `unit` needs. False: they are not free, or
// it is better to begin anew.
bool ObjectLog::ExtendLocked(uint32_t first, uint32_t unit, uint64_t units, Room room) {
  Segment& s = segments_[first];
  const uint32_t has = s.run_segments;
  const uint32_t wanted = CeilSegments(unit + units, segment_units_);
  if (wanted > run_max_ || FillsWell(unit, segment_units_) || watched_) return false;
  for (uint32_t i = first + has; i < first + wanted; i++)
    if (i >= reach_ || !IsFreeLocked(i)) return false;
  if (TakeRunLocked(first + has, wanted - has, room) == 0) return false;
  if (has == 1) s.whole_units = unit;
  AddTailsLocked(first, wanted);
  return true;
}

// The open segment that begins at `first` has `count` neighbours from now on.
void ObjectLog::AddTailsLocked(uint32_t first, uint32_t count) {
  for (uint32_t i = first + segments_[first].run_segments; i < first + count; i++) {
    Segment& tail = segments_[i];
    tail.state = State::kRunTail;
    tail.live_units.store(0, std::memory_order_relaxed);
    tail.first.store(first, std::memory_order_relaxed);
    growing_into_.Erase(i);
    DrawVersionsLocked(i);
  }
  longest_run_ = std::max(longest_run_, count);
  segments_[first].run_segments.store(count, std::memory_order_release);
}

void ObjectLog::SealLocked(Open* open) {
  const uint64_t cursor = open->cursor.exchange(0);
  const uint32_t segment = SegmentOfCursor(cursor);
  if (segment == 0) return;
  Segment& s = segments_[segment];
  s.fill_units = UnitOfCursor(cursor);
  const uint32_t used = std::max(1u, CeilSegments(s.fill_units, segment_units_));
  for (uint32_t i = segment + used; i < segment + run_max_ && i < segment_count_; i++)
    growing_into_.Erase(i);
  // Neighbours that were taken for an object that went elsewhere.
  for (; s.run_segments > used; s.run_segments--) FreeOneLocked(segment + s.run_segments - 1);
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
  s.first_expiry.store(kSomeNeverExpire, std::memory_order_relaxed);
  s.generation = generation;
  s.group = group;
  s.fill_units = 0;
  s.run_segments = 1;
  s.is_run = false;
  s.is_repacked = false;
  s.whole_units = segment_units_;
  s.first.store(segment, std::memory_order_relaxed);
  DrawVersionsLocked(segment);
  // What ends by itself ends with its segment: nothing else is to keep that.
  SetPlacesLocked(segment, group == 0 ? Places::kFillable : Places::kClosed);
}

void ObjectLog::DrawVersionsLocked(uint32_t segment) {
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
  WEFT_CHECK(!may_fill_);
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
    const bool is_whole = s.is_run || s.whole_units != 0;
    each.fill_units = s.is_run ? s.fill_units : std::min(s.fill_units, s.whole_units);
    each.growing = s.state == State::kOpen;
    each.in_use = is_whole && (s.state == State::kOpen || s.state == State::kSealed ||
                               s.state == State::kEvicting);
  }
}

uint64_t ObjectLog::live_bytes() const {
  uint64_t units = 0;
  for (uint32_t i = 1; i < segment_count_; i++) {
    const Segment& s = segments_[i];
    // What is left in one that was emptied are holes, of which sessions will hear.
    const bool counts = PlacesOf(i) != Places::kGone;
    units += counts ? s.live_units.load(std::memory_order_relaxed) : 0;
  }
  return units * kLocationUnitBytes;
}

uint64_t ObjectLog::resident_bytes() const {
  base::MutexLock lock(&mutex_);
  return uint64_t{backed_segments_} * geometry_.segment_bytes;
}

}  // namespace weft::cache
