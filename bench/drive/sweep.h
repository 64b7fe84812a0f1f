// bench/drive/sweep.h: which latency a target has at which throughput, and the highest rate at
// which it keeps a limit.
//
// First      a closed loop: the most that this load gets out of the target.
// Curve      open loops at rates up to kAbove times that, closer to each other towards the top. All
//            repetitions of a target and workload use the rates of the first, so that each point
//            has as many runs.
// Highest    with a limit: the highest rate at which the latency keeps it and the operations asked
//            for are done, by halving (bench/drive/rate_search.h). A run may end late by the limit,
//            but by no more of its time than the tolerance; a hundredth is always allowed. The
//            figure is the throughput reached there, not the rate asked for. At each rate most of
//            `tries` runs must hold; those that fail while the client itself was late do not count.
//            The rate found must hold once more. The curve has one run a rate: its successes count
//            as known, its failures do not.
// Records    each run has its own line in the log, with "sweep": {"part": "top", "curve", "search"
//            or "highest", "limit": "p99 <= 1000 us", "holds": true, "counts": true}; the last
//            three where they apply. "counts" is false for a run that failed while the client was
//            late. The records that inserting workloads have added are removed before each run.
//
// Threads    one at a time.
// Errors     as bench/drive/measure.h; kInvalidArgument for workloads that fill or have a rate.
#pragma once

#include <vector>

#include "bench/drive/measure_options.h"
#include "bench/drive/sweep_options.h"
#include "weft/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// `options` must outlive the parsing; its values are the defaults.
void AddSweep(CLI::App* app, SweepOptions* options);
Status RunSweep(const SweepOptions& options);

// The curve's rates, from low to high.
std::vector<double> CurveRates(double top_per_s, int points);

}  // namespace weft::bench
