// bench/drive/measure.h: workloads on targets, one after another, each with its meters
// (bench/drive/driver.h), told to a table and to files (bench/drive/run_log.h).
//
// Threads   one at a time.
// Errors    kInvalidArgument: no such target, workload or size. A target that can't be had, and a
//           workload that it has no operations for, are told and left out; an error of a run ends
//           the others of its target, too. The first of these errors is returned then.
#pragma once

#include "bench/drive/measure_options.h"
#include "weft/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// What is given must outlive the parsing; what it has is the default.
void AddMeasure(CLI::App* app, MeasureOptions* options);
Status RunMeasure(const MeasureOptions& options);

// YCSB on all caches and on all durable stores of this machine, some seconds each.
Status RunQuick(const MeasureOptions& options);

}  // namespace weft::bench
