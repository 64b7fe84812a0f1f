// bench/experiment/bandwidth.h: throughput and instructions a cycle of a store, while as many other
// threads take memory bandwidth: from all that they can get down to none.
//
// Each thread of the load, and each of the hog (bench/meter/hog_process.h), is kept on its own
// core; if there are too few cores, on its own CPU. A store's background work goes anywhere.
//
// Full      what a triad's threads get: those of the hog alone, and all on these CPUs together,
//           which is the machine's.
// Records   each run has its own line in the log, with "bandwidth": {"hog_share", "hog_threads",
//           "machine_bytes_per_s", "hog_bytes_per_s": what the hog got during the run,
//           "left_bytes_per_s": the machine's less that, "ipc"} and a "setting" in words.
//
// Threads   one at a time; it forks, so no others may run when it is called.
// Errors    as bench/drive/measure.h; kUnsupported on a machine of one CPU; kInvalidArgument if
//           there are more threads than CPUs for both.
// Source    paper 002, section 4.3, figure 4.6.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/experiment/experiment.h"
#include "weft/status.h"

namespace weft::bench {

struct BandwidthOptions {
  ExperimentOptions experiment = Defaults("bandwidth", {"ycsb-load", "ycsb-c"});
  int threads = 0;  // of the load, and again of the hog; 0: four, or half the CPUs
  std::vector<double> shares = {1, 0.75, 0.5, 0.25, 0};  // of what the hog can get
  uint64_t array_bytes = 0;                              // bench/meter/triad.h
};

void AddBandwidth(CLI::App* app, BandwidthOptions* options);
Status RunBandwidth(const BandwidthOptions& options);

}  // namespace weft::bench
