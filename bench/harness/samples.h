// bench/harness/samples.h: the repetitions of one measurement, and their summary: the median and
// the spread, never the mean or the best.
#pragma once

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/histogram.h"

namespace weft::bench {

class Samples {
 public:
  Samples() = default;
  explicit Samples(std::vector<double> all) : all_(std::move(all)) {}

  void Add(double value) { all_.push_back(value); }
  bool empty() const { return all_.empty(); }
  const std::vector<double>& all() const { return all_; }

  // REQUIRES (all three): !empty()
  double Median() const {
    WEFT_CHECK(!all_.empty());
    std::vector<double> sorted = all_;
    std::sort(sorted.begin(), sorted.end());
    const size_t middle = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
  double Min() const { return *std::min_element(all_.begin(), all_.end()); }
  double Max() const { return *std::max_element(all_.begin(), all_.end()); }

 private:
  std::vector<double> all_;
};

// a[i] / b[i] for runs taken side by side.
inline Samples PairRatios(const Samples& a, const Samples& b) {
  Samples ratios;
  for (size_t i = 0; i < std::min(a.all().size(), b.all().size()); ++i)
    ratios.Add(a.all()[i] / b.all()[i]);
  return ratios;
}

// A percentile of nanoseconds, in microseconds.
inline double PercentileUs(const base::Histogram& latency_ns, double percent) {
  return static_cast<double>(latency_ns.Percentile(percent)) * 1e-3;
}

}  // namespace weft::bench
