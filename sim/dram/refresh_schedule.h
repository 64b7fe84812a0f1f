// sim/dram/refresh_schedule.h: which rank's refresh is due: the ranks in turns, one every
// tREFI / ranks, the first after that time.
//
// Units     clocks.
// Threads   one owner.
// Source    the simulator's specification, section 3.2, step 2.
#pragma once

#include <deque>

#include "sim/dram/timing.h"

namespace weft::sim {

class RefreshSchedule {
 public:
  RefreshSchedule(int ranks, int trefi)
      : ranks_(ranks), stagger_(trefi / ranks), next_due_(stagger_) {}

  // The clock in which the next refresh becomes due.
  Clock next_due() const { return next_due_; }
  // Call in every clock in which one does.
  void Advance(Clock now) {
    if (now < next_due_) return;
    due_.push_back(next_rank_);
    next_rank_ = (next_rank_ + 1) % ranks_;
    next_due_ += stagger_;
  }

  static constexpr int kNone = -1;
  // The rank whose refresh is due longest, or kNone.
  int due_rank() const { return due_.empty() ? kNone : due_.front(); }
  // It got its REF.
  void Done() { due_.pop_front(); }

 private:
  const int ranks_;
  const Clock stagger_;
  Clock next_due_;
  int next_rank_ = 0;
  std::deque<int> due_;
};

}  // namespace weft::sim
