// planner/calibration_fit.h: fits the processors' unit costs to the calibration's measurements.
//
// Each run is a line in the costs of a workload by the cost model (planner/cost_model.h). The
// figures are those with which the model gives the measured costs. None is below 0, whatever chance
// made of the runs.
//
// Threads   pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "planner/calibration.h"
#include "planner/load_figures.h"
#include "planner/unit_fit.h"

namespace weft::planner {

inline constexpr double kSkewMeasured = 0.99;  // in the run that shows how much the caches hold
inline constexpr uint32_t kSmallBatchQueries = 32;
inline constexpr uint32_t kSmallJobQueries = 64;  // one alone
inline constexpr uint32_t kMediumJobQueries = 1024;
inline constexpr uint32_t kVisitQueries = 2048;  // of a batch
inline constexpr uint32_t kVisitBatches = 3;     // of a worker
// About as large as batches become within usual intervals.
constexpr uint32_t LargeJobQueries(bool mirrored) { return mirrored ? 16384 : 4096; }

// Reads, unless a name says otherwise. `all`: of all keys, whose lines are in no cache. `few`: of
// few keys, whose lines all are.
struct CalibrationRuns {
  // By the workers, without a device.
  struct OfStore {
    LoadFigures all, few;          // in one stage
    LoadFigures two_all, two_few;  // the values gathered by a first stage
    LoadFigures stores;
    LoadFigures changes;        // half of them reads; the others stores and some deletes
    LoadFigures reads_between;  // of all keys in one stage; in turns with these
    LoadFigures insert_first;   // stores, made by a first stage;
    // In turns with `all`.
    LoadFigures small_batches;  // of kSmallBatchQueries; only for small objects
    LoadFigures skewed;         // by kSkewMeasured; for small and large objects
    double objects = 0;
  };
  // Workers under plans with a stage on the device.
  struct Visit {
    LoadFigures all, few;
  };
  // Of objects of middle size, only jobs and visits.
  struct OfDevice {
    // Jobs of LargeJobQueries of all keys; at [i], jobs with i + 1 of Search, KC and RD.
    std::array<LoadFigures, 3> reads;
    LoadFigures one_small_job, some_small_jobs;  // of kSmallJobQueries; by one thread
    LoadFigures medium_jobs;   // of kMediumJobQueries; as many at once as in `reads`
    LoadFigures one_feeder;    // a thread's jobs of Search and KC, alone;
    LoadFigures with_workers;  // the same, beside the workers
    LoadFigures workers_with;  // the workers; beside the device.
    // Some small jobs while workers store, and the workers' figures.
    LoadFigures following, followed;
    Visit searched;  // the device has Search
    Visit read;      // Search, KC and RD
    // The same, only of small objects, where a twentieth of the queries store: over all keys alike,
    // or by kSkewMeasured.
    LoadFigures among_stores, among_popular_stores;
    // Half stores, half deletes, one job at a time. The device has Search, then IN.insert, too,
    // then IN.delete. No queries: it makes no changes.
    std::array<LoadFigures, 3> changes;
  };

  std::array<OfStore, kSizes.size()> stores;                 // by size (planner/unit_fit.h)
  std::array<std::vector<OfDevice>, kSizes.size()> devices;  // likewise; gpu0, gpu1, ...
};

// Fills in the units and all other figures. `calibration` names its workers, and its devices as in
// `runs`.
void FitCalibration(const CalibrationRuns& runs, Calibration* calibration);

}  // namespace weft::planner
