// planner/search.h: which plan to carry out: all that are legal are estimated, the best is taken.
//
// Threads   pure functions.
// Cost      some 150 plans with one device: build/release/src/planner/search_bench.
// Source    paper 000, section IV-B, "Finding the optimal pipeline configuration".
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "planner/cost_model.h"
#include "planner/yields.h"

namespace weft::planner {

// A plan, and whether the workers steal from its device.
struct Candidate {
  pipeline::Plan plan;
  bool steal = false;
  bool operator==(const Candidate&) const = default;
};

// The plan with one stage on the CPU first; then every plan with one stage on one of the devices,
// gpu0, gpu1, ..., with stealing and, behind it, without.
// Left out, for nothing is known of them: changes on a device that was not measured with such (an
// empty unit cost). Left out, for no workload makes them better than one of these: further stages
// on the CPU (they are the same thread's work, and break up what one stage does in one pass), and
// for a mirrored device, which changes nothing, plans that give it changes.
std::vector<Candidate> AllPlans(const Calibration& calibration);

// Of two plans for one workload: those that fit the interval by throughput, then the others by
// latency. False: they are alike, too.
bool IsBetter(const Estimate& a, const Estimate& b);

// By how much more a plan with a device must promise than the one with one stage on the CPU. That
// estimate is the surer one, and who keeps to it never loses: two estimates are each wrong by some
// percent.
inline constexpr double kDeviceGainMin = 0.1;
// By how much more one that was tried for this workload.
inline constexpr double kKnownGainMin = 0.02;

// The estimate by which the candidate is compared with others: of one stage kDeviceGainMin better
// than it is, and of a plan whose yield is known so much better that it needs kKnownGainMin alone.
Estimate ForChoice(const Candidate& candidate, Estimate estimate, bool is_known = false);

// Of each candidate; `yields`: of each, too, or empty: all are as promised. REQUIRES: the
// calibration of the model knows all processors that they name.
std::vector<Estimate> EstimateAll(Model* model, const std::vector<Candidate>& candidates,
                                  double batch_queries, std::span<const Yields::Yield> yields = {});

// Of each candidate, what it is estimated to have with its yield, and that yield.
struct Outlook {
  std::vector<Estimate> estimates;
  std::vector<Yields::Yield> yields;
};

// A plan that yields less has smaller batches within the same interval, of which less is promised:
// its yield is that of the promise for these, so that a plan that was tried is estimated to have
// what it was measured to have. `is_fresh` and `held` as for Yields::Of. REQUIRES: as EstimateAll
Outlook OutlookOf(Model* model, const std::vector<Candidate>& candidates, double batch_queries,
                  const Yields& yields, bool is_fresh, std::optional<Yields::Held> held = {});

// The candidate that is to take the place of `standing`, for it is better by more than
// `hysteresis`, or `standing`. `estimates` and `yields`: of each candidate.
size_t BestInPlaceOf(size_t standing, std::span<const Candidate> candidates,
                     std::span<const Estimate> estimates, std::span<const Yields::Yield> yields,
                     double hysteresis, double interval_us);

// One line of the table of plans.
struct Choice {
  Candidate candidate;
  Estimate estimate;
};

// The candidates with their estimates, best choice first. Of equals the one that comes first in
// `candidates`, so that what needs no device is preferred. REQUIRES: the calibration knows all
// processors that they name.
std::vector<Choice> RankPlans(const Calibration& calibration, const Profile& profile,
                              const Conditions& conditions,
                              const std::vector<Candidate>& candidates);

// The fewest queries of a batch, a multiple of kSetQueries, with which the plan is faster than one
// stage on the CPU, be it by little: it was chosen for more than that; `limit` + 1: with none up to
// `limit`.
uint32_t FewestQueriesOf(Model* model, const Candidate& candidate, uint32_t limit, double yield = 1,
                         double one_stage_yield = 1);
uint32_t FewestQueriesOf(const Calibration& calibration, const Profile& profile,
                         const Conditions& conditions, const Candidate& candidate, uint32_t limit);

}  // namespace weft::planner
