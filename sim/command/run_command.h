// sim/command/run_command.h: `weft-sim run`, which plays a source's records on the whole machine
// and writes the outcome (run/report.h).
//
// Threads   one at a time.
// Errors    those of run/simulation.h and run/report.h.
#pragma once

#include "sim/run/simulation.h"
#include "weft/status.h"

namespace weft::sim {

// Plays the records, writes the report, and prints its summary. On a terminal, stderr shows how far
// it is.
Status RunOn(const RunOptions& options, const RunParts& parts);

// The same for options.workload, with the units of `prefetch`.
Status RunSource(const RunOptions& options, const PrefetchOptions& prefetch);

}  // namespace weft::sim
