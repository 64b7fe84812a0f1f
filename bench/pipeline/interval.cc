#include "bench/pipeline/interval.h"

#include <algorithm>

#include "base/check.h"

namespace weft::bench {

IntervalController::IntervalController(double interval_us, uint32_t stages, uint32_t queries_max)
    : interval_us_(interval_us), stage_us_(interval_us / stages), queries_max_(queries_max) {
  WEFT_CHECK(interval_us > 0 && stages > 0);
  WEFT_CHECK(queries_max >= kStep && queries_max % kStep == 0);
}

void IntervalController::Note(uint32_t queries, double longest_stage_us, double latency_us) {
  if (queries != size_) return;
  filled_[noted_++] = std::max(longest_stage_us / stage_us_, latency_us / interval_us_);
  if (noted_ < kNotes) return;
  noted_ = 0;
  std::nth_element(filled_.begin(), filled_.begin() + kNotes / 2, filled_.end());
  const double filled = std::max(filled_[kNotes / 2], 1e-6);
  // Kept exactly: a size of few steps would else never grow by less than a step.
  wanted_ = std::clamp(wanted_ * std::clamp(kAim / filled, 0.5, 2.0), double{kStep},
                       static_cast<double>(queries_max_));
  size_ = static_cast<uint32_t>(wanted_ / kStep) * kStep;
}

}  // namespace weft::bench
