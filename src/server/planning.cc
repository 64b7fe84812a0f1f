#include "server/planning.h"

#include <string>
#include <utility>

#include <spdlog/spdlog.h>

#include "pipeline/batch.h"
#include "planner/calibrator.h"

namespace weft::server {
namespace {

std::unique_ptr<planner::Calibration> MeasureNow(const ServerOptions& options,
                                                 processor::Guard* device,
                                                 const std::string& path) {
  spdlog::info(
      "measuring this machine for the planner, which takes 10 to 40 seconds; it is done once");
  planner::CalibratorOptions how;
  how.workers = options.threads;
  how.devices = {device};
  how.progress = [](std::string_view what, int step, int steps) {
    spdlog::info("measuring, {} of {}: {}", step + 1, steps, what);
  };
  auto calibration = planner::Calibrate(how);
  if (!calibration) {
    spdlog::warn("no plan is chosen, all queries run in one stage on the cpu: {}",
                 calibration.error().ToString());
    return nullptr;
  }
  if (Status status = planner::SaveCalibration(path, *calibration); status.ok()) {
    spdlog::info("what was measured is kept in {}", path);
  } else {
    spdlog::warn("what was measured is not kept, and is measured again at the next start: {}",
                 status.ToString());
  }
  return std::make_unique<planner::Calibration>(std::move(*calibration));
}

}  // namespace

Result<std::unique_ptr<planner::Calibration>> CalibrationFor(const ServerOptions& options,
                                                             processor::Guard* device) {
  const std::string hardware = planner::HardwareOf({device->description()});
  const bool is_named = !options.calibration_path.empty();
  const std::string path =
      is_named ? options.calibration_path : planner::DefaultPath(hardware, options.threads);
  auto calibration = planner::LoadCalibration(path, hardware);
  if (calibration) {
    spdlog::info("plans are chosen by {} of {}", path, calibration->date);
    if (calibration->workers != options.threads)
      spdlog::warn("{} was measured with {} workers, here are {}: their work may cost another time",
                   path, calibration->workers, options.threads);
    return std::make_unique<planner::Calibration>(std::move(*calibration));
  }
  if (is_named) return calibration.error();
  if (calibration.error().code() != Code::kNotFound)
    spdlog::warn("{}", calibration.error().ToString());
  return MeasureNow(options, device, path);
}

std::unique_ptr<planner::Planner> NewPlanner(const ServerOptions& options,
                                             const planner::Calibration& calibration,
                                             cache::Store* store) {
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
