// bench/experiment/experiment.h: what the experiments of paper 002 share: options, data scaled to
// the machine, and runs that leave out what a target can't do.
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

// The defaults of an experiment: its workloads on all durable stores.
ExperimentOptions Defaults(const std::string& experiment,
                           const std::vector<std::string>& workloads);

// Options of `run`, and the data's. `options` must outlive the parsing; its values are the
// defaults.
void AddExperiment(CLI::App* app, ExperimentOptions* options);

// The workloads asked for, scaled, but to `records_max` records at most; prints the data's size.
// kInvalidArgument: what is wrong.
Result<std::vector<OperationMix>> ScaledMixes(const ExperimentOptions& options,
                                              uint64_t records_max = kRecordsMax);

// Runs `mix` on the driver's target. If the target lacks its operations, says so: false.
Result<bool> RunOrLeaveOut(Driver* driver, const OperationMix& mix, const LoadOptions& load,
                           const Driver::Notes& notes = {});

// Prints what else is known of a run, under its line of the table.
void PrintBeside(const std::string& text);
// Prints what could not be measured, at the end.
void PrintUnavailable(const std::set<std::string>& reasons);

}  // namespace weft::bench
