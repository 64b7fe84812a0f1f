// bench/pipeline/table.h: what was measured of all workloads and plans, for people.
//
// Threads   one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/pipeline/figures.h"
#include "bench/pipeline/turns.h"
#include "planner/cost_model.h"

namespace weft::bench {

struct TableLine {
  std::string workload;
  size_t contender;
  double ratio;  // to the one-stage plan
  bool kept;     // the interval
  Figures figures;
  std::optional<planner::Estimate> estimate;
  // Of the plan that did most of the planner's queries: what it promised, as far as it had learned.
  std::optional<planner::Estimate> promised = std::nullopt;
  // And the contender with that plan.
  std::optional<size_t> settled_on = std::nullopt;
};

// The table, then a summary of all workloads: what stealing adds, how far the model was off, and
// how good the plans are that it chooses. `lines`: workload by workload, each with all contenders
// in their order; the first one is the one-stage plan.
void PrintTable(const std::vector<Contender>& contenders, const std::vector<TableLine>& lines);

// How good the model's choice is for one workload, of lines [begin, begin + contenders).
struct ChoiceCheck {
  size_t chosen = 0, best = 0;  // contenders
  double behind = 0;            // of the best's rate: the chosen one is slower by it
  double over_one_stage = 1;    // rates: the chosen one's to the one-stage plan's
  // The planner's own turn to the one-stage plan's, with all that finding a plan cost.
  std::optional<double> turn_over_one_stage = std::nullopt;
};
// As the planner chooses: the best prediction that keeps the interval, if it beats one stage by
// more than planner::kDeviceGainMin. `best` is the best of those that kept the interval when
// measured, or of all if none did. Lines without an estimate, such as the planner's, cannot be
// chosen. Nor can plans whose device was behind the store for most queries: these went through one
// stage.
ChoiceCheck CheckChoice(const std::vector<TableLine>& lines, size_t begin, size_t contenders);

// The same for the plan that the planner, having learned, had settled on: its last choice may be a
// trial under way. None if no line is the planner's, or none has its plan.
std::optional<ChoiceCheck> CheckPlanner(const std::vector<TableLine>& lines, size_t begin,
                                        size_t contenders);

// Whether the contender differs from the one before it in that it does not steal.
bool IsWithoutStealing(const std::vector<Contender>& contenders, size_t at);

}  // namespace weft::bench
