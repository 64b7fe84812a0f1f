// bench/drive/measure.h: workloads on targets, one after another, each with its meters: prints a
// table and appends a line a run to a result file (bench/drive/run_record.h).
//
// Contents   The records of a workload are stored before it where they are not there: what is
//            stored stays for the next workload, if that has the same records, until one has added
//            or removed some. So YCSB's order is load, A, B, C, F, D, load, E.
// Turns      Repetitions go over all targets again: target by target, not run by run.
//
// Threads   one at a time.
// Errors    kInvalidArgument: no such target, workload or size. A target that can't be had, and a
//           workload that it has no operations for, are told and left out; an error of a run ends
//           the others of its target, too. RunMeasure then returns the first of these errors.
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
