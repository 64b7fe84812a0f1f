// planner/cost_model.h: how long a plan takes for a workload, before it is tried.
//
// A worker's thread runs all stages on the CPU (pipeline/plan_runner.h), so the times that must be
// balanced are not those of stages, as in paper 000, but those of what works side by side: the
// workers, and the device. Who drives one with memory of its own follows the store as well, one
// after the other: the device's time is that of both. The longer of workers' and device's is T_max;
// work stealing moves work from the device to the workers until both take as long (equation 3). The
// latency interval bounds the batch, and through what is spent once a batch the throughput.
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
// Units     nanoseconds a query of the whole system, but where a name says otherwise.
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

// At an object of a victim: when it is collected, and when it goes (cache/emptying.h).
inline constexpr double kLooksPerObject = 2;

// Equation 3, per query: the device needs `device` for what it does, and `kept` for what nobody can
// take from it; the workers need `own` for theirs, and `stolen` for all that the device does. What
// the slower of both takes once the workers take a part of it, and which part.
struct Stolen {
  double time = 0;
  double share = 0;
};
Stolen Steal(double device, double own, double stolen, double kept = 0);

// How long a copy lacks what was stored: an object is there when all batches have ended that were
// under way when it was stored (processor/mirror.h), so as long as twice these take.
inline constexpr double kMirrorLag = 2;

// A plan whose workers may steal from a device with memory of its own takes so much longer, be
// there something to steal or not: jobs go there in smaller parts. Not measured by calibration;
// docs/design/0009-choosing-a-plan.md.
inline constexpr double kStealingTakes = 0.03;
// And in each of these parts the store is followed anew.
inline constexpr double kFollowingShared = 2;

// Under what the plan would be carried out.
struct Conditions {
  uint32_t workers = 1;
  uint32_t batches = 3;           // of a worker, under way at once, where a device takes part
  uint32_t queries_max = 1024;    // of a batch, likewise
  uint32_t one_stage_max = 1024;  // of a batch of the one-stage plan
  double interval_us = 1000;      // mean latency at most
  bool steal = true;
};

// What of a plan takes the longest.
enum class Bound : uint8_t {
  kWorkers,
  kDevice,
  kFollowing,  // the device, which is following the store for most of its time
  kLatency,    // the batches under way are too few to keep anybody busy
};
std::string_view BoundName(Bound bound);

// A query's time of a worker in the tasks that pipeline::TaskTimes tells apart.
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
  double worker_ns = 0;      // a query, of one worker's time, with what it steals
  double device_ns = 0;      // a query, of the device's time, without what is stolen
  double following_ns = 0;   // a query, beside that
  double stolen_share = 0;   // of the device's queries
  Bound bound = Bound::kWorkers;
  bool fits = true;  // false: even the smallest batch takes longer than the interval
  std::vector<StageEstimate> stages;
  // Where nothing is stolen, and how much more where all is that can be, for who compares them with
  // what was measured. With what the device's interference adds.
  TaskNs task_ns{}, stolen_task_ns{};
  double worker_slower = 1;  // by interference, a factor
};

// Estimates plans for one workload. What they have in common, sums over all keys before all, is
// worked out once: for all plans it is some hundred times as fast as EstimatePlan for each.
class Model {
 public:
  // `calibration` must outlive it.
  Model(const Calibration& calibration, const Profile& profile, const Conditions& conditions);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Conditions::steal and Profile::batch_queries are as given here. `yield`: the part of the
  // throughput that the plan is known to have (planner/yields.h); the latency is so much longer.
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
