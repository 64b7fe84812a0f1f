// pipeline/plan_runner.h: carries out any plan for one worker: several batches under way, each at
// its own stage.
//
// The worker's thread runs the stages on the CPU, one after the other, whatever batch they belong
// to; a stage on a device runs beside it, and the worker goes on with other batches until that is
// done. So stages on the CPU take no hand-over between threads, none waits for another one's
// thread, and N workers keep N cores busy whatever the plan: docs/design/0008-any-processor.md.
// Bounded: Options::batches are under way, then the worker waits.
//
// Plans     a batch is carried out by the plan that is in force when it begins (SetPlan), the
//           one-stage plan too, and keeps it to its end: batches of several plans may be under way.
//           Each run keeps its columns and its session; what one plan leaves in them is put back by
//           Batch::Clear and Begin before another one looks.
// Order     the queries of one source are in one batch at a time; the caller sees to that. Within a
//           batch: pipeline/wants.h. Batches end in any order.
// Epochs    a batch is in its epoch from its first stage to its last; see LeaveEpochs. One of the
//           one-stage plan waits outside for its only stage.
// Failures  a stage that its device refuses or fails is run again here, on the CPU, and counted. So
//           is one that does not end in time (Options::job_ms_max): its device is retired, its job
//           left with all that it may touch (pipeline/left_jobs.h).
// Stealing  a device's stage is shared by sets of 64 queries: the device takes them from the
//           front, Help from the back (paper 000, section IV-C); for a device with memory of its
//           own, whoever drives it takes them, a step ahead (processor/set_share.h).
// Threads   the worker's; on_ready is called by others.
// Source    paper 000, sections III-B (dynamic pipeline) and IV-C.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "pipeline/cpu_stage.h"
#include "pipeline/left_jobs.h"
#include "pipeline/route.h"
#include "pipeline/wants.h"

namespace weft::pipeline {

// One batch on its way through its plan. Its owner may hang what it likes on it.
class BatchRun {
 public:
  Batch& batch() { return *batch_; }
  cache::Session& session() { return *session_; }
  uint32_t number() const { return number_; }
  // Ticks that each stage before the last has taken in this batch, once it has begun; 0: it is
  // still to come, or was left to the last. Of one on a device, with the wait for the device; of
  // the first, without RV, PP and MM, and what goes with them.
  std::span<const uint64_t> stage_ticks() const { return stage_ticks_; }

 private:
  friend class PlanRunner;
  enum class At : uint8_t { kFree, kDevice, kLastStage, kFinishing };

  std::unique_ptr<Batch> batch_;
  std::unique_ptr<cache::Session> session_;
  std::unique_ptr<processor::Job> job_ = std::make_unique<processor::Job>();
  const Route* route_ = nullptr;  // of its batch's plan; the runner's
  bool steals_ = false;           // the CPU may take sets of this batch
  bool is_off_devices_ = false;   // its columns lie where no device sees them, since a job was left
  uint32_t number_ = 0;
  At at_ = At::kFree;
  size_t step_ = 0;         // of the route
  uint64_t turn_ = 0;       // of its batch, among all that the runner began
  uint32_t sets_left_ = 0;  // of a job on coupled memory, that Help has not tried
  // A device may have left there what it likes (task/query_job.h): it is no hint for the next
  // batch, of which a device that gives sets back has told nothing.
  bool has_sparse_entries_ = false;
  uint64_t started_ = 0;    // ticks at which the stage began
  uint64_t looked_ = 0;     // ticks at which it was last asked whether the stage is overdue
  uint64_t waited_ns_ = 0;  // for the device, as far as anybody looked
  std::vector<uint64_t> stage_ticks_;
  task::IndexRef index_{};  // that its last batch saw, from its begin to its end
};

// What became of the stages on devices; one writer, any readers.
struct RunnerCounters {
  base::Counter device_batches;
  base::Counter device_queries;  // stolen ones too
  base::Counter device_ticks;    // from a stage's start until its device said that it was done
  base::Counter stolen_queries;  // of device stages, run by the CPU beside the device
  base::Counter reruns;          // stages that were run again on the CPU
  base::Counter refused;         // of these: the device was not asked, for it was retired
  base::Counter left;            // of these: the device did not end them in time
  base::Counter behind_queries;  // of batches in one stage, for the device was behind the store
};

class PlanRunner {
 public:
  struct Options {
    uint32_t batches = 3;  // under way at once
    uint32_t queries_max = 1024;
    uint64_t gather_bytes = 1u << 20;  // of a batch, for RD on a device
    // Any plan may follow the first one. Else the batches are made for that alone, and take plans
    // that need no more.
    bool any_plan = false;
    bool steal = true;  // until SetPlan says otherwise
    // So long a device may take over a job. Far longer than any takes, for it costs the device; and
    // not too long, for meanwhile the batch is in its epoch, and the log gets no memory back.
    uint32_t job_ms_max = 10'000;
    uint32_t dice = 0;  // differs from worker to worker
    // Of the same thread as the runner, whose batches' sessions append to its lane. Null: they
    // have one to themselves, together. Not looked at once the runner is made.
    const cache::Session* session = nullptr;
    // A run may have become ready; on a thread of the device's, must not block. Null: the owner
    // looks by itself.
    std::function<void()> on_ready;
  };

  // kInvalidArgument: the plan and the devices don't go together. kNoMemory: a device has too
  // little for the batches, which lie in the memory of the plan's device; with any_plan in that of
  // the first of `devices` where the plan has none. All that the runner is given must outlive it.
  static Result<std::unique_ptr<PlanRunner>> Create(cache::Store* store, TaskTimes* times,
                                                    const Plan& plan,
                                                    std::span<processor::Guard* const> devices,
                                                    Options options);
  // Waits for the devices.
  ~PlanRunner();

  // The plan that is in force.
  const Plan& plan() const { return route_->plan; }
  // Carries out batches that Begin from now on by `plan`; those under way keep theirs. `steal`: the
  // CPU takes sets of them out of a device's stage. kInvalidArgument, and nothing changes, where
  // plan and devices don't go together; where the batches don't fit (any_plan): they have no room
  // for gathered values, or lie where the plan's device does not see them; and where it has another
  // device with memory of its own than an earlier plan: a store has one such, for all its runners.
  // May be called before each batch: it compares two plans where `plan` is in force, and looks into
  // a table where it was set before. All that were ever set are kept there.
  Status SetPlan(const Plan& plan, bool steal);

  // A run to be filled with a batch; null: all are under way.
  BatchRun* Free();
  // Runs the first stages, up to and into the first one on a device. `run` is under way then.
  void Begin(BatchRun* run);
  // Takes up batches whose device is done, or did not end in time, and begins their next stages. To
  // be called now and then while a device's stage is under way, whatever else happens.
  void Advance();
  // Whether the run's last stage is next.
  static bool IsReady(const BatchRun* run) { return run->at_ == BatchRun::At::kLastStage; }
  // Advances; then, of the runs whose last stage is next, the one that began first, or null.
  BatchRun* Ready();
  // Runs the last stage. The run is free then.
  void Finish(BatchRun* run, Sink& sink);
  // Runs a set of a device's stage. False: there was none left.
  bool Help();
  // Waits until some device's stage is done, or left. REQUIRES: one is under way
  void Wait();
  // Ends the stages of all batches under way, waiting for devices, and lets them leave their
  // epochs: who waits for memory on this thread would else wait for them. They are ready then.
  void LeaveEpochs();

  uint32_t under_way() const { return under_way_; }
  const RunnerCounters& counters() const { return counters_; }

 private:
  PlanRunner(cache::Store* store, TaskTimes* times, Route route,
             std::span<processor::Guard* const> devices, const Options& options);
  Status AddRun(const cache::Session* beside);
  const Route* Keep(Route route);
  const Route* RouteOfNow(const BatchRun& run);
  Status CheckFit(const Route& route) const;
  void Continue(BatchRun* run);
  bool StartOnDevice(BatchRun* run, const Step& step);
  void EndDeviceStage(BatchRun* run);
  void EndStage(BatchRun* run);
  bool IsOverdue(BatchRun* run) const;
  void ReclaimLeft();
  bool LeaveIfOverdue(BatchRun* run);
  bool EndInTime(BatchRun* run);
  void RunAgainOnCpu(BatchRun* run);
  void TakeFromDevice(BatchRun* run);
  void RunOnCpu(BatchRun* run, uint32_t tasks, bool again);
  void RunSet(task::QueryJob job, uint32_t set);
  bool TakeSet(BatchRun* run, uint32_t* set);

  cache::Store* const store_;
  TaskTimes* const times_;
  const std::vector<processor::Guard*> devices_;
  const Options options_;
  const BatchOptions batch_options_;
  const bool gathers_;  // the batches have room for what RD gathers

  // Owned by the worker's thread.
  std::unordered_map<std::string, Route> routes_;  // by their plans' texts; runs point at them
  const Route* route_ = nullptr;                   // in force
  const Route* one_stage_ = nullptr;
  bool steals_;
  processor::Guard* mirror_ = nullptr;  // of the plans so far
  CpuStage stage_;
  WantMarker marker_;
  std::vector<std::unique_ptr<BatchRun>> runs_;
  LeftJobs left_jobs_;
  uint32_t under_way_ = 0;
  uint64_t begun_ = 0;  // batches, ever
  uint32_t dice_;
  RunnerCounters counters_;
};

}  // namespace weft::pipeline
