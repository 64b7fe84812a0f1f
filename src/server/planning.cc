#include "server/planning.h"

#include <string>
#include <utility>

#include <spdlog/spdlog.h>

#include "pipeline/batch.h"
#include "planner/calibrator.h"

namespace weft::server {
namespace {

// Measured with many workers and few, a task costs not the same.
bool IsOfTheseWorkers(const planner::Calibration& calibration, const ServerOptions& options) {
  return calibration.workers == options.threads;
}

Result<std::unique_ptr<planner::Calibration>> MeasureNow(
    const ServerOptions& options, const std::vector<processor::Guard*>& devices,
    const std::string& path) {
  spdlog::info("measuring this machine for the planner, which takes some seconds; it is done once");
  planner::CalibratorOptions how;
  how.workers = options.threads;
  how.devices = devices;
  how.progress = [](std::string_view what, int step, int steps) {
    spdlog::info("measuring, {} of {}: {}", step + 1, steps, what);
  };
  auto calibration = planner::Calibrate(how);
  if (!calibration && calibration.error().code() == Code::kNoMemory) {
    spdlog::warn("no plan is chosen, all queries run in one stage on the cpu: {}",
                 calibration.error().message());
    return std::unique_ptr<planner::Calibration>();
  }
  if (!calibration) return calibration.error();
  if (Status status = planner::SaveCalibration(path, *calibration); status.ok()) {
    spdlog::info("what was measured is kept in {}", path);
  } else {
    spdlog::warn("what was measured is not kept, and is measured again at the next start: {}",
                 status.ToString());
  }
  return std::make_unique<planner::Calibration>(std::move(*calibration));
}

}  // namespace

Result<std::unique_ptr<planner::Calibration>> CalibrationFor(
    const ServerOptions& options, const std::vector<processor::Guard*>& devices) {
  std::vector<processor::Description> descriptions;
  for (const processor::Guard* device : devices) descriptions.push_back(device->description());
  const std::string hardware = planner::HardwareOf(descriptions);
  const bool is_named = !options.calibration_path.empty();
  const std::string path = is_named ? options.calibration_path : planner::DefaultPath(hardware);
  auto calibration = planner::LoadCalibration(path, hardware);
  if (!calibration && is_named) return calibration.error();
  if (calibration && (is_named || IsOfTheseWorkers(*calibration, options))) {
    spdlog::info("plans are chosen by {} of {}", path, calibration->date);
    return std::make_unique<planner::Calibration>(std::move(*calibration));
  }
  if (!calibration && calibration.error().code() != Code::kNotFound)
    spdlog::warn("{}", calibration.error().ToString());
  return MeasureNow(options, devices, path);
}

std::unique_ptr<planner::Planner> NewPlanner(const ServerOptions& options,
                                             planner::Calibration calibration,
                                             cache::Store* store) {
  if (calibration.devices.size() > 1) {
    spdlog::warn("--plan auto uses gpu0 alone; --plan can name the others");
    calibration.devices.resize(1);
  }
  planner::Planner::Options how;
  how.conditions.workers = options.threads;
  how.conditions.batches = pipeline::PlanRunner::Options{}.batches;
  how.conditions.queries_max = pipeline::PlanRunner::Options{}.queries_max;
  how.conditions.one_stage_max = pipeline::Batch::kQueriesMax;
  how.conditions.interval_us = options.interval_us;
  how.conditions.steal = options.steal;
  how.learns = options.learns;
  how.measures_batches = true;
  // Until clients have come: none are under way.
  how.profile.batch_queries = 1;
  how.profile.objects = 1;
  return std::make_unique<planner::Planner>(calibration, how, store);
}

}  // namespace weft::server
