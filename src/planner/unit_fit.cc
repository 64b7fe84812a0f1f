#include "planner/unit_fit.h"

#include <algorithm>
#include <cmath>

#include "planner/cost_model.h"

namespace weft::planner {

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

UnitCost FitUnit(Work work, bool affine, uint32_t line_bytes, const FourRuns& runs) {
  const Profile small = ProfileOf(kSmallObjects), large = ProfileOf(kLargeObjects);
  const auto accesses = [&](const Profile& profile, bool cached) {
    return AccessesOf(work, profile, line_bytes, cached ? 1 : 0, affine);
  };
  UnitCost unit;
  const double small_hits = accesses(small, true).cache, large_hits = accesses(large, true).cache;
  if (large_hits > small_hits) {
    const Line few = LineThrough(small_hits, runs.small_few, large_hits, runs.large_few);
    unit.instructions = few.at_zero;
    unit.cache = few.slope;
  } else {
    unit.instructions = std::max(runs.small_few - small_hits * unit.cache, 0.0);
  }
  // What is left is of memory: so much an access, so much a line that follows.
  const Accesses s = accesses(small, false), l = accesses(large, false);
  const double small_rest = std::max(runs.small_all - unit.instructions, 0.0);
  const double large_rest = std::max(runs.large_all - unit.instructions, 0.0);
  const double determinant = s.memory * l.stream - l.memory * s.stream;
  if (std::abs(determinant) > 1e-9) {
    unit.memory = (small_rest * l.stream - large_rest * s.stream) / determinant;
    unit.stream = (large_rest * s.memory - small_rest * l.memory) / determinant;
  }
  if (unit.memory < 0 || unit.stream < 0 || std::abs(determinant) <= 1e-9) {
    // One of the two explains both; which it is the accesses say.
    unit.memory = unit.stream = 0;
    if (l.stream > 0) {
      unit.stream = (s.stream * small_rest + l.stream * large_rest) /
                    (s.stream * s.stream + l.stream * l.stream);
    } else if (s.memory > 0) {
      unit.memory = (small_rest + large_rest) / (s.memory + l.memory);
    }
  }
  return unit;
}

}  // namespace weft::planner
