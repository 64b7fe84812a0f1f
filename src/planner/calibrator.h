// planner/calibrator.h: measures the unit costs of this machine's processors.
//
// Three stores are filled, one after the other, with small, medium and large objects, much larger
// than the caches. On each, all workers serve requests for all keys, whose lines are in no cache,
// and for few keys, whose lines all are. They serve reads, stores and deletes, in one stage and in
// two. Each run is a line in the costs of a workload by the cost model. The tasks' times in these
// runs give instructions, L_M, L_C and the others (planner/calibration_fit.h). Devices get jobs of
// reads of all keys, alone and beside the workers, to measure how each slows the other. In plans,
// also among stores, they show the workers' costs for batches that they share. Devices that make
// changes get stores and deletes by plans that have one task more each time. Sockets and a protocol
// are not measured: RV, PP, WR and SD count as their cost in memory (planner/learner.h learns the
// rest).
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
  // machine and the devices have room.
  uint64_t memory_bytes = 0;
  // Rules for measuring beside others' work; null: nobody else is at work. With them, a
  // memory_bytes of 0 means a part of their scratch.
  const GuestRules* guest = nullptr;
  double seconds = 0.1;  // of each run; some jobs, if a device's jobs take longer
  // Called before each step: its name, its number, and the number of steps.
  std::function<void(std::string_view, int, int)> progress;
};

// kNoMemory: there is too little memory to measure with. Otherwise errors of a device, the store or
// the guest's rules.
Result<Calibration> Calibrate(const CalibratorOptions& options);

}  // namespace weft::planner
