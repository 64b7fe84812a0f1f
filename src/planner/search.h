// planner/search.h: chooses a plan: all legal ones are estimated, and the best is taken.
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

// The plan with one stage on the CPU first. Then every plan with one stage on one of the devices,
// gpu0, gpu1, ..., with stealing and, behind it, without.
// It omits changes on a device that was not measured with any (an empty unit cost): nothing is
// known of them. No workload favours further stages on the CPU, which belong to the same thread and
// break up one pass. Nor does one favour changes on a mirrored device, which makes none. So it
// omits them, too.
std::vector<Candidate> AllPlans(const Calibration& calibration);

// Compares two plans for one workload: those that fit the interval by throughput, then the others
// by latency. False also if they are alike.
bool IsBetter(const Estimate& a, const Estimate& b);

// How much more than one stage on the CPU a plan with a device must promise. The one-stage estimate
// is the surer one, and staying with it never loses: two estimates are each wrong by some percent.
inline constexpr double kDeviceGainMin = 0.1;
// The same for a plan that was tried for this workload.
inline constexpr double kKnownGainMin = 0.02;

// The estimate that compares the candidate with others. One stage is raised by kDeviceGainMin. A
// plan whose yield is known is raised so that it only needs kKnownGainMin more.
Estimate ForChoice(const Candidate& candidate, Estimate estimate, bool is_known = false);

// For each candidate; `yields`: for each, too, or empty: all are as promised. REQUIRES: the
// calibration of the model knows all processors that they name.
std::vector<Estimate> EstimateAll(Model* model, const std::vector<Candidate>& candidates,
                                  double batch_queries, std::span<const Yields::Yield> yields = {});

// For each candidate, its estimate with its yield, and that yield.
struct Outlook {
  std::vector<Estimate> estimates;
  std::vector<Yields::Yield> yields;
};

// A plan that yields less has smaller batches within the same interval, for which less is promised.
// Its yield refers to the promise for these, so a tried plan is estimated to have its measured
// throughput. `is_fresh` and `held` as for Yields::Of. REQUIRES: as EstimateAll
Outlook OutlookOf(Model* model, const std::vector<Candidate>& candidates, double batch_queries,
                  const Yields& yields, bool is_fresh, std::optional<Yields::Held> held = {});

// The candidate that should replace `standing`, because it is better by more than `hysteresis`;
// otherwise `standing`. `estimates` and `yields`: for each candidate.
size_t BestInPlaceOf(size_t standing, std::span<const Candidate> candidates,
                     std::span<const Estimate> estimates, std::span<const Yields::Yield> yields,
                     double hysteresis, double interval_us);

// One line of the table of plans.
struct Choice {
  Candidate candidate;
  Estimate estimate;
};

// The candidates with their estimates, best choice first. Equals stay in the order of `candidates`,
// which prefers plans without a device. REQUIRES: the calibration knows all processors that they
// name.
std::vector<Choice> RankPlans(const Calibration& calibration, const Profile& profile,
                              const Conditions& conditions,
                              const std::vector<Candidate>& candidates);

// The fewest queries of a batch, a multiple of kSetQueries, with which the plan is at all faster
// than one stage on the CPU: it was chosen for a larger gain. `limit` + 1: there are none up to
// `limit`.
uint32_t FewestQueriesOf(Model* model, const Candidate& candidate, uint32_t limit, double yield = 1,
                         double one_stage_yield = 1);
uint32_t FewestQueriesOf(const Calibration& calibration, const Profile& profile,
                         const Conditions& conditions, const Candidate& candidate, uint32_t limit);

}  // namespace weft::planner
