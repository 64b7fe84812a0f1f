// planner/cost_model.h: predicts how long a plan takes for a workload, before it is tried.
//
// A worker's thread runs all stages on the CPU (pipeline/plan_runner.h). Workers and device work
// side by side, so their times must be balanced, not those of stages, as in paper 000. The thread
// that drives a device with its own memory also follows the store, so the device's time includes
// both. The longer of the workers' and the device's time is T_max; work stealing moves work from
// the device to the workers until both take equally long (equation 3). The latency interval bounds
// the batch, and so the throughput, because some costs arise once a batch.
//
// Table I of paper 000, here:
//   N                   Estimate::batch_queries
//   I_F / IPC, L_M, L_C UnitCost (planner/calibration.h), a work and processor each
//   N_F^M, N_F^C        Accesses (planner/accesses.h)
//   T_F                 UnitNs (equation 1), nanoseconds a query
//   T_A                 Estimate::stages (equation 2)
//   mu                  ProcessorCosts::interference
//   T_A^WS              Steal (equation 3)
//   T_max, S            Estimate::longest_ns, ::queries_per_s (equation 4)
//   P                   HeadShare (planner/popularity.h)
//
// Units     nanoseconds a query of the whole system, unless a name says otherwise.
// Threads   pure functions; a Model is one thread's.
// Cost      a Model: some 30 us; a plan: about one: build/release/src/planner/search_bench.
// Source    paper 000, section IV.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "pipeline/plan.h"
#include "planner/accesses.h"

namespace weft::planner {

// Looks at an object of a victim: when it is collected, and when it goes (cache/emptying.h).
inline constexpr double kLooksPerObject = 2;

// Equation 3, per query. The device needs `device` for its work, and `kept` for the part that
// nobody can take from it. The workers need `own` for theirs, and `stolen` for all of the device's.
// Gives the time of the slower of both once the workers take a part, and that part.
struct Stolen {
  double time = 0;
  double share = 0;
};
Stolen Steal(double device, double own, double stolen, double kept = 0);

// How long a copy lacks what was stored. An object is there once all batches have ended that were
// under way when it was stored (processor/mirror/mirror.h): after twice their time.
inline constexpr double kMirrorLag = 2;

// A plan whose workers may steal from a device with its own memory takes this much longer, even
// with nothing to steal: jobs go there in smaller parts. Not measured by calibration;
// docs/design/0009-choosing-a-plan.md.
inline constexpr double kStealingTakes = 0.03;
// And each of these parts follows the store anew.
inline constexpr double kFollowingShared = 2;

// Conditions under which the plan would be carried out.
struct Conditions {
  uint32_t workers = 1;
  uint32_t batches = 3;           // of a worker, under way at once; if a device takes part
  uint32_t queries_max = 1024;    // of a batch, likewise
  uint32_t one_stage_max = 1024;  // of a batch of the one-stage plan
  double interval_us = 1000;      // mean latency at most
  bool steal = true;
};

// The part of a plan that takes the longest.
enum class Bound : uint8_t {
  kWorkers,
  kDevice,
  kFollowing,  // the device, which mostly follows the store
  kLatency,    // the batches under way are too few to keep anybody busy
};
std::string_view BoundName(Bound bound);

// A worker's time for a query in each task that pipeline::TaskTimes measures.
using TaskNs = std::array<double, pipeline::kTaskCount>;

struct StageEstimate {
  double ns = 0;  // a query, without stealing: of one worker's time, or of the device's
  double us = 0;  // a batch
};

struct Estimate {
  double queries_per_s = 0;  // S
  double batch_queries = 0;  // N
  double latency_us = 0;     // mean, of a query
  double longest_ns = 0;     // T_max / N
  double worker_ns = 0;      // a query, of one worker's time; with what it steals
  double device_ns = 0;      // a query, of the device's time; without what is stolen
  double following_ns = 0;   // a query, besides that
  double stolen_share = 0;   // of the device's queries
  Bound bound = Bound::kWorkers;
  bool fits = true;  // false: even the smallest batch takes longer than the interval
  std::vector<StageEstimate> stages;
  // Without stealing, and the increase if all is stolen that can be, to compare with measurements.
  // Include the device's interference.
  TaskNs task_ns{}, stolen_task_ns{};
  double worker_slower = 1;  // by interference, a factor
};

// Estimates plans for one workload. Their common part, above all sums over all keys, is worked out
// once: for all plans together this is some hundred times as fast as EstimatePlan for each.
class Model {
 public:
  // `calibration` must outlive it.
  Model(const Calibration& calibration, const Profile& profile, const Conditions& conditions);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Conditions::steal and Profile::batch_queries are as given here. `yield`: the part of the
  // throughput that the plan is known to reach (planner/yields.h); the latency grows to match.
  // kInvalidArgument: the plan names a processor that the calibration lacks, or several devices.
  Result<Estimate> Of(const pipeline::Plan& plan, bool steal, double batch_queries,
                      double yield = 1);

 private:
  struct Common;
  const std::unique_ptr<Common> common_;
};

// Model::Of for one plan.
Result<Estimate> EstimatePlan(const Calibration& calibration, const Profile& profile,
                              const pipeline::Plan& plan, const Conditions& conditions);

}  // namespace weft::planner
