#include "server/planning.h"

#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "base/system_memory.h"
#include "pipeline/batch.h"
#include "server/background_calibrator.h"

namespace weft::server {
Result<FoundCalibration> FindCalibration(const ServerOptions& options,
                                         const processor::Guard& device) {
  const std::string hardware = planner::HardwareOf({device.description()});
  const bool is_named = !options.calibration_path.empty();
  FoundCalibration found;
  found.path =
      is_named ? options.calibration_path : planner::DefaultPath(hardware, options.threads);
  auto calibration = planner::LoadCalibration(found.path, hardware);
  if (!calibration) {
    if (is_named) return calibration.error();
    if (calibration.error().code() != Code::kNotFound)
      found.warnings.push_back(calibration.error().ToString());
    return found;
  }
  // Figures of a small store are those of its lines in a cache.
  const std::vector<uint64_t> sizes =
      ScratchSizes(options.memory_bytes, options.threads, base::MemoryToBeHad());
  if (!is_named && calibration->scratch_bytes != 0 && !sizes.empty() &&
      sizes.front() > 2 * calibration->scratch_bytes) {
    found.info = fmt::format(
        "{} was measured in {} MiB, but this server would measure in {} MiB: measuring again",
        found.path, calibration->scratch_bytes >> 20, sizes.front() >> 20);
    return found;
  }
  found.info = fmt::format("the planner uses {}, measured at {}", found.path, calibration->date);
  if (calibration->workers != options.threads)
    found.warnings.push_back(
        fmt::format("{} was measured with {} workers, but this server has {}: its costs may differ",
                    found.path, calibration->workers, options.threads));
  found.calibration = std::move(*calibration);
  return found;
}

std::unique_ptr<planner::Planner> NewPlanner(const ServerOptions& options,
                                             const planner::Calibration* calibration,
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
  return calibration == nullptr ? std::make_unique<planner::Planner>(how, store)
                                : std::make_unique<planner::Planner>(*calibration, how, store);
}

}  // namespace weft::server
