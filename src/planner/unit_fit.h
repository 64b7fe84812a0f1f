// planner/unit_fit.h: from what a work took in a few runs to its unit cost.
//
// Threads   pure functions.
#pragma once

#include <array>

#include "planner/calibration.h"
#include "planner/profile.h"

namespace weft::planner {

// Of the objects of the stores that calibration measures with, one after the other.
struct ObjectSizes {
  uint32_t key_bytes, value_bytes;
};
inline constexpr ObjectSizes kSmallObjects = {16, 64};
inline constexpr ObjectSizes kMediumObjects = {32, 256};  // of kNearLines lines
inline constexpr ObjectSizes kLargeObjects = {128, 1024};
inline constexpr std::array kSizes = {kSmallObjects, kMediumObjects, kLargeObjects};
inline constexpr size_t kSmall = 0, kMedium = 1, kLarge = 2;

// Reads of such objects.
Profile ProfileOf(ObjectSizes sizes);

// y = at_zero + slope x through two points, or the nearest to them with neither below 0, for what
// is measured may be off. REQUIRES: x1 < x2, x1 >= 0
struct Line {
  double at_zero = 0, slope = 0;
};
Line LineThrough(double x1, double y1, double x2, double y2);

// Nanoseconds that a work took for a read, of all keys (whose lines are in no cache) and of few
// keys (whose lines are; 0: not measured), by size.
struct SizeRuns {
  std::array<double, kSizes.size()> all{}, few{};
};

// The unit cost at which the cost model gives what was measured, or the nearest to it (relative
// least squares); no figure is below 0. The key's bytes are not told from the lines that they lie
// on.
UnitCost FitUnit(Work work, bool affine, uint32_t line_bytes, const SizeRuns& runs);

}  // namespace weft::planner
