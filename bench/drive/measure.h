// bench/drive/measure.h: runs workloads on targets, one after another, each with its meters
// (bench/drive/driver.h); results go to a table and to files (bench/drive/run_log.h).
//
// Threads   one at a time.
// Errors    kInvalidArgument: no such target, workload or size. A target that can't be had, and a
//           workload that it lacks operations for, are reported and left out; an error of a run
//           also ends the other runs of its target. The first of these errors is returned then.
#pragma once

#include "bench/drive/measure_options.h"
#include "weft/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// `options` must outlive the parsing; its values are the defaults.
void AddMeasure(CLI::App* app, MeasureOptions* options);
Status RunMeasure(const MeasureOptions& options);

// Runs YCSB on all caches and all durable stores of this machine, for some seconds each.
Status RunQuick(const MeasureOptions& options);

}  // namespace weft::bench
