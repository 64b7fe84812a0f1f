// bench/experiment/efficiency.h: the stores' throughput on this machine, and its cost: operations a
// joule, instructions a cycle, branch and last-level misses. Runs have one thread on one core, and
// as many threads as the hardware.
//
// One       at most 3 M records: it measures a core, not a machine, so all machines have the same.
// All       data scaled to the machine (bench/experiment/scale.h). Paper 002 wants the CPUs above
//           80 % busy: see "busy".
// Records   each run has its own line in the log, with "efficiency": {"threads": "one", "all" or
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
