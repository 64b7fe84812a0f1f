// cache/holes.h: places of objects that a session replaced, for later versions of the same size.
//
// What is replaced leaves a hole in the log. Once no batch sees the old object any more, a version
// of another key may lie there. So overwriting neither fills segments nor empties any.
//
// Order     the hole that came last is taken first: its lines are likely to be near.
// Counts    a kept hole still counts as live in its segment. So neither its object's death nor the
//           next one's birth changes a count, and a segment with holes looks as full as it will be.
// Memory    a hole keeps its place from being cleaned, and takes 16 to 32 bytes of a list. All
//           sessions share a budget for both (HoleBudget).
// Threads   the session's. HoleBudget: any.
// Cost      constant time each; a look at all epochs for every kGroup holes. TakeAny may look at
//           all lists.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "cache/epoch.h"
#include "cache/object_log.h"

namespace weft::cache {

// What the holes of all sessions of a store may take, in units of the log. On a line of its own:
// threads write to it now and then.
class alignas(64) HoleBudget {
 public:
  explicit HoleBudget(uint64_t units) : left_(static_cast<int64_t>(units)) {}
  bool Take(int64_t units) {
    if (left_.fetch_sub(units, std::memory_order_relaxed) >= units) return true;
    GiveBack(units);
    return false;
  }
  void GiveBack(int64_t units) { left_.fetch_add(units, std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> left_;
};

struct Hole {
  uint64_t location = 0;  // 0: none
  uint64_t version = 0;   // that its place gives
  uint32_t units = 0;
  Generation generation = Generation::kYoung;
};

class Holes {
 public:
  static constexpr uint32_t kUnitsMax = 128;  // larger places are not kept

  explicit Holes(HoleBudget* budget) : budget_(budget) {}
  ~Holes();
  Holes(const Holes&) = delete;
  Holes& operator=(const Holes&) = delete;

  // Its object was replaced in this epoch. False: the budget or memory is spent, and the caller
  // counts the object's death.
  bool Keep(const Hole& hole);
  // Between batches: those that no batch sees any more may be taken from now on.
  // REQUIRES: outside of the epochs
  void Ripen(Epochs* epochs) {
    if (fresh_ >= kGroup) RipenGroup(epochs);
  }
  // One of so many units. The caller asks whether it is still a hole (ObjectLog::MayFill).
  Hole Take(uint32_t units, Generation generation) {
    if (units > kUnitsMax || Of(units, generation).empty()) return {};
    std::vector<Ripe>& list = Of(units, generation);
    const Ripe ripe = list.back();
    list.pop_back();
    if (list.size() % kRoomKept == 0) Shrink(&list);
    Leaves(units);
    return {ripe.location, ripe.version, units, generation};
  }
  // The next that will be taken, so that its lines may be asked for. 0: none
  uint64_t NextLocation(uint32_t units, Generation generation) const {
    if (units > kUnitsMax || Of(units, generation).empty()) return 0;
    return Of(units, generation).back().location;
  }
  // One of any size, ripe or not, so that it may be given up. Those of each size in turn.
  Hole TakeAny();
  bool empty() const { return cost_ == 0; }

 private:
  static constexpr size_t kGroup = 64;
  static constexpr int64_t kBudgetStep = 512;
  static constexpr int64_t kListUnits = 4;  // of a hole's entry, at most
  static constexpr size_t kRoomKept = 64;   // entries, in a list of few

  struct Ripe {
    uint64_t location;
    uint64_t version;
  };
  struct Group {
    uint64_t stamp;
    size_t count;
  };

  static int64_t CostOf(uint32_t units) { return units + kListUnits; }
  void RipenGroup(Epochs* epochs);
  static void Shrink(std::vector<Ripe>* list);
  void GiveBackSome();
  void Leaves(uint32_t units) {
    cost_ -= CostOf(units);
    if (may_cost_ - cost_ >= 2 * kBudgetStep) GiveBackSome();
  }
  const std::vector<Ripe>& Of(uint32_t units, Generation generation) const {
    return ripe_[units * kGenerations + static_cast<uint32_t>(generation)];
  }
  std::vector<Ripe>& Of(uint32_t units, Generation generation) {
    return ripe_[units * kGenerations + static_cast<uint32_t>(generation)];
  }

  HoleBudget* const budget_;
  int64_t cost_ = 0;          // of all
  int64_t may_cost_ = 0;      // taken from the budget
  uint32_t next_any_ = 0;     // of `ripe_`
  std::deque<Hole> waiting_;  // of `groups_`, in turn, then the fresh ones
  size_t fresh_ = 0;          // of the batches since the last group
  std::deque<Group> groups_;
  std::array<std::vector<Ripe>, (kUnitsMax + 1) * kGenerations> ripe_;
};

}  // namespace weft::cache
