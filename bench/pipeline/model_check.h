// bench/pipeline/model_check.h: what the cost model says of a plan, beside what was measured.
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

// The workload as the planner sees it: what the workload's name says, and what only counting tells,
// as it was counted: hits and looks at victims.
planner::Profile ProfileOf(const Workload& workload, uint64_t objects, const Figures& figures);

// What of the options matters to the model.
planner::Conditions ConditionsOf(const PipelineOptions& options, const Contender& contender);

// Share of what was measured by which the prediction differs from it: negative where it was too
// low. Paper 000 has it the other way round, and its size is what counts. Where the workers are the
// bound, of the time that the system let them run: the model knows no others on their CPUs.
double ErrorOf(const planner::Estimate& estimate, const Figures& figures);

nlohmann::json ToJson(const planner::Estimate& estimate);

}  // namespace weft::bench
