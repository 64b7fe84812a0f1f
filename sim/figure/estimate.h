// sim/figure/estimate.h: a mean of a few runs that differ by their seed, and how far it can be
// trusted.
//
// Threads   pure.
#pragma once

#include <vector>

namespace weft::sim {

// The true mean lies within half_width of `mean` with 95 % (Student's t; figures of runs taken as
// normally distributed). One run says nothing of that: it has no half_width, and 0 stands for it in
// comparisons.
struct Estimate {
  double mean = 0;
  double half_width = 0;
  bool has_half_width = false;

  double low() const { return mean - half_width; }
  double high() const { return mean + half_width; }
};
// REQUIRES: !values.empty()
Estimate EstimateOf(const std::vector<double>& values);

// Is `a` above `b`, as far as can be told? Runs are in pairs, a seed each. REQUIRES: as many of
// both, and at least one
bool IsAbove(const std::vector<double>& a, const std::vector<double>& b);
bool IsAbove(const std::vector<double>& a, double bound);

// Of ranks, ties sharing their mean rank: 1 if both rise together, -1 if one falls as the other
// rises, 0 if all of one are alike. REQUIRES: as many of both
double SpearmanCorrelation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace weft::sim
