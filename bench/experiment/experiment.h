// bench/experiment/experiment.h: what the experiments of paper 002 have in common: options, data
// scaled to the machine, and runs of which those that a target can't do are left out.
//
// Threads   one at a time.
// Errors    as bench/drive/measure.h.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "bench/drive/driver.h"
#include "bench/drive/measure_options.h"
#include "bench/experiment/scale.h"
#include "bench/workload/mix.h"
#include "weft/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

struct ExperimentOptions {
  MeasureOptions measure = {};           // records 0: by data_fraction
  double data_fraction = kDataFraction;  // of the machine's memory (bench/experiment/scale.h)
};

// What an experiment is if nothing else is asked for: its workloads on all durable stores.
ExperimentOptions Defaults(const std::string& experiment,
                           const std::vector<std::string>& workloads);

// Options of `run`, and the data's. What is given must outlive the parsing; what it has is the
// default.
void AddExperiment(CLI::App* app, ExperimentOptions* options);

// The workloads that are asked for, scaled, but of no more than `records_max`; tells how much that
// is. kInvalidArgument: what is wrong.
Result<std::vector<OperationMix>> ScaledMixes(const ExperimentOptions& options,
                                              uint64_t records_max = kRecordsMax);

// `mix` on the driver's target. One that it has no operations for is told and left out: false.
Result<bool> RunOrLeaveOut(Driver* driver, const OperationMix& mix, const LoadOptions& load,
                           const Driver::Notes& notes = {});

// Prints what is known beside a run, under its line of the table.
void PrintBeside(const std::string& text);
// Prints what could not be measured, at the end.
void PrintUnavailable(const std::set<std::string>& reasons);

}  // namespace weft::bench
