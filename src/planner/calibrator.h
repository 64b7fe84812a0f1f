// planner/calibrator.h: measures the unit costs of this machine's processors.
//
// Three stores are filled, one after the other, of small, medium and large objects, much larger
// than the caches. On each, all workers serve requests for all keys, whose lines are in no cache,
// and for few keys, whose lines all are; reads, stores and deletes; in one stage and in two. What
// the tasks took in these runs, each a line in what a workload costs by the cost model, gives
// instructions, L_M, L_C and the others (planner/calibration_fit.h). Devices are given jobs of
// reads of all keys, and are measured beside the workers for what each does to the other, and in
// plans for what workers take of batches that they share with it, among stores too. One that makes
// changes is given stores and deletes by plans that have one task more each time. Sockets and a
// protocol are not measured: RV, PP, WR and SD are what they cost in memory (planner/learner.h has
// what becomes of the rest).
//
// Threads   one at a time; starts as many as there are workers.
// Source    paper 000, section IV: microbenchmarks for L, mu and unit costs.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "planner/calibration.h"
#include "planner/guest_rules.h"
#include "processor/guard.h"

namespace weft::planner {

struct CalibratorOptions {
  uint32_t workers = 1;
  std::vector<processor::Guard*> devices;  // gpu0, gpu1, ... of plans
  // Of each store; 0: many times the CPU's caches and 256 MiB a worker, up to 8 GiB, as far as the
  // machine and the devices have so much.
  uint64_t memory_bytes = 0;
  // Beside others' work, as these rules say; null: nobody else is at work. Then memory_bytes, where
  // it is 0, is a part of their scratch.
  const GuestRules* guest = nullptr;
  double seconds = 0.1;  // of each run; a device whose jobs take longer than that, some jobs
  // Told before each step: what it is, and which of how many.
  std::function<void(std::string_view, int, int)> progress;
};

// kNoMemory: there is too little memory to measure with. What a device, the store or the guest's
// rules say.
Result<Calibration> Calibrate(const CalibratorOptions& options);

}  // namespace weft::planner
