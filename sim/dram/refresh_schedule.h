// sim/dram/refresh_schedule.h: whose refresh is due: the ranks' in turns, one every tREFI / ranks,
// the first after that time; or a bank's of each rank in turns, every tREFI / (ranks x banks).
//
// Units     clocks.
// Threads   one owner.
// Source    the simulator's specification, section 3.2, step 2.
#pragma once

#include <algorithm>
#include <deque>

#include "sim/dram/timing.h"

namespace weft::sim {

class RefreshSchedule {
 public:
  struct Due {
    int rank;
    int bank;     // 0 if whole ranks are refreshed
    Clock since;  // when it became due
  };

  // `banks`: of a rank; 1: whole ranks are refreshed.
  RefreshSchedule(int ranks, int banks, int trefi)
      : ranks_(ranks), units_(ranks * banks), stagger_(trefi / units_), next_due_(stagger_) {}

  // The clock in which the next refresh becomes due.
  Clock next_due() const { return next_due_; }
  // Call it in every clock in which a refresh becomes due.
  void Advance(Clock now) {
    if (now < next_due_) return;
    due_.push_back({next_unit_ % ranks_, next_unit_ / ranks_, now});
    next_unit_ = (next_unit_ + 1) % units_;
    next_due_ += stagger_;
  }

  bool is_due() const { return !due_.empty(); }
  // The one that has been due longest. REQUIRES: is_due()
  const Due& due() const { return due_.front(); }
  bool IsDue(int rank) const {
    return std::any_of(due_.begin(), due_.end(), [&](const Due& due) { return due.rank == rank; });
  }
  // due() got its REF or REFpb.
  void Done() { due_.pop_front(); }

 private:
  const int ranks_;
  const int units_;  // each is refreshed once in a tREFI
  const Clock stagger_;
  Clock next_due_;
  int next_unit_ = 0;
  std::deque<Due> due_;
};

}  // namespace weft::sim
