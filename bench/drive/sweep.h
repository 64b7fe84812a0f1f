// bench/drive/sweep.h: what latency a target has at which throughput, and the highest rate at which
// it keeps a limit.
//
// First      a closed loop: the most that this load gets out of the target.
// Curve      open loops at rates up to kAbove times that, closer to each other towards the top. All
//            repetitions of a target and workload have the rates of the first, so that each point
//            has as many runs.
// Highest    with a limit: the highest rate at which the latency keeps it and what is asked for is
//            done, by halving (bench/drive/rate_search.h). A run may end late by the limit, but by
//            no more of its time than the tolerance; a hundredth is always let pass. Told is the
//            throughput that was had there, not the rate that was asked for.
//            At each rate most of `tries` runs must hold, and those that fail while the client was
//            late itself do not count; the rate that is found has to hold once more. Of the curve,
//            a run a rate, what holds is taken; what fails is not.
// Records    each run is one of its own in the log, with "sweep": {"part": "top", "curve", "search"
//            or "highest", "limit": "p99 <= 1000 us", "holds": true, "counts": true}; the last
//            three where they apply. "counts" is false of what failed while the client was late.
//            What workloads that insert have added is taken away before each run.
//
// Threads    one at a time.
// Errors     as bench/drive/measure.h; kInvalidArgument for workloads that load or have a rate.
#pragma once

#include <vector>

#include "bench/drive/measure_options.h"
#include "bench/drive/sweep_options.h"
#include "weft/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// What is given must outlive the parsing; what it has is the default.
void AddSweep(CLI::App* app, SweepOptions* options);
Status RunSweep(const SweepOptions& options);

// The curve's rates, from low to high.
std::vector<double> CurveRates(double top_per_s, int points);

}  // namespace weft::bench
