// bench/pipeline/contenders.h: makes what a benchmark of the pipeline runs from its options.
//
// Threads   one.
#pragma once

#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/pipeline/devices.h"
#include "bench/pipeline/figures.h"
#include "bench/pipeline/options.h"
#include "bench/pipeline/turns.h"
#include "planner/calibration.h"

namespace weft::bench {

// None if none is asked for. "measure": made now, with progress. kInvalidArgument: plan "auto"
// needs one.
Result<std::optional<planner::Calibration>> CalibrationFor(const PipelineOptions& options,
                                                           const Devices& devices);

// Of one interval, the one-stage plan first. If both are asked for, each other plan comes with
// stealing and then without. "all": every plan that the planner chooses from. kInvalidArgument:
// something is no plan.
Result<std::vector<Contender>> ContendersOf(const PipelineOptions& options, double interval_us,
                                            const Devices& devices);

// The workloads that are named, or all. kInvalidArgument for a bad name.
Result<std::vector<Workload>> ParseWorkloads(const PipelineOptions& options);

// For a store that the devices follow.
DataSetOptions DataSetOptionsOf(const PipelineOptions& options, const Devices& devices);

nlohmann::json DevicesJson(const Devices& devices);

// Notes and prints the planner's decision in the turns with those figures.
void AddDecision(const planner::PlannerStats& planner, const Figures& figures,
                 nlohmann::json* details);

}  // namespace weft::bench
