// bench/pipeline/options.h: the options of `weft-bench pipeline`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/defaults.h"
#include "bench/harness/report.h"
#include "bench/meter/meters.h"
#include "bench/pipeline/worker.h"

namespace weft::bench {

enum class Stealing : uint8_t { kOn, kOff, kBoth };

struct PipelineOptions {
  std::vector<std::string> workloads;  // names; empty or "all": the 24
  // Texts, each against the one-stage plan, which always runs. "all": every plan that the planner
  // chooses from; "auto": the planner's choice, batch by batch.
  std::vector<std::string> plans;
  std::vector<std::string> devices;  // gpu0, gpu1, ... of the plans
  Stealing steal = Stealing::kOn;    // kBoth: each plan with several stages takes turns with itself
  uint32_t batches = 0;              // of a thread under way at once; 0: one a stage
  uint32_t batch_max = defaults::kPipelineBatchMax;  // queries, of plans with several stages
  uint64_t memory_mb = defaults::kPipelineMemoryMb;
  double fill = 1.0;      // of the objects that fit
  int threads = 0;        // 0: all CPUs
  std::vector<int> cpus;  // thread i runs on cpus[i]; empty: those usable
  std::vector<double> intervals_us = {defaults::kPipelineIntervalUs};  // one after the other
  size_t ring = defaults::kPipelineRing;                               // requests a thread
  Verify verify = Verify::kAll;
  bool huge_pages = true;
  bool walk = true;  // measures the bare walk beside each workload
  int repetitions = defaults::kRepetitions;
  double run_s = 1.0;
  double warmup_s = 0.25;
  // Also uncounted, for plan "auto", which tries plans first. Not 0: requests are carried out
  // before the first turn, too, so that no turn has the first reads of objects.
  double settle_s = 0;
  uint64_t seed = defaults::kSeed;
  // Of each turn; none: nothing is metered. Meters of energy want turns of a second or more.
  std::optional<MeterOptions> meters = std::nullopt;
  // Of the cost model, whose predictions stand beside what is measured; "measure": made first;
  // empty: none.
  std::string calibration;
  bool learns = true;  // the planner of plan "auto" corrects the calibration by what it sees
};

// The options of `weft-bench alternation`.
struct AlternationOptions {
  // Workloads that alternate, two or more; one interval.
  PipelineOptions pipeline;
  std::vector<double> cycles_ms;  // until the first workload comes again
  double trace_cycle_ms = 0;      // of the run that is shown slot by slot
  uint32_t trace_cycles = 0;      // of it, at least; the first one does not count
  double slot_ms = 0;
  std::string plots;  // folder of the charts; empty: none
};

// Names of the 24 in-memory workloads; those that share a data set in a row, fewest SETs first.
std::vector<std::string> PipelineWorkloads();

// Prints and records a row for each workload and plan, then a table of all. kInvalidArgument: a bad
// plan or workload; kCorruption: a wrong reply.
Status RunPipeline(const PipelineOptions& options, Report& report);

// Workloads that alternate: throughput slot by slot; how long the planner's plan takes to be at its
// best again; throughput by the length of the cycle (paper 000, figures 20 and 21). Errors as
// RunPipeline's; kInvalidArgument: times that don't go together; kIoError: a chart can't be
// written.
Status RunAlternation(const AlternationOptions& options, Report& report);

}  // namespace weft::bench
