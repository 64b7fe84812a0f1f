// The figures that a planner chooses by, and what begins with them.
#include <utility>

#include "base/check.h"
#include "planner/planner.h"

namespace weft::planner {

// One stage on the CPU, estimated where there are figures to estimate it by.
std::unique_ptr<Decision> Planner::FirstDecisionLocked() const {
  auto first = std::make_unique<Decision>();
  first->candidate = candidates_[0];
  first->profile = known_;
  first->why = is_calibrated_ ? "nothing has been counted yet" : "nothing has been measured yet";
  if (!is_calibrated_) return first;
  Model model(learner_.learned(), known_, options_.conditions);
  first->estimate = std::move(*model.Of(candidates_[0].plan, false, known_.batch_queries));
  return first;
}

// What was counted of the workload until now stays in `known_`, and the next window is the first
// that is planned for: what workers took before says nothing of plans.
void Planner::Adopt(const Calibration& calibration) {
  base::MutexLock lock(&mutex_);
  WEFT_CHECK(!is_calibrated_ && candidate_ == 0);
  is_calibrated_ = true;
  candidates_ = AllPlans(calibration);
  learner_ = Learner(calibration);
  yields_ = Yields(candidates_.size());
  settled_ = {};
  settled_windows_ = 0;
  has_begun_ = false;
  trial_ = {};
  BeginSpanLocked();
  BeginLessonLocked();
  auto first = FirstDecisionLocked();
  first->number = in_force_->number;
  PutInForceLocked(std::move(first));
}

std::vector<Candidate> Planner::candidates() const {
  base::MutexLock lock(&mutex_);
  return candidates_;
}

}  // namespace weft::planner
