// bench/pipeline/turns.h: plans taking turns over one data set, with one workload or with several
// that alternate.
//
// Each repetition gives every thread requests with fresh keys, then runs every contender with them,
// a plan with or without stealing. Odd repetitions run them the other way round.
//
// Threads   the caller's, which starts and ends the workers'.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bench/harness/key_picker.h"
#include "bench/harness/samples.h"
#include "bench/meter/reading.h"
#include "bench/pipeline/data_set.h"
#include "bench/pipeline/devices.h"
#include "bench/pipeline/options.h"
#include "planner/planner.h"

namespace weft::bench {

// What the workers' clients send.
struct Traffic {
  std::vector<Workload> workloads;
  std::vector<const KeyPicker*> pickers;  // of each
  // With several workloads: how long each lasts before the next one comes; nanoseconds.
  uint64_t ring_turn_ns = 0;
  uint64_t slot_ns = 0;  // as in WorkerOptions
};

// What takes turns.
struct Contender {
  pipeline::Plan plan;
  double interval_us = defaults::kPipelineIntervalUs;  // bound of the mean latency
  bool steal = true;                                   // the CPU takes sets of a device's stage
  bool is_auto = false;  // `plan` is the first one; then the planner chooses
};

// One contender over all repetitions.
struct ContenderFigures {
  Samples rates;                                 // queries a second, all threads together
  Figures figures;                               // of all repetitions; its rate is the median
  std::optional<planner::PlannerStats> planner;  // of a contender that it chose for
  std::vector<Readings> meters;                  // of each repetition, where any are asked for
};

// Figures in the order of `contenders`. `calibration`: of the planner; may be null if none is asked
// for. kCorruption: a reply was wrong, or a stored key was missing although nothing was ever
// evicted. kDeviceLost: a device was given up.
Result<std::vector<ContenderFigures>> RunTurns(const PipelineOptions& options,
                                               const Traffic& traffic,
                                               const std::vector<Contender>& contenders,
                                               const planner::Calibration* calibration,
                                               Devices* devices, DataSet* data);

// Stores keys of the workload as often as there are objects, in one stage, which is not measured.
// Even the first contender then finds room as in a store that has long been full. Ends after some
// seconds in any case. Returns how many stores it made; errors as RunTurns.
Result<uint64_t> Age(const PipelineOptions& options, const Workload& workload,
                     const KeyPicker& picker, Devices* devices, DataSet* data);

}  // namespace weft::bench
