// pipeline/route.h: a Plan made ready to run: each stage's tasks as bits, its processor found.
//
// Threads   a value; the devices must outlive it.
#pragma once

#include <span>
#include <vector>

#include "pipeline/plan.h"
#include "processor/guard.h"

namespace weft::pipeline {

// Whether it works on a copy of the store in its own memory. Null: the worker's thread, which does
// not.
bool IsMirrored(const processor::Guard* device);

// A stage before the last.
struct Step {
  processor::Guard* device = nullptr;  // null: the worker's own thread
  uint32_t tasks = 0;                  // kRun... (task/query_job.h)
  bool places = false;                 // it has MM
};

struct Route {
  Plan plan;
  std::vector<Step> steps;  // before the last; none in a plan of one stage;
  uint32_t tasks = 0;       // of all steps
  // Tasks that the plan gives to a device that works on a copy of the store, which it can't change.
  // The last stage carries them out.
  std::vector<Task> left;

  bool Has(uint32_t task) const { return (tasks & task) != 0; }
  bool is_one_stage() const { return steps.empty(); }
  // The device whose memory the batch must lie in, or null.
  processor::Guard* device() const;
  // The device with its own memory, or null.
  processor::Guard* mirror() const;
};

// `devices`: "gpu0", "gpu1", ... of the plan. kInvalidArgument if the plan names another one, or
// one on coupled memory that can't run its tasks; or several that do not see each other's memory.
Result<Route> RouteOf(const Plan& plan, std::span<processor::Guard* const> devices);

}  // namespace weft::pipeline
