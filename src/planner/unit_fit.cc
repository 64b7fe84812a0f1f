#include "planner/unit_fit.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "planner/cost_model.h"

namespace weft::planner {
namespace {

constexpr double kLeastNs = 0.1;  // a run's: what is less is the clock's
constexpr int kRounds = 10'000;
constexpr double kSettled = 1e-13;  // of a figure: then it stays as it is

constexpr size_t kFigures = 5;
struct Row {
  std::array<double, kFigures> factors{};
  double value = 0;
};
using Rows = std::array<Row, 2 * kSizes.size()>;

// The figures, none below 0, at which the rows' sums are nearest to their values: one after the
// other is given its best value, until none moves.
std::array<double, kFigures> NonNegativeLeastSquares(const Rows& rows) {
  std::array<double, kFigures> found{};
  for (int round = 0; round < kRounds; round++) {
    bool has_moved = false;
    for (size_t at = 0; at < found.size(); at++) {
      double product = 0, square = 0;
      for (const Row& row : rows) {
        double rest = row.value;
        for (size_t i = 0; i < found.size(); i++) rest -= row.factors[i] * found[i];
        product += row.factors[at] * (rest + row.factors[at] * found[at]);
        square += row.factors[at] * row.factors[at];
      }
      if (square == 0) continue;  // nobody asks for it
      const double best = std::max(product / square, 0.0);
      has_moved |= std::abs(best - found[at]) > kSettled * best;
      found[at] = best;
    }
    if (!has_moved) break;
  }
  return found;
}

}  // namespace

Profile ProfileOf(ObjectSizes sizes) {
  Profile profile;
  profile.key_bytes = sizes.key_bytes;
  profile.value_bytes = sizes.value_bytes;
  return profile;
}

Line LineThrough(double x1, double y1, double x2, double y2) {
  const double slope = std::max((y2 - y1) / (x2 - x1), 0.0);
  const double at_zero = (y1 + y2 - slope * (x1 + x2)) / 2;
  if (at_zero >= 0) return {at_zero, slope};
  return {0, std::max((x1 * y1 + x2 * y2) / (x1 * x1 + x2 * x2), 0.0)};
}

UnitCost FitUnit(Work work, bool affine, uint32_t line_bytes, const SizeRuns& runs) {
  Rows rows{};
  for (size_t i = 0; i < kSizes.size(); i++) {
    for (const bool cached : {false, true}) {
      const double ns = cached ? runs.few[i] : runs.all[i];
      if (cached && ns == 0) continue;
      const Accesses of =
          AccessesOf(work, ProfileOf(kSizes[i]), line_bytes, cached ? 1 : 0, affine);
      // Of each run as much as of the others, however long it takes.
      const double weight = 1 / std::max(ns, kLeastNs);
      Row& row = rows[2 * i + (cached ? 1 : 0)];
      row.factors = {weight, of.memory * weight, of.stream * weight, of.cache * weight,
                     of.far * weight};
      row.value = ns * weight;
    }
  }
  const auto [instructions, memory, stream, cache, far] = NonNegativeLeastSquares(rows);
  return {instructions, 0, memory, stream, cache, far};
}

}  // namespace weft::planner
