// planner/unit_fit.h: from what a work took in a few runs to its unit cost.
//
// Threads   pure functions.
#pragma once

#include "planner/calibration.h"
#include "planner/profile.h"

namespace weft::planner {

// Of the objects of the two stores that calibration measures with.
struct ObjectSizes {
  uint32_t key_bytes, value_bytes;
};
inline constexpr ObjectSizes kSmallObjects = {16, 32};
inline constexpr ObjectSizes kLargeObjects = {128, 1024};

// Reads of such objects.
Profile ProfileOf(ObjectSizes sizes);

// y = at_zero + slope x through two points, or the nearest to them with neither below 0, for what
// is measured may be off. REQUIRES: x1 < x2, x1 >= 0
struct Line {
  double at_zero = 0, slope = 0;
};
Line LineThrough(double x1, double y1, double x2, double y2);

// Nanoseconds that a work took for a read, of small and of large objects, of all keys (whose lines
// are in no cache) and of few keys (whose lines are).
struct FourRuns {
  double small_all = 0, small_few = 0, large_all = 0, large_few = 0;
};

// The unit cost at which the cost model gives what was measured; no figure is below 0. The key's
// bytes are not told from the lines that they lie on.
UnitCost FitUnit(Work work, bool affine, uint32_t line_bytes, const FourRuns& runs);

}  // namespace weft::planner
