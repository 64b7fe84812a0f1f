// bench/experiment/efficiency.h: what stores get out of this machine, and what it costs:
// throughput, operations a joule, instructions a cycle, branch and last-level misses; by one thread
// on one core and by as many as there are hardware threads.
//
// One       at most 3 M records: a core, not a machine, is measured, so all machines have the same.
// All       data scaled to the machine (bench/experiment/scale.h). Paper 002 wants the CPUs above
//           80 % busy: "busy" tells.
// Records   each run is one of its own in the log, with "efficiency": {"threads": "one", "all" or
//           their number, "threads_on_a_core", "busy" (the share of all CPUs' time), and the
//           readings of bench/experiment/ratios.h}.
//
// Threads   one at a time.
// Errors    as bench/drive/measure.h.
// Source    paper 002, sections 3.3, 4.1 and 4.2, figures 4.1 to 4.5.
#pragma once

#include <vector>

#include "bench/experiment/experiment.h"
#include "weft/status.h"

namespace weft::bench {

struct EfficiencyOptions {
  ExperimentOptions experiment = Defaults("efficiency", {"ycsb"});
  std::vector<int> threads = {1, 0};  // 0: all hardware threads
};

void AddEfficiency(CLI::App* app, EfficiencyOptions* options);
Status RunEfficiency(const EfficiencyOptions& options);

}  // namespace weft::bench
