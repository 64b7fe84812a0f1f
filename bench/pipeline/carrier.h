// bench/pipeline/carrier.h: what carries a worker's batches through a plan. The one place of the
// benchmark that knows how a plan is carried out; everything else fills batches and reads replies.
//
// A flight is one batch under way. Free() gives one that carries nothing; its batch is filled, then
// Begin takes it through all stages but the last; once Ready() names it, Finish runs the last
// stage, which gives the replies to the sink, and the flight is free again.
//
// Lifetime  what the batch's commands point at stays until Finish has returned. A result that
// points
//           into the store is valid within Sink::Write.
// Threads   the worker's.
// Errors    of devices are dealt with inside: a stage that failed is done again on the CPU.
#pragma once

#include <cstdint>
#include <memory>

#include "cache/store.h"
#include "pipeline/batch.h"
#include "pipeline/cpu_stage.h"
#include "pipeline/plan.h"

namespace weft::bench {

class Carrier {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // kUnsupported for a plan that cannot be carried out here, kNoMemory where the store can have no
  // more sessions.
  static Result<std::unique_ptr<Carrier>> Create(cache::Store* store, const pipeline::Plan& plan);
  virtual ~Carrier() = default;

  virtual uint32_t flights() const = 0;      // numbers are [0, flights())
  virtual uint32_t queries_max() const = 0;  // of a batch; a multiple of kSetQueries
  virtual pipeline::Batch& batch(uint32_t flight) = 0;
  // Time of the tasks so far; RV, PP and SD are for the owner of the queries to add.
  virtual pipeline::TaskTimes& times() = 0;

  virtual uint32_t Free() = 0;  // or kNone
  virtual void Begin(uint32_t flight) = 0;
  virtual uint32_t Ready() = 0;  // or kNone
  virtual void Finish(uint32_t flight, pipeline::Sink& sink) = 0;
  // Does a small part of what a device is at. False: there is nothing to take over.
  virtual bool Help() = 0;
};

}  // namespace weft::bench
