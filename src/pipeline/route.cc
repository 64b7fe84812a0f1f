#include "pipeline/route.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/parse_number.h"
#include "pipeline/task_times.h"

namespace weft::pipeline {
namespace {

constexpr std::array<std::pair<Task, uint32_t>, 5> kBits = {{
    {Task::kSearch, kRunSearch},
    {Task::kCompare, kRunCompare},
    {Task::kRead, kRunRead},
    {Task::kInsert, kRunInsert},
    {Task::kDelete, kRunDelete},
}};

constexpr std::string_view kDevicePrefix = "gpu";

Result<processor::Guard*> DeviceNamed(const std::string& name,
                                      std::span<processor::Guard* const> devices) {
  if (name == "cpu") return nullptr;
  size_t number = 0;
  if (!name.starts_with(kDevicePrefix) ||
      !base::ParseNumber(std::string_view(name).substr(kDevicePrefix.size()), &number))
    return InvalidPlan("a stage runs on cpu, gpu0, gpu1, ..., not on '" + name + "'");
  if (number >= devices.size()) {
    return InvalidPlan("the plan names " + name + ", but " + std::to_string(devices.size()) +
                       " devices are open: --device opens them");
  }
  return devices[number];
}

}  // namespace

bool IsMirrored(const processor::Guard* device) {
  return device != nullptr && device->description().memory == processor::MemoryModel::kMirrored;
}

processor::Guard* Route::device() const {
  for (const Step& step : steps) {
    if (step.device != nullptr) return step.device;
  }
  return nullptr;
}

processor::Guard* Route::mirror() const {
  for (const Step& step : steps) {
    if (IsMirrored(step.device)) return step.device;
  }
  return nullptr;
}

Result<Route> RouteOf(const Plan& plan, std::span<processor::Guard* const> devices) {
  Route route;
  route.plan = plan;
  for (size_t i = 0; i + 1 < plan.stages().size(); i++) {
    const Stage& stage = plan.stages()[i];
    Step step;
    auto device = DeviceNamed(stage.processor, devices);
    if (!device) return device.error();
    step.device = *device;
    step.places = stage.Has(Task::kMemory);
    for (const auto& [task, bit] : kBits) {
      if (!stage.Has(task)) continue;
      if (step.device == nullptr || (step.device->description().tasks & bit) != 0) {
        step.tasks |= bit;
      } else if (IsMirrored(step.device)) {
        route.left.push_back(task);
      } else {
        return InvalidPlan(stage.processor + " can't run " + std::string(TaskName(task)));
      }
    }
    processor::Guard* const other = route.device();
    if (step.device != nullptr && other != nullptr && other->pages() != step.device->pages())
      return InvalidPlan("the devices of one plan must see the same memory");
    // Of two mirrors each would take what the store has marked as changed from the other.
    if (IsMirrored(step.device) && route.mirror() != nullptr && route.mirror() != step.device)
      return InvalidPlan("a plan can have only one device with its own memory");
    route.tasks |= step.tasks;
    route.steps.push_back(step);
  }
  return route;
}

}  // namespace weft::pipeline
