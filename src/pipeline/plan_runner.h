// pipeline/plan_runner.h: carries out any plan for one worker: several batches under way, each at
// its own stage.
//
// The worker's thread runs the stages on the CPU, one after the other, whatever batch they belong
// to; a stage on a device runs beside it, and the worker goes on with other batches until that is
// done. So stages on the CPU take no hand-over between threads, none waits for another one's
// thread, and N workers keep N cores busy whatever the plan: docs/design/0008-any-processor.md.
// Bounded: Options::batches are under way, then the worker waits.
//
// Order     the queries of one source are in one batch at a time; the caller sees to that. Within a
//           batch: pipeline/wants.h. Batches end in any order.
// Epochs    a batch is in its epoch from its first stage to its last; see LeaveEpochs.
// Failures  a stage that its device refuses or fails is run again here, on the CPU, and counted.
// Stealing  a device's stage is shared by sets of 64 queries: the device takes them from the
//           front, Help from the back (paper 000, section IV-C); for a device with memory of its
//           own, whoever drives it takes them, a step ahead (processor/set_share.h).
// Threads   the worker's; on_ready is called by others.
// Source    paper 000, sections III-B (dynamic pipeline) and IV-C.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "pipeline/cpu_stage.h"
#include "pipeline/route.h"
#include "pipeline/wants.h"

namespace weft::pipeline {

// One batch on its way through its plan. Its owner may hang what it likes on it.
class BatchRun {
 public:
  Batch& batch() { return *batch_; }
  cache::Session& session() { return *session_; }
  uint32_t number() const { return number_; }
  // Ticks that each stage before the last has taken in this batch; 0: it is still to come, or was
  // left to the last. Of one on a device, with the wait for the device; of the first, without RV,
  // PP and MM, and what goes with them.
  std::span<const uint64_t> stage_ticks() const { return stage_ticks_; }

 private:
  friend class PlanRunner;
  enum class At : uint8_t { kFree, kDevice, kLastStage, kFinishing };

  std::unique_ptr<Batch> batch_;
  std::unique_ptr<cache::Session> session_;
  processor::Job job_;
  uint32_t number_ = 0;
  At at_ = At::kFree;
  size_t step_ = 0;         // of the route
  uint32_t sets_left_ = 0;  // of a job on coupled memory, that Help has not tried
  uint64_t started_ = 0;    // ticks at which the stage began
  std::vector<uint64_t> stage_ticks_;
  task::IndexRef index_{};  // that its last batch saw, from its begin to its end
};

// What became of the stages on devices; one writer, any readers.
struct RunnerCounters {
  base::Counter device_batches;
  base::Counter device_queries;  // stolen ones too
  base::Counter device_ticks;   // from a stage's start until its device said that it was done
  base::Counter stolen_queries;  // of device stages, run by the CPU beside the device
  base::Counter reruns;          // stages that were run again on the CPU
  base::Counter refused;         // of these: the device was not asked, for it was retired
};

class PlanRunner {
 public:
  struct Options {
    uint32_t batches = 3;  // under way at once
    uint32_t queries_max = 1024;
    uint64_t gather_bytes = 1u << 20;  // of a batch, for RD on a device
    bool steal = true;
    uint32_t dice = 0;  // differs from worker to worker
    // A run may have become ready; on a thread of the device's, must not block. Null: the owner
    // looks by itself.
    std::function<void()> on_ready;
  };

  // kInvalidArgument: the plan and the devices don't go together. kNoMemory: a device has too
  // little for the batches. All that the runner is given must outlive it.
  static Result<std::unique_ptr<PlanRunner>> Create(cache::Store* store, TaskTimes* times,
                                                    const Plan& plan,
                                                    std::span<processor::Guard* const> devices,
                                                    Options options);
  // Waits for the devices.
  ~PlanRunner();

  const Plan& plan() const { return plan_; }

  // A run to be filled with a batch; null: all are under way.
  BatchRun* Free();
  // Runs the first stages, up to and into the first one on a device. `run` is under way then.
  void Begin(BatchRun* run);
  // Takes up batches whose device is done, and begins their next stages.
  void Advance();
  // Whether the run's last stage is next.
  static bool IsReady(const BatchRun* run) { return run->at_ == BatchRun::At::kLastStage; }
  // Advances; then a run whose last stage is next, or null.
  BatchRun* Ready();
  // Runs the last stage. The run is free then.
  void Finish(BatchRun* run, Sink& sink);
  // Runs a set of a device's stage. False: there was none left.
  bool Help();
  // Waits until some device's stage is done. REQUIRES: one is under way
  void Wait();
  // Ends the stages of all batches under way, waiting for devices, and lets them leave their
  // epochs: who waits for memory on this thread would else wait for them. They are ready then.
  void LeaveEpochs();

  uint32_t under_way() const { return under_way_; }
  const RunnerCounters& counters() const { return counters_; }

 private:
  PlanRunner(cache::Store* store, TaskTimes* times, const Plan& plan, Route route,
             const Options& options);
  Status AddRun();
  void Continue(BatchRun* run);
  bool StartOnDevice(BatchRun* run, const Step& step);
  void EndDeviceStage(BatchRun* run);
  void TakeFromDevice(BatchRun* run);
  void RunOnCpu(BatchRun* run, uint32_t tasks, bool again);
  void RunSet(task::QueryJob job, uint32_t set);
  bool TakeSet(BatchRun* run, uint32_t* set);

  cache::Store* const store_;
  TaskTimes* const times_;
  const Plan plan_;
  const Route route_;
  const Options options_;

  // Owned by the worker's thread.
  CpuStage stage_;
  WantMarker marker_;
  std::vector<std::unique_ptr<BatchRun>> runs_;
  uint32_t under_way_ = 0;
  uint32_t begun_ = 0;  // batches, ever
  uint32_t dice_;
  RunnerCounters counters_;
};

}  // namespace weft::pipeline
