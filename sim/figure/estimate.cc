#include "sim/figure/estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/check.h"

namespace weft::sim {
namespace {

// Student's t for 95 %, both sides, by degrees of freedom from 1 on; for more than there are, the
// last is a little too large.
constexpr std::array<double, 20> kStudentT = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                              2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                                              2.131,  2.120, 2.110, 2.101, 2.093, 2.086};

std::vector<double> RanksOf(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t at = begin; at < end; ++at) {
      ranks[order[at]] = static_cast<double>(begin + end - 1) / 2;
    }
    begin = end;
  }
  return ranks;
}

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

Estimate EstimateOf(const std::vector<double>& values) {
  WEFT_CHECK(!values.empty());
  Estimate estimate{.mean = MeanOf(values)};
  if (values.size() == 1) return estimate;
  double squares = 0;
  for (const double value : values) squares += std::pow(value - estimate.mean, 2);
  const size_t freedom = values.size() - 1;
  const double variance_of_mean =
      squares / static_cast<double>(freedom) / static_cast<double>(values.size());
  estimate.half_width =
      kStudentT[std::min(freedom, kStudentT.size()) - 1] * std::sqrt(variance_of_mean);
  estimate.has_half_width = true;
  return estimate;
}

bool IsAbove(const std::vector<double>& a, const std::vector<double>& b) {
  WEFT_CHECK(a.size() == b.size());
  std::vector<double> differences;
  for (size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  return EstimateOf(differences).low() > 0;
}

bool IsAbove(const std::vector<double>& a, double bound) { return EstimateOf(a).low() > bound; }

double SpearmanCorrelation(const std::vector<double>& a, const std::vector<double>& b) {
  WEFT_CHECK(a.size() == b.size());
  if (a.empty()) return 0;
  const std::vector<double> ranks_a = RanksOf(a);
  const std::vector<double> ranks_b = RanksOf(b);
  const double mean = MeanOf(ranks_a);
  double both = 0;
  double only_a = 0;
  double only_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    both += (ranks_a[i] - mean) * (ranks_b[i] - mean);
    only_a += std::pow(ranks_a[i] - mean, 2);
    only_b += std::pow(ranks_b[i] - mean, 2);
  }
  return only_a == 0 || only_b == 0 ? 0 : both / std::sqrt(only_a * only_b);
}

}  // namespace weft::sim
