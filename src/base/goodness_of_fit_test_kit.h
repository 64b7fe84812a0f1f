// base/goodness_of_fit_test_kit.h: do draws follow the law that they should? For tests.
//
// Both accept right generators, except for one seed in ten thousand; seeds are fixed, so a test
// that has passed goes on passing.
//
// Threads   pure.
// Source    Pearson's chi-square, with critical values by E. Wilson and M. Hilferty, The
//           Distribution of Chi-square, 1931; Kolmogorov-Smirnov with the bound of P. Massart,
//           1990.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/check.h"

namespace weft::base {

inline constexpr double kFitAlpha = 1e-4;   // how often a right generator is refused
inline constexpr double kFitZ = 3.7190165;  // a normal variable exceeds it so often

struct Fit {
  double statistic = 0;
  double critical = 0;
  bool ok() const { return statistic <= critical; }
};

// Draws by cell, and each cell's exact probability; these sum to 1. Neighbours are taken together
// until at least ten draws are expected. One draw of an impossible cell is one too many.
inline Fit ChiSquare(const std::vector<uint64_t>& counts,
                     const std::vector<double>& probabilities) {
  WEFT_CHECK(counts.size() == probabilities.size());
  double draws = 0;
  for (const uint64_t count : counts) draws += static_cast<double>(count);
  Fit fit;
  struct Cell {
    double seen = 0;
    double expected = 0;
  };
  std::vector<Cell> cells(1);
  for (size_t i = 0; i < counts.size(); ++i) {
    if (probabilities[i] == 0 && counts[i] > 0) fit.statistic = HUGE_VAL;
    if (cells.back().expected >= 10) cells.emplace_back();
    cells.back().seen += static_cast<double>(counts[i]);
    cells.back().expected += probabilities[i] * draws;
  }
  if (cells.size() > 1 && cells.back().expected < 10) {
    const Cell last = cells.back();
    cells.pop_back();
    cells.back().seen += last.seen;
    cells.back().expected += last.expected;
  }
  for (const Cell& cell : cells)
    fit.statistic += (cell.seen - cell.expected) * (cell.seen - cell.expected) / cell.expected;
  const double degrees = std::max<double>(1, static_cast<double>(cells.size()) - 1);
  const double ninth = 2 / (9 * degrees);
  fit.critical = degrees * std::pow(1 - ninth + kFitZ * std::sqrt(ninth), 3);
  return fit;
}

// For a continuous law: the greatest distance between the draws' own distribution and `below`(x),
// the exact probability of a draw up to x.
inline Fit KolmogorovSmirnov(std::vector<double> draws,
                             const std::function<double(double)>& below) {
  std::sort(draws.begin(), draws.end());
  const auto count = static_cast<double>(draws.size());
  Fit fit;
  for (size_t i = 0; i < draws.size(); ++i) {
    const double exact = below(draws[i]);
    fit.statistic = std::max({fit.statistic, exact - static_cast<double>(i) / count,
                              static_cast<double>(i + 1) / count - exact});
  }
  fit.critical = std::sqrt(-std::log(kFitAlpha / 2) / (2 * count));
  return fit;
}

}  // namespace weft::base
