#include "pipeline/plan_runner.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/ticks.h"

namespace weft::pipeline {
namespace {

constexpr std::pair<uint32_t, Task> kTasksInOrder[] = {
    {kRunSearch, Task::kSearch}, {kRunCompare, Task::kCompare}, {kRunRead, Task::kRead},
    {kRunInsert, Task::kInsert}, {kRunDelete, Task::kDelete},
};

bool HaveSameTables(const task::IndexRef& a, const task::IndexRef& b) {
  return a.older.buckets == b.older.buckets && a.older.bucket_count == b.older.bucket_count &&
         a.newer.buckets == b.newer.buckets && a.newer.bucket_count == b.newer.bucket_count;
}

bool NeedsRoomToGather(const Route& first, const PlanRunner::Options& options) {
  return options.any_plan || first.Has(kRunRead);
}

BatchOptions BatchOptionsFor(const Route& first, std::span<processor::Guard* const> devices,
                             const PlanRunner::Options& options) {
  BatchOptions batch;
  batch.queries_max = options.queries_max;
  batch.gather_bytes = NeedsRoomToGather(first, options) ? options.gather_bytes : 0;
  processor::Guard* device = first.device();
  if (device == nullptr && options.any_plan && !devices.empty()) device = devices[0];
  if (device != nullptr) batch.pages = device->pages();
  return batch;
}

}  // namespace

PlanRunner::PlanRunner(cache::Store* store, TaskTimes* times, Route route,
                       std::span<processor::Guard* const> devices, const Options& options)
    : store_(store),
      times_(times),
      devices_(devices.begin(), devices.end()),
      options_(options),
      batch_options_(BatchOptionsFor(route, devices, options)),
      gathers_(NeedsRoomToGather(route, options)),
      steals_(options.steal),
      stage_(store, times),
      marker_(options.queries_max),
      left_jobs_(store),
      dice_(options.dice) {
  stage_.set_before_room([this] { LeaveEpochs(); });
  route_ = Keep(std::move(route));
  auto one_stage = RouteOf(Plan::OneStageCpu(), devices_);
  WEFT_CHECK(one_stage.has_value());
  one_stage_ = Keep(std::move(*one_stage));
}

// What is half done in the index is taken back.
PlanRunner::~PlanRunner() { LeaveEpochs(); }

Result<std::unique_ptr<PlanRunner>> PlanRunner::Create(cache::Store* store, TaskTimes* times,
                                                       const Plan& plan,
                                                       std::span<processor::Guard* const> devices,
                                                       Options options) {
  auto route = RouteOf(plan, devices);
  if (!route) return route.error();
  // The constructor is private so that no runner exists without its batches; owned at once.
  std::unique_ptr<PlanRunner> runner(
      new PlanRunner(store, times, std::move(route.value()), devices, options));
  for (uint32_t i = 0; i < options.batches; i++)
    if (Status status = runner->AddRun(options.session); !status.ok()) return status;
  return runner;
}

Status PlanRunner::AddRun(const cache::Session* beside) {
  auto run = std::make_unique<BatchRun>();
  auto batch = Batch::Create(route_->plan, batch_options_);
  if (!batch) return batch.error();
  run->batch_ = std::move(batch.value());
  run->route_ = route_;
  run->session_ = store_->NewSession(runs_.empty() ? beside : &runs_[0]->session());
  if (run->session_ == nullptr) return {Code::kNoMemory, "too many batches in flight"};
  run->number_ = static_cast<uint32_t>(runs_.size());
  run->job_->on_done = options_.on_ready;
  runs_.push_back(std::move(run));
  return Status::Ok();
}

const Route* PlanRunner::Keep(Route route) {
  if (route.mirror() != nullptr) mirror_ = route.mirror();
  std::string text = route.plan.ToText();
  return &routes_.emplace(std::move(text), std::move(route)).first->second;
}

Status PlanRunner::CheckFit(const Route& route) const {
  const auto refuse = [&](std::string why) {
    return Status(Code::kInvalidArgument, route.plan.ToText() + ": " + std::move(why));
  };
  if (route.Has(kRunRead) && !gathers_)
    return refuse("RD before the last stage needs room for values, which the batches do not have");
  if (route.device() != nullptr && route.device()->pages() != batch_options_.pages)
    return refuse("its device does not see the memory of the batches");
  if (mirror_ != nullptr && route.mirror() != nullptr && route.mirror() != mirror_)
    return refuse("another device with its own memory already follows the store");
  return Status::Ok();
}

Status PlanRunner::SetPlan(const Plan& plan, bool steal) {
  if (plan != route_->plan) {
    if (const auto at = routes_.find(plan.ToText()); at != routes_.end()) {
      route_ = &at->second;
    } else {
      auto route = RouteOf(plan, devices_);
      if (!route) return route.error();
      if (Status status = CheckFit(*route); !status.ok()) return status;
      route_ = Keep(std::move(*route));
    }
  }
  steals_ = steal;
  return Status::Ok();
}

BatchRun* PlanRunner::Free() {
  ReclaimLeft();
  for (const auto& run : runs_)
    if (run->at_ == BatchRun::At::kFree) return run.get();
  return nullptr;
}

// A device that is behind the store would hold the batch up until it has caught up.
const Route* PlanRunner::RouteOfNow(const BatchRun& run) {
  if (run.is_off_devices_ && route_->device() != nullptr) return one_stage_;
  if (route_->mirror() == nullptr || !route_->mirror()->is_behind()) return route_;
  counters_.behind_queries.Add(run.batch_->size());
  return one_stage_;
}

void PlanRunner::Begin(BatchRun* run) {
  WEFT_DCHECK(run->at_ == BatchRun::At::kFree);
  Batch& batch = run->batch();
  const Route& route = *RouteOfNow(*run);
  if (run->route_ != &route) {
    run->route_ = &route;
    batch.SetPlan(route.plan);
  }
  run->steals_ = steals_;
  run->step_ = 0;
  run->stage_ticks_.assign(route.steps.size(), 0);
  run->turn_ = ++begun_;
  under_way_++;
  if (route.is_one_stage()) {
    run->at_ = BatchRun::At::kLastStage;
    return;
  }
  if (route.Has(kRunInsert | kRunDelete)) {
    run->session_->Begin();
  } else {
    run->session_->BeginReading();  // the last stage changes the index, if any does
  }
  if (run->has_sparse_entries_ || !batch.has_only_reads() ||
      !HaveSameTables(run->index_, run->session().index()))
    batch.ForgetEntries();
  run->has_sparse_entries_ = false;
  run->index_ = run->session().index();
  batch.ClearGathered();
  batch.set_note_row(static_cast<uint32_t>(run->turn_));
  const bool stores = route.Has(kRunInsert) || route.steps[0].places;
  if ((stores || route.Has(kRunDelete)) && !batch.has_barrier()) {
    const uint64_t start = base::ReadTicks();
    stage_.PlaceForStages(batch, route.tasks, stores, run->session());
    times_->Add(Task::kMemory, base::ReadTicks() - start, batch.size());
  }
  marker_.Mark(&batch, run->session(), route.tasks);
  Continue(run);
}

// Runs stages until one is on a device, or the last is next.
void PlanRunner::Continue(BatchRun* run) {
  const Route& route = *run->route_;
  while (run->step_ < route.steps.size()) {
    const Step& step = route.steps[run->step_];
    run->started_ = base::ReadTicks();
    if (step.tasks != 0 && run->batch().size() != 0) {
      if (step.device != nullptr && StartOnDevice(run, step)) return;
      if (step.device == nullptr) RunOnCpu(run, step.tasks, false);
    }
    run->stage_ticks_[run->step_++] = base::ReadTicks() - run->started_;
  }
  run->at_ = BatchRun::At::kLastStage;
  run->batch().set_searched(route.Has(kRunSearch));
}

// What a stage is to do. `device`: that runs it; null: this thread does. `again`: after a device
// that may have done any of it.
task::QueryJob PlanRunner::JobOf(BatchRun* run, uint32_t tasks, const processor::Guard* device,
                                 bool again) {
  const cache::Session& session = run->session();
  task::QueryJob job = run->batch().AsJob();
  job.index = device != nullptr ? session.index() : session.index_to_change();
  job.log = session.log();
  job.tasks = tasks;
  job.now_s = session.now_s();
  job.dice = dice_++;
  job.notes = 1;
  job.again = again ? 1 : 0;
  job.object_bytes = store_->expected_object_bytes();
  job.note_row = run->batch().note_row();
  job.sparse_entries = IsMirrored(device) ? 1 : 0;
  job.rises = store_->log().AnyShown() ? 1 : 0;
  const bool is_shared = device != nullptr && run->steals_ && device->description().steals;
  if (!is_shared) job.set_claims = nullptr;
  return job;
}

// False: the device did not take it, and the CPU has run the stage.
bool PlanRunner::StartOnDevice(BatchRun* run, const Step& step) {
  Batch& batch = run->batch();
  const bool usable = step.device->usable() && !run->is_off_devices_;
  if (usable) {
    const task::QueryJob& query = run->job_->query = JobOf(run, step.tasks, step.device, false);
    batch.set_notes_due(IsMirrored(step.device));
    run->has_sparse_entries_ |= query.sparse_entries != 0;
    run->sets_left_ = query.set_claims != nullptr ? task::SetCount(query) : 0;  // on coupled memory
    run->at_ = BatchRun::At::kDevice;
    run->looked_ = run->started_;
    run->waited_ns_ = 0;
    if (step.device->Start(run->job_.get()).ok()) return true;
    batch.set_notes_due(false);  // RunOnCpu notes what it reads
  } else {
    counters_.refused.Add(1);
  }
  counters_.reruns.Add(1);
  RunOnCpu(run, step.tasks, false);
  return false;
}

// Of the time in which nobody looked little counts: then it may be this process that did not run,
// and not the device.
bool PlanRunner::IsOverdue(BatchRun* run) const {
  constexpr uint64_t kUnseenNsMax = 1'000'000'000;
  const uint64_t now = base::ReadTicks();
  run->waited_ns_ += std::min(base::NsOfTicks(now - run->looked_), kUnseenNsMax);
  run->looked_ = now;
  return run->waited_ns_ >= uint64_t{options_.job_ms_max} * 1'000'000;
}

// Leaves the job of a stage that has not ended in time, and runs the stage here. False: it is in
// time, or has ended after all.
bool PlanRunner::LeaveIfOverdue(BatchRun* run) {
  if (!IsOverdue(run)) return false;
  const Step& step = run->route_->steps[run->step_];
  processor::Job& job = *run->job_;
  const bool is_mirrored = IsMirrored(step.device);
  // Without a place the memory could not be kept: then there is nothing for it but to wait.
  cache::Epochs::Slot* const place = is_mirrored ? nullptr : run->session_->GiveAwayPlace();
  if (!is_mirrored && place == nullptr) return false;
  // The device is to find nothing more that it may begin.
  if (is_mirrored) job.sets.TakeFront(UINT32_MAX);
  if (!is_mirrored && job.query.set_claims != nullptr)
    for (uint32_t set = 0; set < task::SetCount(job.query); set++) task::ClaimSet(job.query, set);
  if (!job.Leave()) {
    left_jobs_.Add(nullptr, {}, place, run->turn_);
    return false;
  }
  left_jobs_.Add(std::exchange(run->job_, std::make_unique<processor::Job>()),
                 run->batch_->LeaveColumns(), place, run->turn_);
  run->job_->on_done = options_.on_ready;
  run->is_off_devices_ = true;
  counters_.left.Add(1);
  step.device->Leave({Code::kDeviceLost,
                      "a job has not ended within " + std::to_string(options_.job_ms_max) + " ms" +
                          (is_mirrored ? ""
                                       : "; until it ends, the store frees no memory, because "
                                         "the job may still write to it")});
  run->stage_ticks_[run->step_] = base::ReadTicks() - run->started_;
  RunAgainOnCpu(run);
  return true;
}

// The stage that a device did not bring to its end. It may have done any of it.
void PlanRunner::RunAgainOnCpu(BatchRun* run) {
  const uint64_t start = base::ReadTicks();
  counters_.reruns.Add(1);
  Batch& batch = run->batch();
  batch.set_notes_due(false);  // RunOnCpu notes what it reads
  // What a read was told may have come without what it tells of.
  for (uint32_t i = 0; i < batch.size(); i++)
    if (batch.wanted(i) <= kWantsRead) batch.SetResult(i, kResultNone);
  RunOnCpu(run, run->route_->steps[run->step_].tasks, true);
  run->stage_ticks_[run->step_] += base::ReadTicks() - start;
}

// Waits for the stage on a device. False: it did not end in time, and was left.
bool PlanRunner::EndInTime(BatchRun* run) {
  constexpr int kLookMs = 100;
  while (!run->job_->WaitFor(std::min<int>(kLookMs, static_cast<int>(options_.job_ms_max))))
    if (LeaveIfOverdue(run)) return false;
  return true;
}

void PlanRunner::EndDeviceStage(BatchRun* run) {
  TakeFromDevice(run);
  EndStage(run);
}

void PlanRunner::EndStage(BatchRun* run) {
  run->batch().ClearClaims();  // sets are shared anew in the next stage
  run->step_++;
  Continue(run);
}

void PlanRunner::TakeFromDevice(BatchRun* run) {
  const Step& step = run->route_->steps[run->step_];
  step.device->Note(*run->job_);
  counters_.device_batches.Add(1);
  counters_.device_queries.Add(run->batch().size());
  uint64_t& ticks = run->stage_ticks_[run->step_];
  ticks = run->job_->ended_ticks() - run->started_;
  counters_.device_ticks.Add(ticks);
  if (!run->job_->status().ok()) RunAgainOnCpu(run);
}

void PlanRunner::LeaveEpochs() {
  for (const auto& run : runs_) {
    if (run->at_ == BatchRun::At::kDevice) {
      if (EndInTime(run.get())) TakeFromDevice(run.get());
      run->at_ = BatchRun::At::kLastStage;  // which does what further stages would have
    }
    if (run->at_ == BatchRun::At::kLastStage && run->session_->inside())
      stage_.Leave(run->batch(), run->session());
  }
}

// A stage's tasks, set by set.
void PlanRunner::RunOnCpu(BatchRun* run, uint32_t tasks, bool again) {
  const task::QueryJob job = JobOf(run, tasks, nullptr, again);
  for (uint32_t set = 0; set < task::SetCount(job); set++) {
    RunSet(job, set);
    run->session().ChangesDone();
  }
}

// Task by task.
void PlanRunner::RunSet(task::QueryJob job, uint32_t set) {
  const uint32_t prefetch_bytes = store_->options().prefetch ? store_->expected_object_bytes() : 0;
  const uint32_t begin = task::SetBegin(job, set);
  const uint32_t end = task::SetEnd(job, set);
  const uint32_t tasks = job.tasks;
  for (const auto& [bit, name] : kTasksInOrder) {
    if ((tasks & bit) == 0) continue;
    const uint64_t start = base::ReadTicks();
    job.tasks = bit;
    task::RunQueries(job, begin, end, prefetch_bytes);
    times_->Add(name, base::ReadTicks() - start, end - begin);
  }
}

void PlanRunner::Advance() {
  for (const auto& run : runs_)
    if (run->at_ == BatchRun::At::kDevice) {
      if (run->job_->done()) {
        EndDeviceStage(run.get());
      } else if (LeaveIfOverdue(run.get())) {
        EndStage(run.get());
      }
    }
  ReclaimLeft();
}

void PlanRunner::ReclaimLeft() {
  if (left_jobs_.empty()) return;
  left_jobs_.Reclaim([this](uint64_t turn) {
    return std::any_of(runs_.begin(), runs_.end(), [turn](const auto& run) {
      return run->at_ != BatchRun::At::kFree && run->turn_ == turn;
    });
  });
}

BatchRun* PlanRunner::Ready() {
  Advance();
  // Any other order would leave one waiting, in its epoch, for as long as there are always others.
  BatchRun* oldest = nullptr;
  for (const auto& run : runs_) {
    if (run->at_ != BatchRun::At::kLastStage) continue;
    if (oldest == nullptr || run->turn_ < oldest->turn_) oldest = run.get();
  }
  return oldest;
}

void PlanRunner::Finish(BatchRun* run, Sink& sink) {
  WEFT_DCHECK(run->at_ == BatchRun::At::kLastStage);
  run->at_ = BatchRun::At::kFinishing;
  if (run->route_->is_one_stage()) {
    stage_.Run(run->batch(), run->session(), sink);
  } else {
    stage_.RunLast(run->batch(), run->session(), sink);
  }
  // Tables come in one order: where they are those that were noted, all between were them, too.
  if (!HaveSameTables(run->index_, run->session().index())) run->index_ = {};
  run->at_ = BatchRun::At::kFree;
  under_way_--;
}

// A set of the device's stage that the device has not begun, for this thread.
bool PlanRunner::TakeSet(BatchRun* run, uint32_t* set) {
  const Step& step = run->route_->steps[run->step_];
  if (IsMirrored(step.device)) return run->job_->sets.TakeBack(set);
  while (run->sets_left_ > 0) {
    *set = --run->sets_left_;
    if (task::ClaimSet(run->job_->query, *set)) return true;
  }
  return false;
}

bool PlanRunner::Help() {
  for (const auto& run : runs_) {
    uint32_t set = 0;
    if (run->at_ != BatchRun::At::kDevice || run->job_->done() || !TakeSet(run.get(), &set))
      continue;
    task::QueryJob query = run->job_->query;
    // The last stage reads values where they lie; gathering is for who is far from them.
    query.tasks &= ~kRunRead;
    RunSet(query, set);
    counters_.stolen_queries.Add(task::SetEnd(query, set) - task::SetBegin(query, set));
    return true;
  }
  return false;
}

void PlanRunner::Wait() {
  for (const auto& run : runs_) {
    if (run->at_ != BatchRun::At::kDevice) continue;
    if (!EndInTime(run.get())) EndStage(run.get());
    return;
  }
}

}  // namespace weft::pipeline
