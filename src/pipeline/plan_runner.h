// pipeline/plan_runner.h: carries out any plan for one worker, with several batches under way, each
// at its own stage.
//
// The worker's thread runs the stages on the CPU, one after the other, whatever batch they belong
// to. A stage on a device runs beside it, and the worker goes on with other batches meanwhile. So
// stages on the CPU need no hand-over between threads, none waits for another thread, and N workers
// keep N cores busy whatever the plan: docs/design/0008-any-processor.md. Options::batches bounds
// the batches under way; then the worker waits.
//
// Plans     a batch is carried out by the plan that is in force when it begins (SetPlan), the
//           one-stage plan too, and keeps it to its end. So batches of several plans may be under
//           way. Each run keeps its columns and its session; Batch::Clear and Begin reset what one
//           plan leaves in them before another one looks.
// Order     the queries of one source are in one batch at a time; the caller sees to that. Within a
//           batch: pipeline/wants.h. Batches end in any order.
// Epochs    a batch is in its epoch from its first stage to its last; see LeaveEpochs. A batch of
//           the one-stage plan waits outside for its only stage.
// Failures  a stage that its device refuses, fails or does not end in time (Options::job_ms_max) is
//           run again here, on the CPU, and counted. After a late one the device is retired, and
//           the job left with all that it may touch (pipeline/left_jobs.h).
// Stealing  the CPU shares a device's stage, in sets of 64 queries. The device takes them from the
//           front, Help from the back (paper 000, section IV-C). If the device has its own memory,
//           its driving thread takes them, a step ahead (processor/set_share.h).
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

// One batch on its way through its plan. Its owner may keep data for it, by number().
class BatchRun {
 public:
  Batch& batch() { return *batch_; }
  cache::Session& session() { return *session_; }
  uint32_t number() const { return number_; }
  // Ticks that each stage before the last has taken in this batch, once it has begun; 0: it is
  // still to come, or was left to the last. On a device, they include the wait for it. Those of the
  // first lack RV, PP and MM, and what goes with them.
  std::span<const uint64_t> stage_ticks() const { return stage_ticks_; }

 private:
  friend class PlanRunner;
  enum class At : uint8_t { kFree, kDevice, kLastStage, kFinishing };

  std::unique_ptr<Batch> batch_;
  std::unique_ptr<cache::Session> session_;
  std::unique_ptr<processor::Job> job_ = std::make_unique<processor::Job>();
  const Route* route_ = nullptr;  // the route of its batch's plan; owned by the runner
  bool steals_ = false;           // the CPU may take sets of this batch
  bool is_off_devices_ = false;   // no device sees its columns, since a job was left
  uint32_t number_ = 0;
  At at_ = At::kFree;
  size_t step_ = 0;         // in the route
  uint64_t turn_ = 0;       // the batch's number among all that the runner began
  uint32_t sets_left_ = 0;  // sets of a job on coupled memory that Help has not tried;
  // A device may have left anything there (task/query_job.h). That is no hint for the next batch,
  // for which a device that gives sets back writes nothing.
  bool has_sparse_entries_ = false;
  uint64_t started_ = 0;    // in ticks, when the stage began
  uint64_t looked_ = 0;     // in ticks, when it was last checked for being overdue;
  uint64_t waited_ns_ = 0;  // for the device, until somebody last looked
  std::vector<uint64_t> stage_ticks_;
  task::IndexRef index_{};  // as its last batch saw it, from its begin to its end
};

// The fate of stages on devices; one writer, any readers.
struct RunnerCounters {
  base::Counter device_batches;
  base::Counter device_queries;  // including stolen ones
  base::Counter device_ticks;    // from a stage's start until its device reported the end;
  base::Counter stolen_queries;  // of device stages, run by the CPU beside the device
  base::Counter reruns;          // stages that were run again on the CPU
  base::Counter refused;         // of these: the device was retired, and not asked;
  base::Counter left;            // of these: the device did not end them in time
  base::Counter behind_queries;  // of batches in one stage, because the device was behind
};

class PlanRunner {
 public:
  struct Options {
    uint32_t batches = 3;  // under way at once
    uint32_t queries_max = 1024;
    uint64_t gather_bytes = 1u << 20;  // of a batch, for RD on a device
    // Any plan may follow the first one. Otherwise the batches suit that one, and take only plans
    // that need no more.
    bool any_plan = false;
    bool steal = true;  // until SetPlan says otherwise
    // How long a device may take over a job: far longer than any takes, because it costs the
    // device. Not too long, because the batch's epoch meanwhile keeps memory from the log.
    uint32_t job_ms_max = 10'000;
    uint32_t dice = 0;  // differs from worker to worker
    // A session on the runner's thread, whose lane the batches' sessions share. Null: they have
    // their own common lane. Used only by Create.
    const cache::Session* session = nullptr;
    // A run may have become ready. Called on a thread of the device's; must not block. Null: the
    // owner looks by itself.
    std::function<void()> on_ready;
  };

  // kInvalidArgument: the plan and the devices don't go together. kNoMemory: a device has too
  // little for the batches. They lie in the memory of the plan's device; with any_plan, if it has
  // none, of the first of `devices`. All arguments must outlive the runner.
  static Result<std::unique_ptr<PlanRunner>> Create(cache::Store* store, TaskTimes* times,
                                                    const Plan& plan,
                                                    std::span<processor::Guard* const> devices,
                                                    Options options);
  // Waits for the devices.
  ~PlanRunner();

  // The plan in force.
  const Plan& plan() const { return route_->plan; }
  // Carries out batches that Begin from now on by `plan`; those under way keep theirs. `steal`: the
  // CPU takes sets out of a device's stage. Returns kInvalidArgument, and changes nothing, if plan
  // and devices don't go together, or the batches don't fit (any_plan): they have no room for
  // gathered values, or lie where the plan's device does not see them. Also if an earlier plan had
  // another device with its own memory: a store has one such, for all its runners. May be called
  // before each batch: it compares two plans if `plan` is in force, and looks into a table if it
  // was set before. The table keeps all plans ever set.
  Status SetPlan(const Plan& plan, bool steal);

  // A run to fill with a batch; null: all are under way.
  BatchRun* Free();
  // Runs the first stages, up to and into the first one on a device. `run` is under way then.
  void Begin(BatchRun* run);
  // Takes up batches whose device is done, or did not end in time, and begins their next stages.
  // Call it now and then while a device's stage is under way, whatever else happens.
  void Advance();
  // Whether the run's last stage is next.
  static bool IsReady(const BatchRun* run) { return run->at_ == BatchRun::At::kLastStage; }
  // Advances; then returns the run that began first among those whose last stage is next, or null.
  BatchRun* Ready();
  // Runs the last stage. The run is free then.
  void Finish(BatchRun* run, Sink& sink);
  // Runs a set of a device's stage. False: there was none left.
  bool Help();
  // Waits until some device's stage is done, or left. REQUIRES: one is under way
  void Wait();
  // Ends the stages of all batches under way, waiting for devices, and lets them leave their
  // epochs. Otherwise a wait for memory on this thread would wait for them. They are ready then.
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
  task::QueryJob JobOf(BatchRun* run, uint32_t tasks, const processor::Guard* device, bool again);
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
  const bool gathers_;  // the batches have room for the values that RD gathers

  // Owned by the worker's thread.
  std::unordered_map<std::string, Route> routes_;  // by their plans' texts; runs point at them
  const Route* route_ = nullptr;                   // in force
  const Route* one_stage_ = nullptr;
  bool steals_;
  processor::Guard* mirror_ = nullptr;  // used by the plans so far
  CpuStage stage_;
  WantMarker marker_;
  std::vector<std::unique_ptr<BatchRun>> runs_;
  LeftJobs left_jobs_;
  uint32_t under_way_ = 0;
  uint64_t begun_ = 0;  // batches so far
  uint32_t dice_;
  RunnerCounters counters_;
};

}  // namespace weft::pipeline
