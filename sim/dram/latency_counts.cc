#include "sim/dram/latency_counts.h"

#include "base/check.h"

namespace weft::sim {

void LatencyCounts::Add(Clock latency) {
  constexpr size_t kShortMax = 4096;
  WEFT_DCHECK(latency >= 0);
  const auto at = static_cast<size_t>(latency);
  if (at > kShortMax) {
    ++longer_[latency];
  } else {
    if (at >= short_.size()) short_.resize(at + 1);
    ++short_[at];
  }
  ++count_;
  sum_ += latency;
}

double LatencyCounts::mean() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

Clock LatencyCounts::Percentile(int per_mille) const {
  WEFT_CHECK(count_ > 0 && per_mille >= 1 && per_mille <= 1000);
  // In whole numbers, and without N x per_mille, so that no rank is rounded.
  const int64_t rank = count_ / 1000 * per_mille + (count_ % 1000 * per_mille + 999) / 1000;
  int64_t passed = 0;
  for (size_t latency = 0; latency < short_.size(); ++latency) {
    passed += short_[latency];
    if (passed >= rank) return static_cast<Clock>(latency);
  }
  for (const auto& [latency, count] : longer_) {
    passed += count;
    if (passed >= rank) return latency;
  }
  return longer_.rbegin()->first;
}

}  // namespace weft::sim
