// server/planning.h: the planner of `weft serve`, which chooses the plan of its workers.
//
// Threads   as said.
#pragma once

#include <memory>
#include <optional>

#include "cache/store.h"
#include "planner/planner.h"
#include "processor/guard.h"
#include "server/options.h"

namespace weft::server {

// The calibration that options.calibration_path names, or this user's; where he has none the
// machine is measured now, which takes 10 to 40 seconds and is kept for the next time. Null: it
// can't be measured, which the log tells; then the server does without a planner.
// Before the store takes its memory, and before any device follows a store. Of several devices the
// first one is used: a worker's batches lie in the memory of one.
// Errors: a file that was named can't be read, is none, or is of other hardware.
Result<std::unique_ptr<planner::Calibration>> CalibrationFor(const ServerOptions& options,
                                                             processor::Guard* device);

// For as many workers as options has threads.
std::unique_ptr<planner::Planner> NewPlanner(const ServerOptions& options,
                                             const planner::Calibration& calibration,
                                             cache::Store* store);

}  // namespace weft::server
