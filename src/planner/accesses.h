// planner/accesses.h: how often each work of a query goes to memory, and what that costs.
//
// Units     nanoseconds a query; accesses a query.
// Threads   pure functions.
// Source    paper 000, section IV: equation 1, N_F^M and N_F^C, P.
#pragma once

#include "planner/calibration.h"
#include "planner/profile.h"

namespace weft::planner {

// Bytes of an object in the log, including its header.
double ObjectBytes(const Profile& profile);

// The bytes that a cache holds for an object, including its part of a bucket.
double CachedObjectBytes(const Profile& profile, uint32_t line_bytes);

// The accesses of one query in one work.
struct Accesses {
  double memory = 0;  // N_F^M
  double stream = 0;  // further lines of an object, from memory
  double cache = 0;   // N_F^C
  double far = 0;     // as `stream`: the lines behind the first kNearLines
};

// Lines of an object that are fetched before anybody waits for one of them. A core keeps ten to
// twenty lines under way; further lines wait for these, and cost another time each.
inline constexpr double kNearLines = 5;

// Equation 1 for one query.
double UnitNs(const UnitCost& unit, const Accesses& accesses, double key_bytes);

// The accesses of `work` to index and objects. `cached`: the share of accesses that the processor's
// cache serves (P). `affine`: a work before it in the same stage has read the object.
Accesses AccessesOf(Work work, const Profile& profile, uint32_t line_bytes, double cached,
                    bool affine);

// P: the share of accesses that hit a cache of the processor. `workers` writing threads share it,
// each of which takes away from the others the lines that it writes.
double CachedShare(const ProcessorCosts& costs, const Profile& profile, uint32_t workers);

}  // namespace weft::planner
