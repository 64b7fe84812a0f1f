// server/planning.h: the planner of `weft serve`, which chooses the plan of its workers.
//
// Threads   as said.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/store.h"
#include "planner/planner.h"
#include "processor/guard.h"
#include "server/options.h"

namespace weft::server {

// The figures that plans are chosen by, or where to keep them once they are measured. In the latter
// case the machine was not measured yet, or with much less memory than this server has for it.
struct FoundCalibration {
  std::optional<planner::Calibration> calibration;
  std::string path;
  // For the log, once the server has started: one that fails only says why.
  std::vector<std::string> warnings;
  std::string info;
};

// The calibration that options.calibration_path names, or this user's. Of several devices the first
// is used: a worker's batches lie in the memory of one. Errors: a named file can't be read, is no
// calibration, or is of other hardware.
Result<FoundCalibration> FindCalibration(const ServerOptions& options,
                                         const processor::Guard& device);

// For as many workers as options has threads. `calibration`: null if there is none yet.
std::unique_ptr<planner::Planner> NewPlanner(const ServerOptions& options,
                                             const planner::Calibration* calibration,
                                             cache::Store* store);

}  // namespace weft::server
