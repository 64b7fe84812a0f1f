// bench/pipeline/figures.h: what workers found in one turn.
//
// Units     as named; ticks are base/ticks.h's.
// Threads   a value: each worker has its own, merged when all have stopped.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/histogram.h"
#include "pipeline/task_times.h"
#include "planner/search.h"

namespace weft::bench {

// A plan that a planner had in force.
struct PlanUse {
  planner::Candidate candidate;
  uint64_t queries = 0;        // by it
  planner::Estimate estimate;  // for which it was last put in force
};

struct Figures {
  // Queries.
  uint64_t gets = 0;
  uint64_t hits = 0;
  uint64_t sets = 0;
  uint64_t refused = 0;         // SETs that found no memory
  uint64_t victim_looks = 0;    // at objects of segments that were emptied; of the whole store
  uint64_t verified_whole = 0;  // replies of which every byte was compared

  // Batches.
  uint64_t batches = 0;
  uint32_t batch_queries = 0;         // what the interval came to; of several workers the mean
  base::Histogram latency_ns;         // of a query
  std::vector<uint64_t> stage_ticks;  // all batches together, by stage
  std::array<uint64_t, pipeline::kTaskCount> task_ns{};  // all queries together

  // Queries that were answered in each slot of time since the turn began, and those of them whose
  // batch had a plan with several stages. Empty if slots are not asked for.
  std::vector<uint64_t> slot_queries, slot_in_stages;

  std::vector<PlanUse> plan_uses;  // empty where no planner chose

  // Stages on devices.
  uint64_t device_queries = 0;
  uint64_t stolen_queries = 0;  // of these: run by the CPU beside the device
  uint64_t reruns = 0;          // stages done again on the CPU
  uint64_t behind_queries = 0;  // in one stage: the device was behind the store
  uint64_t device_busy_ns = 0;  // of turns_ns: some job was with a device
  uint64_t turns_ns = 0;

  // Workers.
  uint32_t workers = 0;
  double rate = 0;          // queries a second: the sum of the workers'
  uint64_t wall_ns = 0;     // all workers together
  uint64_t busy_ticks = 0;  // at work for the queries
  uint64_t verify_ticks = 0;
  double cpu_s = 0;  // for which the system let them run

  uint64_t queries() const { return gets + sets; }
  double hit_ratio() const {
    return gets == 0 ? 1 : static_cast<double>(hits) / static_cast<double>(gets);
  }
  // Mean of a batch, microseconds.
  double StageUs(size_t stage) const;
  double LongestStageUs() const;
  // Nanoseconds of a task, a query.
  double TaskNs(pipeline::Task task) const;
  // Shares of the workers' wall time.
  double Busy() const;
  double Verifying() const;
  double LetRun() const;
  // Share of the time that a device had work.
  double DeviceBusy() const;
  // The plan that did most queries. REQUIRES: a planner chose, and a query was done
  const PlanUse& MostUsed() const;

  void AddUse(const PlanUse& use);
  void Merge(const Figures& other);
};

nlohmann::json ToJson(const Figures& figures);

}  // namespace weft::bench
