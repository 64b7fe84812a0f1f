// Freeing memory: who empties victims, when, and how far at a time (cache/emptying.h has how).
//
// A batch that stored something carries emptyings on by as much as it owes, and lays what it has
// not finished into the store's list, where any session finds it. Who cannot go on without room
// takes what lies there first and carries it through: so whoever waits for others' victims waits
// only for those that somebody is at work on.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "cache/emptying.h"
#include "cache/store.h"

namespace weft::cache {
namespace {

// Where little is free, so much of the memory may wait for its last readers without counting as if
// it were: what is emptied comes back late where batches take long, as those do that wait for a
// device.
constexpr uint32_t kWaitingShare = 32;
constexpr uint32_t kVictimsPerBatch = 10;  // an evicted segment may free as little as a tenth

// So many segments are to be ready to be opened; twice as many are to be free or on their way.
uint32_t SegmentsReady(const ObjectLog& log) { return log.geometry().lanes + 1; }

// Whether nobody sees anything of the victim any more.
bool VictimHasEnded(const ObjectLog& log, const Victim& victim) {
  if (victim.kind == VictimKind::kDrop) return true;
  return task::IsFlushed(log.Ref(), uint64_t{victim.segment} * log.segment_units());
}

}  // namespace

std::unique_ptr<Emptying> Store::TakeUnfinished(bool only_ended) {
  base::MutexLock lock(&unfinished_mutex_);
  for (auto each = unfinished_.begin(); each != unfinished_.end(); ++each) {
    if (only_ended && !VictimHasEnded(*log_, (*each)->victim())) continue;
    std::unique_ptr<Emptying> emptying = std::move(*each);
    unfinished_.erase(each);
    return emptying;
  }
  return nullptr;
}

// To be taken first, so that one segment falls free soon rather than several late.
void Store::LeaveUnfinished(std::unique_ptr<Emptying> emptying) {
  base::MutexLock lock(&unfinished_mutex_);
  unfinished_.insert(unfinished_.begin(), std::move(emptying));
}

// Null: `*freed` says why.
std::unique_ptr<Emptying> Store::BeginEmptying(bool only_ended, uint32_t spared, Freed* freed) {
  const Victim victim = log_->PickVictim(base::NowSeconds(), options_.evict, only_ended, spared);
  if (victim.kind == VictimKind::kEvict) GrowGhosts();
  FollowLogTables();
  if (victim.kind != VictimKind::kNone) return std::make_unique<Emptying>(victim);
  *freed = victim.pending ? Freed::kNoneNow : Freed::kNothing;
  return nullptr;
}

Store::Freed Store::FinishEmptying(Session& session, const Emptying& emptying) {
  const Victim& victim = emptying.victim();
  if (emptying.state() == Emptying::State::kEmptied) {
    if (victim.has_ended_in_part) log_->NoteCleaned(victim, emptying.cleaned_units());
    log_->Retire(victim.segment);
    session.counters().segments_freed.Add(1);
    return Freed::kOne;
  }
  log_->Renew(victim.segment);
  if (victim.is_run && victim.kind == VictimKind::kEvict) return Freed::kOne;
  // What lives in it has no room elsewhere, and may not be dropped.
  return options_.evict ? Freed::kNoneNow : Freed::kNothing;
}

Store::Freed Store::EvictOne(Session& session, bool only_ended, uint32_t spared) {
  // Ends: there are as many as there were sessions at work at once.
  while (const auto unfinished = TakeUnfinished(only_ended)) {
    unfinished->Advance(session, UINT64_MAX);
    if (FinishEmptying(session, *unfinished) == Freed::kOne) return Freed::kOne;
  }
  Freed freed = Freed::kNothing;
  const auto emptying = BeginEmptying(only_ended, spared, &freed);
  if (emptying == nullptr) return freed;
  emptying->Advance(session, UINT64_MAX);
  return FinishEmptying(session, *emptying);
}

void Store::ExpireWhenDue(Session& session, uint32_t now_s) {
  uint32_t checked = expiry_checked_s_.load(std::memory_order_relaxed);
  if (checked >= now_s) return;  // by a batch, perhaps, that began later
  // One thread a second looks; while it finds something it looks again with the next batch.
  if (EvictOne(session, true) == Freed::kOne) return;
  expiry_checked_s_.compare_exchange_strong(checked, now_s);
}

// Two levels: so many segments are on their way to be free that those which wait for their last
// readers do not count as missing, and memory is claimed back when few are ready.
void Store::EvictAhead(Session& session, uint32_t writes) {
  const uint64_t appended_bytes = session.TakeAppended();
  const uint32_t ready = SegmentsReady(*log_);
  const uint32_t available = log_->SegmentsAvailable();
  const bool is_over = log_->over_budget();  // then each batch takes it a step nearer to its goal
  if (available >= 2 * ready) {
    if (is_over) log_->GiveBackOne();
    return;
  }
  if ((available < ready || is_over) && log_->SegmentsRetired() != 0) log_->Reclaim();
  // As many of those that lie there as take the room of what was stored.
  const uint64_t log_bytes =
      uint64_t{log_->geometry().budget_segments} * log_->geometry().segment_bytes;
  EvictPortion(session, std::max<uint64_t>(writes, appended_bytes * ItemCount() / log_bytes));
}

bool Store::EvictPortion(Session& session, uint64_t writes, uint32_t spared) {
  const uint32_t ready = SegmentsReady(*log_);
  const uint32_t wanted = 2 * ready;
  const uint32_t waiting = log_->geometry().budget_segments / kWaitingShare;
  uint64_t objects = UINT64_MAX;
  bool did = false;
  for (uint32_t i = 0; i < kVictimsPerBatch; i++) {
    const uint32_t free = log_->SegmentsAvailable();
    const uint32_t retired = log_->SegmentsRetired();
    const uint32_t freed = free + retired - (free < ready ? std::min(retired, waiting) : 0);
    if (freed >= wanted) break;
    objects = std::min(objects, ObjectsToEmpty(writes, freed, wanted));
    std::unique_ptr<Emptying> emptying = TakeUnfinished(false);
    if (emptying == nullptr && freed + log_->SegmentsEvicting() < wanted) {
      Freed none = Freed::kNothing;
      emptying = BeginEmptying(false, spared, &none);
    }
    if (emptying == nullptr) break;
    did = true;
    objects -= emptying->Advance(session, objects);
    if (emptying->state() == Emptying::State::kUnderWay) {
      LeaveUnfinished(std::move(emptying));
      break;
    }
    if (FinishEmptying(session, *emptying) != Freed::kOne || objects == 0) break;
  }
  return did;
}

}  // namespace weft::cache
