// planner/calibration_fit.h: from what calibration measured to the unit costs of the processors.
//
// Each run is a line in what a workload costs by the cost model (planner/cost_model.h); the figures
// are those at which the model says what was measured. None is below 0, whatever chance made of the
// runs.
//
// Threads   pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "planner/calibration.h"
#include "planner/load_figures.h"

namespace weft::planner {

inline constexpr double kSkewMeasured = 0.99;  // of the run that says how much the caches hold
inline constexpr uint32_t kSmallBatchQueries = 32;
inline constexpr uint32_t kSmallJobQueries = 64;

// Reads, but for what is named otherwise; of all keys, whose lines are in no cache, or of few,
// whose lines all are.
struct CalibrationRuns {
  // Of the workers, without a device.
  struct OfStore {
    LoadFigures all, few;          // in one stage
    LoadFigures two_all, two_few;  // the values gathered by a first stage
    LoadFigures stores;
    LoadFigures changes;       // half of them reads, the others stores and some deletes
    LoadFigures reads_between;  // of all keys in one stage, in turns with these
    LoadFigures insert_first;   // stores, made by a first stage
    // In turns with `all`, of small objects alone.
    LoadFigures small_batches;  // of kSmallBatchQueries
    LoadFigures skewed;         // by kSkewMeasured
    double objects = 0;
  };
  // Workers, by plans with a stage on the device.
  struct Visit {
    LoadFigures all, few;
  };
  struct OfDevice {
    // Jobs, by how many of Search, KC and RD they have, less one.
    std::array<LoadFigures, 3> all, few;
    LoadFigures one_small_job, small_jobs;  // of kSmallJobQueries; one or several at once
    LoadFigures with_workers;               // the device, beside the workers
    LoadFigures workers_with;               // the workers, beside the device
    // Small jobs while all workers store, and what those did.
    LoadFigures following, followed;
    Visit searched;  // the device has Search
    Visit read;      // Search, KC and RD
    // Half stores, half deletes, one job at a time: the device has Search, then IN.insert too, then
    // IN.delete. Without queries: it makes no changes.
    std::array<LoadFigures, 3> changes;
  };

  std::array<OfStore, 2> stores;  // kSmallObjects, kLargeObjects (planner/unit_fit.h)
  std::array<std::vector<OfDevice>, 2> devices;  // likewise; gpu0, gpu1, ...
};

// Fills in the units and all other figures. `calibration` names its workers, and its devices as in
// `runs`.
void FitCalibration(const CalibrationRuns& runs, Calibration* calibration);

}  // namespace weft::planner
