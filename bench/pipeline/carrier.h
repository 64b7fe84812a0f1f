// bench/pipeline/carrier.h: carries a worker's batches through a plan. It is the one place of the
// benchmark that knows how; everything else fills batches and reads replies.
//
// A flight is one batch under way. Free() gives one that carries nothing, and its batch is filled.
// Begin takes it through all stages but the last. Once Ready() names it, Finish runs the last
// stage, which gives the replies to the sink; then the flight is free again.
//
// Lifetime  what the batch's commands point at must stay until Finish has returned. A result that
//           points into the store is valid within Sink::Write.
// Threads   the worker's.
// Errors    of devices are handled inside: a stage that failed is done again on the CPU.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "cache/store.h"
#include "pipeline/plan_runner.h"

namespace weft::bench {

// For plans with several stages.
struct CarrierOptions {
  std::span<processor::Guard* const> devices;
  uint32_t batches = 0;      // under way; 0: one a stage of the first plan
  uint32_t queries_max = 0;  // of a batch
  uint32_t value_bytes = 0;  // of a query, for RD on a device
  // With devices: any of their plans may follow the first one, which may have one stage.
  bool any_plan = false;
  bool steal = true;
  uint32_t dice = 0;                     // differs from worker to worker
  std::function<void()> on_device_done;  // a job is done; on a thread of the device's
};

class Carrier {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Errors: PlanRunner::Create's, if the plan and the devices don't go together. kNoMemory: the
  // store can have no more sessions, or a device has too little memory.
  static Result<std::unique_ptr<Carrier>> Create(cache::Store* store, const pipeline::Plan& plan,
                                                 const CarrierOptions& options);
  virtual ~Carrier() = default;

  // From now on `plan` carries out what begins, with or without stealing. kInvalidArgument, and no
  // change, if the carrier was not made for that (PlanRunner::SetPlan). A carrier of the one-stage
  // plan takes no other.
  virtual Status SetPlan(const pipeline::Plan& plan, bool steal) = 0;

  virtual uint32_t flights() const = 0;      // numbers are [0, flights())
  virtual uint32_t queries_max() const = 0;  // of a batch; a multiple of kSetQueries
  virtual pipeline::Batch& batch(uint32_t flight) = 0;
  // Ticks that each stage before the last has taken in the batch, as BatchRun has them.
  virtual std::span<const uint64_t> stage_ticks(uint32_t flight) const = 0;
  // Null: no stage ever is on a device.
  virtual const pipeline::RunnerCounters* counters() const = 0;
  // Time of the tasks so far; RV, PP and SD are for the owner of the queries to add.
  virtual pipeline::TaskTimes& times() = 0;

  virtual uint32_t Free() = 0;  // or kNone
  virtual void Begin(uint32_t flight) = 0;
  virtual uint32_t Ready() = 0;  // or kNone
  virtual void Finish(uint32_t flight, pipeline::Sink& sink) = 0;
  // Does a small part of a device's present work. False: there is nothing to take over.
  virtual bool Help() = 0;
};

}  // namespace weft::bench
