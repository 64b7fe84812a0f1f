#include "planner/placement.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/parse_number.h"

namespace weft::planner {
namespace {

using pipeline::Task;

Status Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

Result<const ProcessorCosts*> CostsNamed(const Calibration& calibration, const std::string& name) {
  constexpr std::string_view kPrefix = "gpu";
  size_t number = 0;
  if (name.starts_with(kPrefix) &&
      base::ParseNumber(std::string_view(name).substr(kPrefix.size()), &number) &&
      number < calibration.devices.size())
    return &calibration.devices[number];
  return Invalid("the calibration knows no processor " + name);
}

}  // namespace

Result<Placement> PlacementOf(const Calibration& calibration, const pipeline::Plan& plan) {
  Placement placement;
  placement.last = plan.stages().size() - 1;
  for (size_t i = 0; i < plan.stages().size(); i++) {
    const pipeline::Stage& stage = plan.stages()[i];
    for (const Task task : stage.tasks) placement.stage_of[static_cast<size_t>(task)] = i;
    if (stage.processor == "cpu") continue;
    if (placement.device != nullptr)
      return Invalid("the model handles only plans with one stage on a device");
    auto costs = CostsNamed(calibration, stage.processor);
    if (!costs) return costs.error();
    placement.device = *costs;
    placement.device_stage = i;
  }
  // A copy of the store is never changed by its device: the last stage does it.
  if (placement.device != nullptr && placement.device->mirrored) {
    for (const Task task : {Task::kInsert, Task::kDelete})
      if (placement.OnDevice(task)) placement.stage_of[static_cast<size_t>(task)] = placement.last;
  }
  return placement;
}

}  // namespace weft::planner
