// planner/accesses.h: how often each work of a query goes to memory, and what it takes then.
//
// Units     nanoseconds a query; accesses a query.
// Threads   pure functions.
// Source    paper 000, section IV: equation 1, N_F^M and N_F^C, P.
#pragma once

#include "planner/calibration.h"
#include "planner/profile.h"

namespace weft::planner {

// Of an object in the log, its header too.
double ObjectBytes(const Profile& profile);

// With its part of a bucket: what a cache that holds it holds.
double CachedObjectBytes(const Profile& profile, uint32_t line_bytes);

// Of one query in one work.
struct Accesses {
  double memory = 0;  // N_F^M
  double stream = 0;  // further lines of an object in memory
  double cache = 0;   // N_F^C
  double far = 0;     // as `stream`, those behind the first kNearLines
};

// Of an object: so many are asked for before anybody waits for one of them. A core keeps ten to
// twenty lines under way; what is more waits for these, and costs another time each.
inline constexpr double kNearLines = 5;

// Equation 1 for one query.
double UnitNs(const UnitCost& unit, const Accesses& accesses, double key_bytes);

// The accesses of `work` to index and objects. `cached`: the share of accesses to what the
// processor's cache holds (P). `affine`: a work before it in the same stage has read the object.
Accesses AccessesOf(Work work, const Profile& profile, uint32_t line_bytes, double cached,
                    bool affine);

// P: the share of accesses that find what they look for in a cache of the processor's, shared by
// `workers` threads that write, each of which takes from the others what it writes.
double CachedShare(const ProcessorCosts& costs, const Profile& profile, uint32_t workers);

}  // namespace weft::planner
