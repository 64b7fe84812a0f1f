#include "cache/holes.h"

#include <new>

namespace weft::cache {

Holes::~Holes() { budget_->GiveBack(may_cost_); }

bool Holes::Keep(const Hole& hole) {
  if (hole.units > kUnitsMax) return false;
  const int64_t cost = cost_ + CostOf(hole.units);
  if (cost > may_cost_) {
    if (!budget_->Take(kBudgetStep)) return false;
    may_cost_ += kBudgetStep;
  }
  try {
    waiting_.push_back(hole);
  } catch (const std::bad_alloc&) {
    return false;
  }
  fresh_++;
  cost_ = cost;
  return true;
}

// Where there is no memory, they wait for the next time.
void Holes::RipenGroup(Epochs* epochs) try {
  groups_.push_back({epochs->Retire(), fresh_});
  fresh_ = 0;
  const uint64_t oldest = epochs->Oldest();
  for (; !groups_.empty() && groups_.front().stamp < oldest; groups_.pop_front()) {
    for (; groups_.front().count != 0; groups_.front().count--, waiting_.pop_front()) {
      const Hole& hole = waiting_.front();
      Of(hole.units, hole.generation).push_back({hole.location, hole.version});
    }
  }
} catch (const std::bad_alloc&) {
}

void Holes::Shrink(std::vector<Ripe>* list) {
  if (list->capacity() > kRoomKept && list->size() < list->capacity() / 4) list->shrink_to_fit();
}

void Holes::GiveBackSome() {
  may_cost_ -= kBudgetStep;
  budget_->GiveBack(kBudgetStep);
}

Hole Holes::TakeAny() {
  for (uint32_t looks = 0; looks < ripe_.size(); looks++) {
    const uint32_t at = next_any_;
    next_any_ = (next_any_ + 1) % ripe_.size();
    if (!ripe_[at].empty()) return Take(at / kGenerations, Generation(at % kGenerations));
  }
  if (waiting_.empty()) return {};
  // From the end, so that the groups before stay whole.
  const Hole hole = waiting_.back();
  waiting_.pop_back();
  Leaves(hole.units);
  if (fresh_ != 0) {
    fresh_--;
  } else if (--groups_.back().count == 0) {
    groups_.pop_back();
  }
  return hole;
}

}  // namespace weft::cache
