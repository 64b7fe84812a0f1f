#include "bench/pipeline/interval.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace weft::bench {

IntervalController::IntervalController(double interval_us, uint32_t queries_max,
                                       uint32_t queries_first)
    : interval_us_(interval_us),
      queries_max_(queries_max),
      wanted_(std::clamp(queries_first, kStep, std::max(kStep, queries_max))),
      size_(static_cast<uint32_t>(wanted_) / kStep * kStep) {
  WEFT_CHECK(interval_us > 0);
  WEFT_CHECK(queries_max >= kStep && queries_max % kStep == 0);
}

double IntervalController::FilledByNotes() {
  const auto middle = latencies_us_.begin() + kNotes / 2;
  std::nth_element(latencies_us_.begin(), middle, latencies_us_.end());
  const double most = kHeldUp * *middle;
  double sum = 0, sum_of_all = 0;
  for (const double each : latencies_us_) {
    sum += std::min(each, most);
    sum_of_all += each;
  }
  const double filled = std::max(sum / kNotes / interval_us_, 1e-6);
  // A stall of a second is no reason to run small batches for long.
  const double of_all = std::min(sum_of_all / kNotes / interval_us_, 2 * kMostAdded * filled);
  // Sizes on their way to the interval say nothing of those that it will come to.
  if (size_ > kOnTheWay * told_size_ || filled > 2 * kAim) return filled;
  const auto count = [](double* all, double round) { *all += (round - *all) / kLongRun; };
  count(&long_rounds_, 1);
  count(&long_queries_, size_);
  count(&long_filled_queries_, size_ * of_all);
  count(&long_filled_, filled);
  return filled;
}

double IntervalController::Added() const {
  if (long_rounds_ == 0) return 1;
  const double filled = long_filled_ / long_rounds_;
  return std::clamp(long_filled_queries_ / long_queries_ / filled, 1.0, kMostAdded);
}

void IntervalController::Note(uint32_t queries, double latency_us) {
  if (queries != size_) return;
  latencies_us_[noted_++] = latency_us;
  if (noted_ < kNotes) return;
  noted_ = 0;
  const double filled = FilledByNotes();
  const double changed = told_size_ == 0 ? 0 : std::log(size_ / told_size_);
  if (std::abs(changed) > kTelling)
    elasticity_ +=
        (std::clamp(std::log(filled / told_filled_) / changed, kLeastElastic, 1.0) - elasticity_) /
        2;
  told_size_ = size_;
  told_filled_ = filled;
  // Kept exactly: a size of few steps would else never grow by less than a step.
  const double left = std::log(kAim / Added() / filled);
  const double step = std::abs(left) > kTelling ? left / elasticity_ : left;
  wanted_ = std::clamp(wanted_ * std::clamp(std::exp(step), 0.5, 2.0), double{kStep},
                       static_cast<double>(queries_max_));
  size_ = static_cast<uint32_t>(wanted_ / kStep) * kStep;
}

}  // namespace weft::bench
