// Freeing memory: a victim segment is emptied object by object and retired whole.
//
// Each object that still has its entry in the index is either carried forward (copied to an open
// segment, its entry swung to the copy) or its entry is removed. While an object is copied its
// entry is moving, so that no update lands between copy and swing, and the copy sees whether a
// client was shown the version (op_read.cc, ShowVersion). No batch is left then that laid an object
// of the victim, so nobody asks whether that was seen in the index (task::NoteSeen).
#include <algorithm>
#include <array>
#include <bit>
#include <thread>
#include <vector>

#include "cache/entry.h"
#include "cache/store.h"
#include "task/delete.h"

namespace weft::cache {
namespace {

// At most this share of an evicted segment is carried forward, so that each one frees something
// even where every object was used; above it the most used come first.
constexpr uint64_t kCarryPercent = 75;
constexpr size_t kGroup = 16;  // objects whose index lines are asked for at once
constexpr uint32_t kObjectsPerEpoch = 64;
// Steps of worth (below) from which on a newcomer is carried: unread up to a quarter of the mean
// size, read once up to 1.75 times it.
constexpr uint32_t kStepsToStay = 3;
constexpr uint64_t kWeightOfUse = 6;
constexpr uint32_t kWorthMax = 8;

struct Resident {
  uint64_t location;
  uint64_t hash;
  uint64_t word;
  uint32_t units;
};

// Emptying a segment takes long. The session leaves its epoch now and then, so that what others
// free meanwhile is memory again; the victim is nobody else's, so its bytes stay.
class Pauses {
 public:
  explicit Pauses(Session* session) : session_(session) {}
  // Before work on one more object. What was seen of the index is to be looked up again.
  void Next() {
    if (++objects_ % kObjectsPerEpoch != 0) return;
    session_->End();
    session_->Begin();
  }

 private:
  Session* const session_;
  uint32_t objects_ = 0;
};

// Asked anew for each object: seconds pass, and a flush may have come since the victim was chosen.
bool HasEnded(Session& session, const Resident& resident) {
  return task::IsEnded(session.log(), resident.location, session.ObjectAt(resident.location),
                       session.now_s());
}

// The victim's objects that have an entry.
std::vector<Resident> ResidentsOf(Session& session, const Victim& victim) {
  const ObjectLog& log = session.store().log();
  std::vector<Resident> residents;
  std::array<Resident, kGroup> group;
  Pauses pauses(&session);
  const uint64_t start = uint64_t{victim.segment} * log.segment_units();
  const uint64_t end = start + victim.fill_units;
  for (uint64_t at = start; at < end;) {
    size_t count = 0;
    for (; count < kGroup && at < end; count++) {
      const task::Object* object = session.ObjectAt(at);
      const uint32_t units = static_cast<uint32_t>(task::StoredBytes(object) / kLocationUnitBytes);
      const uint64_t hash = session.store().HashOf(KeyView(object));
      const task::TableRef& table = session.index().older;
      task::Prefetch(&table.buckets[task::FirstBucket(hash, table.bucket_count)]);
      group[count] = {at, hash, 0, units};
      at += units;
    }
    for (size_t i = 0; i < count; i++) {
      pauses.Next();
      const task::Found found =
          task::FindLocation(session.index(), group[i].hash, group[i].location);
      if (found.slot == nullptr) continue;
      group[i].word = found.word;
      residents.push_back(group[i]);
    }
  }
  return residents;
}

// Calls `change(found)` on the resident's entry, live, until it succeeds or the entry is gone.
template <typename Change>
void OnEntry(Session& session, const Resident& resident, Change change) {
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
  const bool ended = HasEnded(session, resident);
  OnEntry(session, resident, [&](const task::Found& found) {
    task::MarkSlot(session.index_to_change(), found.slot);
    if (!task::Delete(session.log(), found)) return false;
    const bool unread =
        (task::LoadRelaxed32(&session.ObjectAt(resident.location)->access) & kAccessFetched) == 0;
    session.AddItems(-1);
    ReleaseResident(session, resident);
    (ended ? counters.expired : counters.evictions).Add(1);
    if (unread) (ended ? counters.expired_unread : counters.evicted_unread).Add(1);
    return true;
  });
}

// Copies the object to an open segment of `generation`. False: there is no room for it.
bool Carry(Session& session, const Resident& resident, Generation generation, uint64_t recency) {
  bool room = true;
  OnEntry(session, resident, [&](const task::Found& found) {
    const uint64_t moving = task::WithState(found.word, kSlotMoving);
    task::MarkSlot(session.index_to_change(), found.slot);
    if (!task::CompareAndSwap64(found.slot, found.word, moving)) return false;
    Entry entry;
    entry.found = found;
    entry.object = session.ObjectAt(resident.location);
    const ObjectSpec spec = CopyOf(session, entry, false);
    ObjectLog& log = session.store().log();
    const uint32_t ttl_s = spec.expiry == 0 ? 0 : spec.expiry - session.now_s();
    const uint64_t location = log.Append(session.lane(), generation, log.GroupOf(ttl_s),
                                         SpecBytes(spec), spec.expiry, true);
    room = location != 0;
    uint64_t word = found.word;
    if (room) WriteObject(session.ObjectAt(location), spec);
    const uint64_t floor = log.flush_floor();  // 0: an older flush is done, which changes nothing
    if (room && floor != 0 && floor != session.log().flush_floor) {
      // A flush since this victim was looked at: the copy would survive it.
      session.store().Abandon(session, location);
      session.RefreshLog();
      room = false;
    }
    if (room) {
      word = task::WithRecency(task::WithLocation(word, location), recency);
      ReleaseResident(session, resident);
      session.counters().carried.Add(1);
    }
    task::CompareAndSwap64(found.slot, moving, word);  // nobody else changes a moving word
    return true;
  });
  return room;
}

// What the object is worth its memory: 0, it goes; else 1 to kWorthMax, in steps of two, of uses by
// size. Readers miss objects, not bytes, so of two that are used alike the smaller one is kept, and
// a small one that was not read yet is given more time. What is used most stays at any size.
uint32_t Worth(const Resident& resident, Generation generation, uint64_t mean_units) {
  const uint64_t recency = std::min<uint64_t>(task::SlotRecency(resident.word), kRecencyMax);
  const uint64_t weighed = (kWeightOfUse * recency + 1) * mean_units / resident.units;
  const uint32_t steps = std::min<uint32_t>(std::bit_width(weighed), kWorthMax - 1);
  const bool stays = generation == Generation::kMain
                         ? recency > 0
                         : recency == kRecencyMax || steps >= kStepsToStay;
  return stays ? 1 + steps : 0;
}

uint64_t MeanUnits(const std::vector<Resident>& residents) {
  uint64_t units = 0;
  for (const Resident& r : residents) units += r.units;
  return residents.empty() ? 0 : units / residents.size();
}

// The least worth that is carried, so that no more than `units_max` are.
uint32_t LeastWorth(const std::vector<Resident>& residents, Generation generation,
                    uint64_t mean_units, uint64_t units_max) {
  std::array<uint64_t, kWorthMax + 1> units{};
  for (const Resident& r : residents) units[Worth(r, generation, mean_units)] += r.units;
  uint32_t least = kWorthMax;
  uint64_t carried = units[least];
  while (least > 1 && carried + units[least - 1] <= units_max) carried += units[--least];
  return least;
}

void EmptyByEviction(Session& session, const Victim& victim,
                     const std::vector<Resident>& residents) {
  uint64_t room = uint64_t{victim.fill_units} * kCarryPercent / 100;
  const uint64_t mean_units = MeanUnits(residents);
  const uint32_t least = LeastWorth(residents, victim.generation, mean_units, room);
  Pauses pauses(&session);
  for (const Resident& r : residents) {
    pauses.Next();
    // A newcomer starts its life in the main generation afresh; an old one loses one step a round
    // (S3-FIFO).
    const uint64_t recency = task::SlotRecency(r.word);
    const uint64_t left = victim.generation == Generation::kYoung ? 0 : recency - 1;
    if (Worth(r, victim.generation, mean_units) >= least && r.units <= room &&
        !HasEnded(session, r) && Carry(session, r, Generation::kMain, left)) {
      room -= r.units;
    } else {
      Drop(session, r);
    }
  }
}

// False: there was no room to carry everything; the rest stays where it is.
bool EmptyByCleaning(Session& session, const Victim& victim,
                     const std::vector<Resident>& residents) {
  Pauses pauses(&session);
  for (const Resident& r : residents) {
    pauses.Next();
    if (HasEnded(session, r)) {
      Drop(session, r);
    } else if (!Carry(session, r, victim.generation, task::SlotRecency(r.word))) {
      return false;
    }
  }
  return true;
}

// A run holds one object: carrying it forward is giving its segment a new place in the queue.
bool KeepRun(Session& session, const Victim& victim, const std::vector<Resident>& residents) {
  if (!victim.is_run || victim.kind == VictimKind::kDrop || residents.empty()) return false;
  const Resident& r = residents.front();
  const uint64_t recency = task::SlotRecency(r.word);
  if (HasEnded(session, r)) return false;
  // As of a segment of small objects, a quarter goes even where everything was used: room is found
  // within a few victims, however many large objects are hot.
  if (victim.kind == VictimKind::kEvict && (recency == 0 || !session.store().MayKeepRun()))
    return false;
  OnEntry(session, r, [&](const task::Found& found) {
    const uint64_t left = recency == 0 ? 0 : recency - 1;
    return task::CompareAndSwap64(found.slot, found.word, task::WithRecency(found.word, left));
  });
  return true;
}

// True when the segment holds nothing any more. `evict`: live objects may be dropped for it.
bool Empty(Session& session, const Victim& victim, bool evict) {
  const std::vector<Resident> residents = ResidentsOf(session, victim);
  if (KeepRun(session, victim, residents)) return false;
  switch (victim.kind) {
    case VictimKind::kClean:
      if (EmptyByCleaning(session, victim, residents)) return true;
      // Not even the reserve has room for what lives here: then something has to go.
      if (evict) EmptyByEviction(session, victim, residents);
      return evict;
    case VictimKind::kEvict: EmptyByEviction(session, victim, residents); return true;
    default: break;
  }
  Pauses pauses(&session);
  for (const Resident& r : residents) {
    pauses.Next();
    Drop(session, r);
  }
  return true;
}

}  // namespace

Store::Freed Store::EvictOne(Session& session, bool evict, bool only_ended) {
  session.Begin();
  const Victim victim = log_->PickVictim(session.now_s(), evict, only_ended);
  bool emptied = false;
  if (victim.kind != VictimKind::kNone) {
    emptied = Empty(session, victim, evict);
    if (!emptied) log_->Renew(victim.segment);
  }
  session.End();
  if (emptied) {
    log_->Retire(victim.segment);
    session.counters().segments_freed.Add(1);
  }
  if (victim.kind == VictimKind::kNone) return victim.pending ? Freed::kNoneNow : Freed::kNothing;
  if (emptied || (victim.is_run && victim.kind == VictimKind::kEvict)) return Freed::kOne;
  // What lives in it has no room elsewhere, and may not be dropped.
  return evict ? Freed::kNoneNow : Freed::kNothing;
}

}  // namespace weft::cache
