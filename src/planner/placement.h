// planner/placement.h: which stage has each task of a plan, as far as its cost depends on it.
//
// Threads   a value; a pure function.
#pragma once

#include <array>
#include <cstddef>

#include "pipeline/plan.h"
#include "planner/calibration.h"
#include "weft/status.h"

namespace weft::planner {

struct Placement {
  const ProcessorCosts* device = nullptr;  // of the only stage that is on one, if any is
  size_t device_stage = 0;
  std::array<size_t, pipeline::kTaskCount> stage_of{};
  size_t last = 0;

  bool OnDevice(pipeline::Task task) const {
    return device != nullptr && stage_of[static_cast<size_t>(task)] == device_stage;
  }
  size_t Of(pipeline::Task task) const { return stage_of[static_cast<size_t>(task)]; }
};

// `calibration` must outlive it. kInvalidArgument: the plan names a processor that the calibration
// lacks, or has several stages on devices.
Result<Placement> PlacementOf(const Calibration& calibration, const pipeline::Plan& plan);

}  // namespace weft::planner
