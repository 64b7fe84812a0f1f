// bench/pipeline/model_check.h: the cost model's prediction for a plan, beside what was measured.
//
// Threads   values; pure functions.
// Source    paper 000, section V-B: the error of the model over the workloads.
#pragma once

#include <string>

#include "bench/pipeline/figures.h"
#include "bench/pipeline/options.h"
#include "bench/pipeline/turns.h"
#include "planner/cost_model.h"

namespace weft::bench {

// The workload as the planner sees it: what the workload's name says; and hits and looks at victims
// as counted, because only counting tells them.
planner::Profile ProfileOf(const Workload& workload, uint64_t objects, const Figures& figures);

// The options that matter to the model.
planner::Conditions ConditionsOf(const PipelineOptions& options, const Contender& contender);

// By which share of the measured rate the prediction differs from it: negative if it was too low.
// Paper 000 has it the other way round, and only its size counts. Where the workers are the bound,
// the rate is of the time that the system let them run: the model knows no others on their CPUs.
double ErrorOf(const planner::Estimate& estimate, const Figures& figures);

nlohmann::json ToJson(const planner::Estimate& estimate);

}  // namespace weft::bench
