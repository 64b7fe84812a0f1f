#include "sim/cache/l1_cache.h"

#include <utility>

#include "base/check.h"

namespace weft::sim {

L1Cache::L1Cache(const CacheShape& shape)
    : sets_(shape.sets()),
      tags_(sets_, static_cast<size_t>(shape.ways)),
      mshrs_(static_cast<size_t>(shape.mshrs)) {}

L1Cache::Mshr* L1Cache::UnderWay(uint64_t line) {
  if (under_way_ == 0) return nullptr;
  for (Mshr& mshr : mshrs_) {
    if (mshr.line == line) return &mshr;
  }
  return nullptr;
}

L1Cache::Outcome L1Cache::Start(uint64_t line, const Waiter& waiter) {
  const bool is_store = waiter.access == Access::kStore;
  const size_t at = tags_.Find(SetOf(line), line);
  if (at != Tags::kNone && (!is_store || tags_[at] != Mesi::kShared)) {
    if (is_store) tags_[at] = Mesi::kModified;
    tags_.Touch(at);
    return Outcome::kHit;
  }
  if (Mshr* const mshr = UnderWay(line)) {
    mshr->waiters.push_back(waiter);
    return Outcome::kJoined;
  }
  if (under_way_ == static_cast<int>(mshrs_.size())) return Outcome::kFull;
  for (Mshr& mshr : mshrs_) {
    if (mshr.line != Tags::kNoLine) continue;
    mshr.line = line;
    mshr.owns = is_store;
    mshr.is_granted = false;
    mshr.is_lost = false;
    mshr.waiters.assign(1, waiter);
    break;
  }
  ++under_way_;
  return Outcome::kMiss;
}

void L1Cache::Granted(uint64_t line, Mesi state) {
  Mshr* const mshr = UnderWay(line);
  WEFT_CHECK(mshr != nullptr && !mshr->is_granted);
  mshr->is_granted = true;
  mshr->state = state;
}

bool L1Cache::TakeAway(uint64_t line, bool whole) {
  bool was_modified = false;
  if (const size_t at = tags_.Find(SetOf(line), line); at != Tags::kNone) {
    was_modified = tags_[at] == Mesi::kModified;
    tags_[at] = Mesi::kShared;
    if (whole) tags_.Remove(at);
  }
  Mshr* const mshr = UnderWay(line);
  if (mshr != nullptr && mshr->is_granted && !mshr->is_lost) {
    was_modified |= mshr->state == Mesi::kModified;
    mshr->state = Mesi::kShared;
    mshr->is_lost = whole;
  }
  return was_modified;
}

void L1Cache::Keep(uint64_t line, Mesi state) {
  const size_t set = SetOf(line);
  size_t at = tags_.Find(set, line);
  if (at == Tags::kNone) {
    at = tags_.Victim(set);
    const uint64_t victim = tags_.LineAt(at);
    // One that was granted anew stays the directory's to count: its fill brings it back.
    const Mshr* const comes_back = victim == Tags::kNoLine ? nullptr : UnderWay(victim);
    if (victim != Tags::kNoLine && (comes_back == nullptr || !comes_back->is_granted)) {
      filled_.has_victim = true;
      filled_.victim = victim;
      filled_.is_victim_modified = tags_[at] == Mesi::kModified;
    }
  }
  tags_.Put(at, line, state);
}

const L1Cache::Filled& L1Cache::Fill(uint64_t line) {
  Mshr* const mshr = UnderWay(line);
  WEFT_CHECK(mshr != nullptr && mshr->is_granted);
  filled_ = {.line = line};
  std::swap(filled_.waiters, mshr->waiters);
  mshr->line = Tags::kNoLine;
  --under_way_;
  // A store of a line that was owned and lost again has changed it in between.
  filled_.retries_stores = !mshr->owns && (mshr->is_lost || mshr->state == Mesi::kShared);
  if (mshr->is_lost) return filled_;
  Mesi state = mshr->state;
  if (state == Mesi::kExclusive) {
    for (const Waiter& waiter : filled_.waiters) {
      if (waiter.access == Access::kStore) state = Mesi::kModified;
    }
  }
  Keep(line, state);
  return filled_;
}

}  // namespace weft::sim
