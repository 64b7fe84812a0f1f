#include "planner/cost_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/placement.h"
#include "planner/popularity.h"
#include "task/query_job.h"

namespace weft::planner {
namespace {

using pipeline::Task;

constexpr size_t kSetsMax = 1 << 16;  // of a batch: what is found is kept up to there
// Of reads from a mirror, the share whose access the last stage notes.
constexpr double kNotedShare = 1.0 / kNoteRows;

// What depends on the share of reads that the device leaves to the last stage: the batch writes
// their keys, or they were written since the device's copy was brought up to date.
struct Linear {
  double fixed = 0, of_left = 0;

  double At(double left) const { return fixed + left * of_left; }
  Linear& operator+=(const Linear& other) {
    fixed += other.fixed;
    of_left += other.of_left;
    return *this;
  }
  friend Linear operator*(double factor, const Linear& of) {
    return {factor * of.fixed, factor * of.of_left};
  }
};
using LinearTasks = std::array<Linear, pipeline::kTaskCount>;

TaskNs At(const LinearTasks& tasks, double left, double factor) {
  TaskNs at{};
  for (size_t i = 0; i < tasks.size(); i++) at[i] = factor * tasks[i].At(left);
  return at;
}

}  // namespace

// A processor's nanoseconds for each work of a workload.
class WorkCosts {
 public:
  // `costs` must outlive it.
  WorkCosts(const ProcessorCosts& costs, const Profile& profile, uint32_t workers) : costs_(costs) {
    const double cached = CachedShare(costs, profile, workers);
    for (uint32_t i = 0; i < kWorkCount; i++) {
      const auto work = static_cast<Work>(i);
      for (const bool affine : {false, true})
        ns_[i][affine] =
            UnitNs(costs.unit(work), AccessesOf(work, profile, costs.line_bytes, cached, affine),
                   profile.key_bytes);
    }
  }
  const ProcessorCosts& costs() const { return costs_; }
  double operator()(Work work, bool affine = false) const {
    return ns_[static_cast<size_t>(work)][affine];
  }

 private:
  const ProcessorCosts& costs_;
  std::array<std::array<double, 2>, kWorkCount> ns_{};
};

// One that plans may name.
struct DeviceCosts {
  DeviceCosts(const ProcessorCosts& cpu, const ProcessorCosts& costs, const Profile& profile,
              uint32_t workers)
      : device(costs, profile, 1),
        worker_costs(WorkersWith(cpu, costs)),
        beside(worker_costs, profile, workers) {}
  DeviceCosts(const DeviceCosts&) = delete;
  DeviceCosts& operator=(const DeviceCosts&) = delete;

  WorkCosts device;
  ProcessorCosts worker_costs;
  WorkCosts beside;  // of workers

 private:
  // The CPU's, in plans with a device.
  static ProcessorCosts WorkersWith(const ProcessorCosts& cpu, const ProcessorCosts& device) {
    ProcessorCosts workers = cpu;
    for (uint32_t i = 0; i < kWorkCount; i++)
      if (device.worker_units[i] != UnitCost{}) workers.units[i] = device.worker_units[i];
    return workers;
  }
};

namespace {

// Of one plan and one workload, but for what is spent once a batch.
class PlanCosts {
 public:
  PlanCosts(const Profile& profile, const WorkCosts& cpu, const DeviceCosts* with,
            const Placement& placement)
      : profile_(profile),
        changes_(1 - profile.get_share),
        cpu_(cpu),
        beside_(with == nullptr ? cpu : with->beside),
        device_(with == nullptr ? nullptr : &with->device),
        placement_(placement) {
    AddFirst();
    if (placement.last == 0) {
      AddOneStage();
    } else {
      AddSearch();
      AddReads();
      AddChanges();
    }
    OnCpu(placement.last, Work::kSend);
    for (size_t i = 0; i <= placement.last; i++)
      if (device_ == nullptr || i != placement.device_stage) worker_ += stages_[i];
    if (device_ == nullptr || !device_->costs().mirrored) return;
    const double stores = profile_.store_share();
    const double emptied = stores * profile_.looks_per_store / kLooksPerObject;
    following_ = (stores + emptied + profile_.delete_share) * device_->costs().change +
                 stores * ObjectBytes(profile_) * device_->costs().change_byte;
  }

  const Placement& placement() const { return placement_; }
  const ProcessorCosts& cpu() const { return cpu_.costs(); }
  const ProcessorCosts* device_costs() const {
    return device_ == nullptr ? nullptr : &device_->costs();
  }
  const Linear& stage(size_t i) const { return stages_[i]; }
  const Linear& worker() const { return worker_; }
  Linear device() const { return device_ == nullptr ? Linear() : stages_[placement_.device_stage]; }
  // What a worker spends where it does the device's part of every query.
  const Linear& stolen() const { return stolen_; }
  double following() const { return following_; }
  const LinearTasks& tasks() const { return tasks_; }
  const LinearTasks& stolen_tasks() const { return stolen_tasks_; }

 private:
  size_t StageOf(Task task) const { return placement_.Of(task); }
  // Whether a worker's work is on what the device has had, or will have.
  bool IsBeside(Work work) const {
    switch (work) {
      case Work::kReceive:
      case Work::kParse:
      case Work::kCompareFound:
      case Work::kCompareLeft: return true;
      case Work::kWrite:
        return placement_.OnDevice(Task::kSearch) || placement_.OnDevice(Task::kCompare);
      case Work::kFinish:
      case Work::kCompareRow:
      case Work::kWriteRow:
      case Work::kWriteGathered: return placement_.OnDevice(Task::kRead);
      case Work::kSettle:
        return placement_.OnDevice(Task::kInsert) || placement_.OnDevice(Task::kDelete);
      default: return false;
    }
  }
  double WorkerNs(Work work, bool affine) const {
    return (IsBeside(work) ? beside_ : cpu_)(work, affine);
  }
  void OnCpu(size_t stage, Work work, Linear queries = {1, 0}, bool affine = false) {
    const Linear ns = WorkerNs(work, affine) * queries;
    stages_[stage] += ns;
    if (IsTimed(work)) tasks_[static_cast<size_t>(TaskOf(work))] += ns;
  }
  void OnDevice(Task task, Work work, Linear queries = {1, 0}, bool affine = false) {
    stages_[StageOf(task)] += (*device_)(work, affine) * queries;
  }
  void Stolen(Work work, Linear queries = {1, 0}, bool affine = false) {
    AddStolen(work, cpu_(work, affine) * queries);
  }
  // What is not left to do where all of it was stolen.
  void Saved(Work work, Linear queries) { AddStolen(work, -WorkerNs(work, false) * queries); }
  void AddStolen(Work work, Linear ns) {
    stolen_ += ns;
    stolen_tasks_[static_cast<size_t>(TaskOf(work))] += ns;
  }

  void AddFirst() {
    const Linear stores = {profile_.store_share(), 0};
    OnCpu(StageOf(Task::kReceive), Work::kReceive);
    OnCpu(StageOf(Task::kReceive), Work::kReceiveValue, stores);
    OnCpu(StageOf(Task::kParse), Work::kParse);
    OnCpu(StageOf(Task::kParse), Work::kParseChange, {changes_, 0});
    OnCpu(StageOf(Task::kMemory), Work::kPlace, stores);
    OnCpu(placement_.last, Work::kAnswerChange, {changes_, 0});
    // Between batches, whatever the plan is.
    OnCpu(placement_.last, Work::kEmpty, {profile_.store_share() * profile_.looks_per_store, 0});
    if (placement_.last != 0) OnCpu(0, Work::kHandOver);
  }
  void AddOneStage() {
    OnCpu(0, Work::kSearch);
    OnCpu(0, Work::kCompare);
    OnCpu(0, Work::kCompareChange, {changes_, 0});
    OnCpu(0, Work::kWrite, {profile_.get_share, 0}, true);
    OnCpu(0, Work::kInsert, {profile_.store_share(), 0});
    OnCpu(0, Work::kDelete, {profile_.delete_share, 0});
  }
  void AddSearch() {
    if (placement_.OnDevice(Task::kSearch)) {
      OnDevice(Task::kSearch, Work::kSearch);
      Stolen(Work::kSearch);
    } else {
      OnCpu(StageOf(Task::kSearch), Work::kSearch);
    }
  }
  void AddReads() {
    const double gets = profile_.get_share;
    const Linear all = {gets, 0};
    const Linear left = device_ == nullptr ? Linear() : Linear{0, gets};
    const Linear done = {gets, device_ == nullptr ? 0 : -gets};  // by the stages before the last
    const bool compares = placement_.OnDevice(Task::kCompare);
    const bool reads = placement_.OnDevice(Task::kRead);
    const size_t last = placement_.last;
    if (compares) {
      OnDevice(Task::kCompare, Work::kCompare, all);
      Stolen(Work::kCompare, all);
    } else if (StageOf(Task::kCompare) != last) {
      OnCpu(StageOf(Task::kCompare), Work::kCompare, all);
    }
    // Whose entry a copy of the store lacks is looked for again.
    const bool is_copy = device_ != nullptr && device_->costs().mirrored;
    const bool searched = placement_.OnDevice(Task::kSearch);
    OnCpu(last, is_copy && searched ? Work::kCompareLeft : Work::kCompare, left);
    const double misses = is_copy && searched ? gets * (1 - profile_.hit_share) : 0;
    OnCpu(last, Work::kCompareLeft, {misses, -misses});
    if (StageOf(Task::kRead) == last) {
      // The last stage looks at the object in any case, for when it ends; where the device has
      // compared it, for the first time.
      const bool looks = StageOf(Task::kCompare) == last || compares;
      const bool was_found = compares || searched;
      OnCpu(last, !looks ? Work::kFinish : was_found ? Work::kCompareFound : Work::kCompare, done);
      OnCpu(last, Work::kWrite, all, true);
      return;
    }
    if (reads) {
      OnDevice(Task::kRead, Work::kGather, done, compares);
    } else {
      OnCpu(StageOf(Task::kRead), Work::kGather, done,
            StageOf(Task::kCompare) == StageOf(Task::kRead));
    }
    const Linear noted = (reads && is_copy ? kNotedShare : 0) * done;
    OnCpu(last, Work::kFinish, done);
    OnCpu(last, Work::kNote, noted);
    OnCpu(last, Work::kWriteGathered, done);
    OnCpu(last, Work::kWrite, left, true);
    if (!reads) return;
    // Each change that has a read behind it ends a row of these.
    OnCpu(last, Work::kCompareRow, {changes_ * gets, 0});
    OnCpu(last, Work::kWriteRow, {changes_ * gets, 0});
    // Who takes a read from the device leaves the value in the log.
    Stolen(Work::kWrite, done, compares);
    Saved(Work::kFinish, done);
    Saved(Work::kNote, noted);
    Saved(Work::kWriteGathered, done);
  }
  void AddChanges() {
    AddChange(Task::kInsert, Work::kInsert, profile_.store_share());
    AddChange(Task::kDelete, Work::kDelete, profile_.delete_share);
  }
  void AddChange(Task task, Work work, double share) {
    if (share == 0) return;
    const Linear changes = {share, 0};
    const auto timed = static_cast<size_t>(task);
    if (StageOf(task) == placement_.last) {
      OnCpu(placement_.last, Work::kCompare, changes);
      OnCpu(placement_.last, Work::kCompareChange, changes);
      OnCpu(placement_.last, work, changes);
      return;
    }
    // An earlier stage compares the key as a part of the change, and its time is the change's.
    const Linear whole = (cpu_(Work::kCompare) + cpu_(Work::kCompareChange) + cpu_(work)) * changes;
    if (placement_.OnDevice(task)) {
      OnDevice(task, work, changes);
      stolen_ += whole;
      stolen_tasks_[timed] += whole;
    } else {
      stages_[StageOf(task)] += whole;
      tasks_[timed] += whole;
    }
    OnCpu(placement_.last, Work::kSettle, changes);
  }

  const Profile& profile_;
  const double changes_;  // stores and deletes: a share of the queries
  const WorkCosts& cpu_;
  const WorkCosts& beside_;
  const WorkCosts* const device_;
  const Placement& placement_;
  std::array<Linear, pipeline::kTaskCount> stages_{};  // none has no task
  Linear worker_, stolen_;
  double following_ = 0;
  LinearTasks tasks_{}, stolen_tasks_{};
};

// The plan with batches of `batch_queries`, without its stages.
Estimate EstimateBatch(const PlanCosts& costs, const Conditions& conditions, bool steals,
                       double batch_queries, double left, double yield) {
  const ProcessorCosts& cpu_costs = costs.cpu();
  const ProcessorCosts* const device = costs.device_costs();
  Estimate estimate;
  estimate.batch_queries = batch_queries;
  const double jobs = cpu_costs.job + (device == nullptr ? 0 : device->worker_job);
  const double worker = costs.worker().At(left) + jobs / batch_queries;
  const double on_device = costs.device().At(left);
  const double workers = conditions.workers;
  const double batches = device == nullptr ? 1 : conditions.batches;
  const double own = worker / workers, stolen = costs.stolen().At(left) / workers;
  const double device_ns = device == nullptr ? 0 : on_device + device->job / batch_queries;
  estimate.following_ns = (steals ? kFollowingShared : 1) * costs.following();
  // How busy each is makes the other slower: a few rounds find both.
  double cpu_slower = 1, device_slower = 1, time = 0;
  for (int round = 0; round < 8; round++) {
    const double cpu = own * cpu_slower, dev = device_ns * device_slower;
    weft::planner::Stolen steal{std::max(cpu, dev + estimate.following_ns), 0};
    if (steals) steal = Steal(dev, cpu, stolen * cpu_slower, estimate.following_ns);
    estimate.stolen_share = steal.share;
    estimate.worker_ns = (cpu + steal.share * stolen * cpu_slower) * workers;
    estimate.device_ns = dev * (1 - steal.share);
    // Something takes time, even where no cost is known.
    time = std::max(steal.time, 1e-3);
    if (device == nullptr || (cpu_costs.interference == 0 && device->interference == 0)) break;
    cpu_slower = 1 + cpu_costs.interference * estimate.device_ns / time;
    device_slower = 1 + device->interference * estimate.worker_ns / workers / time;
  }
  estimate.bound = estimate.worker_ns / workers >= time * 0.999 ? Bound::kWorkers
                   : estimate.following_ns > estimate.device_ns ? Bound::kFollowing
                                                                : Bound::kDevice;
  // A batch alone goes through all stages one after the other; with so many under way no more can
  // be done than they take.
  const double alone_ns = batch_queries * (worker * cpu_slower + on_device * device_slower) +
                          (device == nullptr ? 0 : device->job + device->job_latency);
  const double under_way = workers * batches * batch_queries;
  if (alone_ns / under_way > time) {
    time = alone_ns / under_way;
    estimate.bound = device == nullptr ? Bound::kWorkers : Bound::kLatency;
  }
  if (steals && device != nullptr && device->mirrored) time *= 1 + kStealingTakes;
  time /= yield;
  estimate.longest_ns = time;
  estimate.queries_per_s = 1e9 / time;            // equation 4
  estimate.latency_us = under_way * time * 1e-3;  // Little's law
  estimate.fits = estimate.latency_us <= conditions.interval_us;
  estimate.worker_slower = cpu_slower;
  return estimate;
}

}  // namespace

// What does not depend on the plan.
struct Model::Common {
  Common(const Calibration& c, const Profile& p, const Conditions& under)
      : calibration(c), profile(p), conditions(under), cpu(c.cpu, profile, under.workers) {
    for (const ProcessorCosts& device : c.devices)
      devices.emplace_back(c.cpu, device, profile, under.workers);
  }

  // Of the reads of a batch; see Linear.
  double LeftShare(const ProcessorCosts* device, double batch_queries) {
    if (device == nullptr || profile.get_share == 1) return 0;
    const double lag = device->mirrored ? kMirrorLag * conditions.workers * conditions.batches : 1;
    const double writes = (1 - profile.get_share) * batch_queries * lag;
    const double sets = batch_queries / kSetQueries;
    const auto at = static_cast<size_t>(sets);
    if (!written) written.emplace(profile.objects, profile.zipf);
    if (static_cast<double>(at) != sets || at > kSetsMax) return written->Share(writes);
    std::vector<double>& known = left[device->mirrored];
    if (known.size() <= at) known.resize(at + 1, -1);
    if (known[at] < 0) known[at] = written->Share(writes);
    return known[at];
  }

  const Calibration& calibration;
  const Profile profile;
  const Conditions conditions;
  const WorkCosts cpu;
  std::deque<DeviceCosts> devices;     // as in the calibration; they stay where they are
  std::optional<WrittenKeys> written;  // made when it is first asked for
  // By sets of a batch: LeftShare, or -1: nobody has asked yet. Of coupled and of mirrored devices.
  std::array<std::vector<double>, 2> left;
};

Model::Model(const Calibration& calibration, const Profile& profile, const Conditions& conditions)
    : common_(std::make_unique<Common>(calibration, profile, conditions)) {}
Model::~Model() = default;

Stolen Steal(double device, double own, double stolen, double kept) {
  if (device + kept <= own) return {own, 0};
  // What is kept may take longer than all else.
  const double share = device == 0 ? 0 : std::min((device + kept - own) / (device + stolen), 1.0);
  return {std::max(own + share * stolen, (1 - share) * device + kept), share};
}

std::string_view BoundName(Bound bound) {
  switch (bound) {
    case Bound::kWorkers: return "workers";
    case Bound::kDevice: return "device";
    case Bound::kFollowing: return "following the store";
    case Bound::kLatency: return "latency";
  }
  return "";
}

Result<Estimate> Model::Of(const pipeline::Plan& plan, bool steal, double batch_queries,
                           double yield) {
  const Conditions& conditions = common_->conditions;
  auto placement = PlacementOf(common_->calibration, plan);
  if (!placement) return placement.error();
  const DeviceCosts* device = nullptr;
  if (placement->device != nullptr)
    device = &common_->devices[static_cast<size_t>(placement->device -
                                                   common_->calibration.devices.data())];
  const PlanCosts costs(common_->profile, common_->cpu, device, *placement);
  const auto estimate = [&](double queries) {
    return EstimateBatch(costs, conditions, steal, queries,
                         common_->LeftShare(placement->device, queries), yield);
  };
  if (batch_queries == 0) {
    // The largest batch whose latency is within the interval: more queries never take less time.
    const uint32_t queries_max =
        placement->last == 0 ? conditions.one_stage_max : conditions.queries_max;
    uint32_t fits = 1, too_many = queries_max / kSetQueries + 1;
    uint32_t next = too_many - 1;  // the largest one fits more often than not
    while (too_many - fits > 1) {
      (estimate(next * kSetQueries).fits ? fits : too_many) = next;
      next = (fits + too_many) / 2;
    }
    batch_queries = fits * kSetQueries;
  }
  Estimate best = estimate(batch_queries);
  const double left = common_->LeftShare(placement->device, batch_queries);
  for (size_t i = 0; i <= placement->last; i++) {
    const double handed = device == nullptr ? 0 : device->device.costs().worker_job;
    const double job = i == placement->last ? (costs.cpu().job + handed) / batch_queries : 0;
    const double ns = costs.stage(i).At(left) + job;
    best.stages.push_back({ns, ns * batch_queries * 1e-3});
  }
  best.task_ns = At(costs.tasks(), left, best.worker_slower);
  best.stolen_task_ns = At(costs.stolen_tasks(), left, best.worker_slower);
  return best;
}

Result<Estimate> EstimatePlan(const Calibration& calibration, const Profile& profile,
                              const pipeline::Plan& plan, const Conditions& conditions) {
  return Model(calibration, profile, conditions).Of(plan, conditions.steal, profile.batch_queries);
}

}  // namespace weft::planner
