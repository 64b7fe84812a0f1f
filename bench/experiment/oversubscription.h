// bench/experiment/oversubscription.h: mean and tail latency as more and more client threads share
// each hardware thread.
//
// Records   each run has its own line in the log, with "oversubscription":
//           {"threads_per_hardware_thread": 4}.
//
// Threads   one at a time.
// Errors    as bench/drive/measure.h.
// Source    paper 002, section 4.4, figure 4.7 (whose runs of gets last five minutes: --seconds).
#pragma once

#include <vector>

#include "bench/experiment/experiment.h"
#include "weft/status.h"

namespace weft::bench {

struct OversubscriptionOptions {
  ExperimentOptions experiment = Defaults("oversubscription", {"ycsb-load", "ycsb-c"});
  std::vector<int> threads_per_hardware_thread = {1, 2, 4, 8};
};

void AddOversubscription(CLI::App* app, OversubscriptionOptions* options);
Status RunOversubscription(const OversubscriptionOptions& options);

}  // namespace weft::bench
