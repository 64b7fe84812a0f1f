// pipeline/plan.h: which tasks form which stage on which processor.
//
// A Plan is data: it is carried inside each batch, so it may change at any batch boundary without
// disturbing batches in flight. Written and read as
//   [RV PP MM]cpu → [IN.search KC RD]gpu0 → [IN.insert IN.delete WR SD]cpu
// ("->" is read too). The plan with one stage on the CPU is always legal, and what small batches
// get.
//
// Threads   a value; constant once in a batch.
// Source    paper 000, sections III and IV (tasks, pipeline partitioning, index assignment).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/task_times.h"
#include "weft/status.h"

namespace weft::pipeline {

struct Stage {
  std::vector<Task> tasks;
  std::string processor;  // "cpu", "gpu0", ...

  bool Has(Task task) const;
  bool operator==(const Stage&) const = default;
};

class Plan {
 public:
  // Everything in one stage on the CPU.
  static Plan OneStageCpu();
  // kInvalidArgument with the reason, where the text is no legal plan.
  static Result<Plan> Parse(std::string_view text);

  const std::vector<Stage>& stages() const { return stages_; }
  std::string ToText() const;
  bool operator==(const Plan&) const = default;

 private:
  Status Check() const;
  // Stage that holds the task. REQUIRES: exactly one does.
  size_t StageOf(Task task) const;

  std::vector<Stage> stages_;
};

// What a plan is answered with that can't be.
inline Status InvalidPlan(std::string why) { return {Code::kInvalidArgument, std::move(why)}; }

}  // namespace weft::pipeline
