// Each object that still has its entry in the index is either carried forward or its entry is
// removed. While an object is copied its entry is moving, so that no update lands between copy and
// swing, and the copy sees whether a client was shown the version (op_read.cc, ShowVersion). No
// batch is left then that laid an object of the victim, so nobody asks whether that was seen in the
// index (task::NoteSeen).
#include "cache/emptying.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "base/check.h"
#include "cache/eviction_watch.h"
#include "cache/object_writer.h"
#include "cache/store.h"
#include "task/delete.h"

namespace weft::cache {
namespace {

using Resident = Emptying::Resident;
using Measure = Emptying::Measure;

constexpr size_t kGroup = 32;              // objects whose index lines are asked for at once
constexpr uint32_t kAhead = 8;             // objects, at whose headers Collect looks soon
constexpr uint32_t kObjectsPerEpoch = 64;  // after which what others free is memory again
// Steps of worth (below) from which on a newcomer is carried: unread up to a quarter of the mean
// size, read twice up to four times it. Read once, up to 1.5 times it where one read counts
// (cache/ghosts.h), otherwise up to 0.875 of it.
constexpr uint32_t kStepsToStay = 3;
constexpr uint64_t kWeightOfUse = 15;  // of two or more
constexpr uint64_t kWeightOfOneRead = 10;
constexpr uint64_t kWeightOfDoubtfulRead = 5;  // of one that does not count
constexpr uint64_t kWeightUnused = 2;
constexpr uint64_t kSmallByMean = 4;
constexpr uint32_t kWorthMax = 8;

// Of ObjectsToEmpty. Each object of an evicted segment is looked at twice, and up to 90 in 100 are
// carried. Where objects are of one size, two to twenty looks make room for one. More is allowed
// where those that go are smaller than those that come, or somebody was behind. It is bounded: with
// a bound of eight large batches never made up for what they were behind, and waited for room.
constexpr uint64_t kLooksPerWrite = 32;
constexpr uint64_t kLooksMin = 64;
constexpr uint64_t kLooksMax = 2048;
constexpr uint32_t kShortageSteps = 8;

// Asked anew for each object: time passes, and a flush may have come since the victim was chosen.
bool ResidentHasEnded(Session& session, const Resident& resident) {
  return task::IsEnded(session.log(), resident.location, session.ObjectAt(resident.location),
                       session.now_s());
}

void PrefetchBuckets(Session& session, std::span<const Resident> residents) {
  const task::TableRef& table = session.index().older;
  for (const Resident& r : residents)
    task::Prefetch(&table.buckets[task::FirstBucket(r.hash, table.bucket_count)]);
}

// Asks for the second bucket where the first one has no entry of it: then both are looked at.
void PrefetchSecondBucket(Session& session, const Resident& r) {
  const task::TableRef& table = session.index().older;
  const uint64_t tag = task::TagOfHash(r.hash);
  const uint64_t first = task::FirstBucket(r.hash, table.bucket_count);
  for (const uint64_t& slot : table.buckets[first].slots) {
    const uint64_t word = task::LoadAcquire64(&slot);
    if (task::SlotLocation(word) == r.location && task::SlotTag(word) == tag) return;
  }
  const uint32_t policy = session.index().policy;
  task::Prefetch(&table.buckets[task::OtherBucket(policy, first, tag, table.bucket_count)]);
}

// Whether no entry names the object at `location`, as whoever took it out of the index has marked.
bool IsKnownDead(Session& session, const task::Object* object, uint64_t location) {
  if ((task::LoadAcquire32(&object->access) & kAccessDead) == 0) return false;
  if (!session.store().trusts_dead_marks()) return false;
  WEFT_DCHECK(
      task::FindLocation(session.index(), session.store().HashOf(KeyView(object)), location).slot ==
      nullptr);
  return true;
}

// Where the object kAhead after this one begins is known once those between have been looked at.
// But neighbours are often of one size.
void PrefetchAhead(Session& session, uint64_t location, uint32_t units, uint64_t end) {
  const uint64_t guess = location + uint64_t{kAhead} * units;
  if (guess < end) task::Prefetch(session.ObjectAt(guess));
}

// Calls `change(found)` on the resident's entry, live, until it succeeds or the entry is gone.
template <typename Change>
void OnEntry(Session& session, const Resident& resident, const Change& change) {
  for (;;) {  // Ends: movers finish, and an updated key no longer names the location.
    const task::Found found = task::FindLocation(session.index(), resident.hash, resident.location);
    if (found.slot == nullptr) return;
    if (task::SlotState(found.word) == kSlotLive && change(found)) return;
    std::this_thread::yield();
  }
}

// The segment is counted right even where it stays, because there was no room to empty it all.
void ReleaseResident(Session& session, const Resident& resident) {
  session.store().log().Release(resident.location, uint64_t{resident.units} * kLocationUnitBytes);
}

void Drop(Session& session, const Resident& resident) {
  SessionCounters& counters = session.counters();
  const bool ended = ResidentHasEnded(session, resident);
  OnEntry(session, resident, [&](const task::Found& found) {
    task::MarkSlot(session.index_to_change(), found.slot);
    if (!task::Delete(session.log(), found)) return false;
    const uint32_t access = task::LoadRelaxed32(&session.ObjectAt(resident.location)->access);
    const bool unread = (access & kAccessFetched) == 0;
    if (!ended && EvictionAges::IsSample(resident.hash)) {
      const uint32_t age_s = task::SecondsSinceAccess(access, session.now_s());
      session.store().eviction_ages().Record(age_s);
    }
    if (!ended) TellEviction(session, resident.location);
    session.AddItems(-1);
    ReleaseResident(session, resident);
    (ended ? counters.expired : counters.evictions).Add(1);
    if (unread) (ended ? counters.expired_unread : counters.evicted_unread).Add(1);
    return true;
  });
}

// Copies the object to an open segment of `generation`. `recency` none: as it is. False: there is
// no room for it.
bool Carry(Session& session, const Resident& resident, Generation generation,
           std::optional<uint64_t> recency) {
  bool room = true;
  OnEntry(session, resident, [&](const task::Found& found) {
    const uint64_t moving = task::WithState(found.word, kSlotMoving);
    task::MarkSlot(session.index_to_change(), found.slot);
    if (!task::CompareAndSwap64(found.slot, found.word, moving)) return false;
    const task::Object* const object = session.ObjectAt(resident.location);
    task::TouchObject(object);
    task::Touch(task::ValueOf(object), task::ValueBytes(object));
    ObjectLog& log = session.store().log();
    const uint32_t expiry = task::ExpiryOf(object);
    const uint32_t group = log.GroupOf(expiry == 0 ? 0 : expiry - session.now_s());
    uint64_t bytes = uint64_t{resident.units} * kLocationUnitBytes;
    // Its own version is above what was shown of the key; one of an older segment may not be.
    const bool gets_version = (object->shape & kShapeHasCas) == 0 &&
                              ((task::LoadRelaxed32(&object->access) & kAccessCasSeen) != 0 ||
                               !log.WouldRise(session.lane(), generation, group, bytes));
    ObjectSpec spec;  // of one that gets a version; others are copied as they lie
    if (gets_version) {
      spec = SpecOf(object);
      spec.has_cas = true;
      spec.cas = task::CasOf(session.log(), resident.location);
      bytes = SpecBytes(spec);
    }
    const auto append = [&] {
      return log.Append(session.lane(), generation, group, bytes, expiry, Room::kCarrying);
    };
    uint64_t location = append();
    if (location == 0 && log.SegmentsRetired() != 0) {
      log.Reclaim();
      location = append();
    }
    room = location != 0;
    uint64_t word = found.word;
    if (room) {
      task::Object* const copy = session.ObjectAt(location);
      if (gets_version) {
        WriteObject(copy, spec);
      } else {
        CopyObject(copy, object, bytes);
      }
      task::TouchWrite(copy, bytes);
    }
    const uint64_t floor = log.flush_floor();  // 0: an older flush is done, which changes nothing
    if (room && floor != 0 && floor != session.log().flush_floor) {
      // A flush since this victim was looked at: the copy would survive it.
      session.store().Abandon(session, location);
      session.RefreshLog();
      room = false;
    }
    if (room) {
      word = task::WithRecency(task::WithLocation(word, location),
                               recency.value_or(task::SlotRecency(word)));
      ReleaseResident(session, resident);
      session.counters().carried.Add(1);
      session.AddCarried(uint64_t{resident.units} * kLocationUnitBytes);
    }
    task::CompareAndSwap64(found.slot, moving, word);  // nobody else changes a moving word
    return true;
  });
  return room;
}

// Takes the resident's word as it is now: it may have been read since it was collected.
void LookAgain(Session& session, Resident* resident) {
  const task::Found found = task::FindLocation(session.index(), resident->hash, resident->location);
  if (found.slot != nullptr) resident->word = found.word;
}

// What the object is worth its memory: 0, it goes; else 1 to kWorthMax, in steps of two, of uses by
// size. Readers miss objects, not bytes, so of two that are used alike the smaller one is kept, and
// a small one that was not read yet is given more time. What is used most stays at any size.
uint32_t Worth(const Resident& resident, Generation generation, const Measure& measure) {
  const uint64_t recency = std::min<uint64_t>(task::SlotRecency(resident.word), kRecencyMax);
  const bool counts = measure.one_read_counts && !measure.ghosts->IsSample(resident.hash);
  const uint64_t once = counts ? kWeightOfOneRead : kWeightOfDoubtfulRead;
  const uint64_t uses = recency == 1 ? once : kWeightOfUse * recency;
  const uint64_t weighed =
      (uses + kWeightUnused) * measure.mean_units / (kWeightUnused * resident.units);
  const uint32_t steps = std::min<uint32_t>(std::bit_width(weighed), kWorthMax - 1);
  const bool stays = generation == Generation::kMain
                         ? recency > 0
                         : recency == kRecencyMax || steps >= kStepsToStay;
  return stays ? 1 + steps : 0;
}

uint64_t MeanUnits(std::span<const Resident> residents) {
  uint64_t units = 0;
  for (const Resident& r : residents) units += r.units;
  return residents.empty() ? 0 : units / residents.size();
}

// Units of the residents of each worth.
using UnitsByWorth = std::array<uint64_t, kWorthMax + 1>;
UnitsByWorth SumByWorth(std::span<const Resident> residents, Generation generation,
                        const Measure& measure) {
  UnitsByWorth units{};
  for (const Resident& r : residents) units[Worth(r, generation, measure)] += r.units;
  return units;
}

}  // namespace

Emptying::Emptying(const Victim& victim) : victim_(victim) {
  WEFT_DCHECK(victim.kind != VictimKind::kNone);
}

uint64_t Emptying::Advance(Session& session, uint64_t objects) {
  uint64_t looked = 0;
  while (looked < objects && state_ == State::kUnderWay) {
    const uint64_t piece = std::min<uint64_t>(objects - looked, kObjectsPerEpoch);
    const uint32_t count = static_cast<uint32_t>(piece);
    const InBatch batch(session);
    looked += stage_ == Stage::kCollect ? Collect(session, count) : Clear(session, count);
  }
  session.counters().victim_looks.Add(looked);
  return looked;
}

// Looks at `objects` more of the segment, and notes those that have an entry.
uint32_t Emptying::Collect(Session& session, uint32_t objects) {
  const uint64_t start = uint64_t{victim_.segment} * session.store().log().segment_units();
  std::array<Resident, kGroup> group;
  uint32_t looked = 0;
  while (looked < objects && collected_units_ < victim_.fill_units) {
    size_t count = 0;
    while (count < kGroup && looked < objects && collected_units_ < victim_.fill_units) {
      const uint64_t at = start + collected_units_;
      const task::Object* object = session.ObjectAt(at);
      task::TouchObject(object);
      const uint32_t units = static_cast<uint32_t>(task::StoredBytes(object) / kLocationUnitBytes);
      PrefetchAhead(session, at, units, start + victim_.fill_units);
      collected_units_ += units;
      looked++;
      if (IsKnownDead(session, object, at)) continue;
      const uint64_t hash = session.store().HashOf(KeyView(object));
      group[count] = {at, hash, 0, units};
      PrefetchBuckets(session, std::span(&group[count], 1));
      count++;
    }
    for (size_t i = 0; i < count; i++) PrefetchSecondBucket(session, group[i]);
    for (size_t i = 0; i < count; i++) {
      const task::Found found =
          task::FindLocation(session.index(), group[i].hash, group[i].location);
      if (found.slot == nullptr) continue;
      // It is copied before it is changed: a copy of what was just written would wait for that.
      residents_.push_back(group[i]);
      residents_.back().word = found.word;
    }
  }
  if (collected_units_ >= victim_.fill_units) BeginToClear(session);
  return looked;
}

void Emptying::BeginToClear(Session& session) {
  if (KeepRun(session)) {
    state_ = State::kStays;
    return;
  }
  switch (victim_.kind) {
    case VictimKind::kClean: stage_ = Stage::kClean; break;
    case VictimKind::kEvict: BeginToEvict(session); break;
    default: stage_ = Stage::kDrop; break;
  }
  if (residents_.empty()) state_ = State::kEmptied;
}

// What is worth most is carried, as far as the account goes; of the last worth that is, a part.
void Emptying::BeginToEvict(Session& session) {
  stage_ = Stage::kEvict;
  const Ghosts& ghosts = session.store().ghosts();
  measure_ = {MeanUnits(Left()), ghosts.OneReadCounts(), &ghosts};
  const UnitsByWorth units = SumByWorth(Left(), victim_.generation, measure_);
  const uint64_t wanted = std::accumulate(units.begin() + 1, units.end(), uint64_t{0});
  // What lies alone was refused already (KeepRun): it is not copied.
  carried_units_max_ =
      victim_.is_run ? 0 : session.store().carry_account().Draw(victim_.fill_units, wanted);
  least_worth_ = kWorthMax;
  least_units_ = carried_units_max_;
  while (least_worth_ > 1 && units[least_worth_] <= least_units_)
    least_units_ -= units[least_worth_--];
}

// A run holds one object: carrying it forward is giving its segment a new place in the queue.
bool Emptying::KeepRun(Session& session) {
  if (!victim_.is_run || victim_.kind == VictimKind::kDrop || residents_.empty()) return false;
  const Resident& r = residents_.front();
  const uint64_t recency = task::SlotRecency(r.word);
  if (ResidentHasEnded(session, r)) return false;
  if (victim_.kind == VictimKind::kEvict &&
      (recency == 0 || !session.store().stay_account().DrawWhole(victim_.fill_units)))
    return false;
  OnEntry(session, r, [&](const task::Found& found) {
    const uint64_t left = recency == 0 ? 0 : recency - 1;
    return task::CompareAndSwap64(found.slot, found.word, task::WithRecency(found.word, left));
  });
  return true;
}

// Clears `objects` more of the residents.
uint32_t Emptying::Clear(Session& session, uint32_t objects) {
  uint32_t looked = 0;
  while (looked < objects && next_ < residents_.size()) {
    if (looked % kGroup == 0) {
      const auto soon = Left().first(std::min(kGroup, Left().size()));
      PrefetchBuckets(session, soon);
      if (stage_ == Stage::kEvict && victim_.generation == Generation::kYoung)
        for (const Resident& r : soon) session.store().ghosts().Prefetch(r.hash);
    }
    Resident* const resident = &residents_[next_];
    if (stage_ == Stage::kClean && !ClearByCleaning(session, *resident)) {
      if (!session.store().options().evict) {
        state_ = State::kStays;
        return looked + 1;
      }
      // Not even the reserve has room for what lives here: then something has to go.
      BeginToEvict(session);
    }
    if (stage_ == Stage::kEvict) ClearByEviction(session, resident);
    if (stage_ == Stage::kDrop) Drop(session, *resident);
    next_++;
    looked++;
  }
  if (next_ == residents_.size()) {
    session.store().carry_account().Return(std::exchange(carried_units_max_, 0));
    state_ = State::kEmptied;
  }
  return looked;
}

void Emptying::ClearByEviction(Session& session, Resident* resident) {
  LookAgain(session, resident);
  const Resident& r = *resident;
  // A newcomer starts its life in the main generation afresh; an old one loses one step a round
  // (S3-FIFO). A small one has more rounds to be used in.
  const uint64_t recency = task::SlotRecency(r.word);
  const uint64_t rounds = std::bit_width(measure_.mean_units / (kSmallByMean * r.units));
  const uint64_t left = victim_.generation == Generation::kYoung
                            ? std::min<uint64_t>(rounds, kRecencyMax)
                            : recency - 1;
  const uint32_t worth = Worth(r, victim_.generation, measure_);
  const uint64_t units_max =
      std::min(carried_units_max_, worth == least_worth_ ? least_units_ : UINT64_MAX);
  if (worth >= least_worth_ && r.units <= units_max && !ResidentHasEnded(session, r) &&
      Carry(session, r, Generation::kMain, left)) {
    carried_units_max_ -= r.units;
    if (worth == least_worth_) least_units_ -= r.units;
    return;
  }
  if (victim_.generation == Generation::kYoung)
    session.store().ghosts().Note(r.hash, r.units, recency == 1);
  Drop(session, r);
}

// False: there was no room to carry it.
bool Emptying::ClearByCleaning(Session& session, const Resident& resident) {
  if (ResidentHasEnded(session, resident)) {
    Drop(session, resident);
    return true;
  }
  if (!Carry(session, resident, victim_.generation, std::nullopt)) return false;
  cleaned_units_ += resident.units;
  return true;
}

uint64_t ObjectsToEmpty(uint64_t writes, uint32_t ready, uint32_t wanted) {
  // Each step of shortage doubles it, so that it settles where freeing just keeps up, and no batch
  // does more than its share: where five eighths are missing it is above all that can be needed.
  const uint32_t shortage = (wanted - ready) * kShortageSteps / wanted;
  const uint64_t looks = writes << shortage;
  return std::max(kLooksMin, std::min(looks, std::max(kLooksMax, writes * kLooksPerWrite)));
}

}  // namespace weft::cache
