#include "planner/cost_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "planner/popularity.h"
#include "task/object.h"
#include "task/query_job.h"

namespace weft::planner {
namespace {

using pipeline::Task;

// Buckets that a search of a cuckoo table with two of them for a key looks at: paper 000's
// (1 + 2) / 2.
constexpr double kBucketsSearched = 1.5;
// Of reads from a mirror, the share whose access the last stage notes.
constexpr double kNotedShare = 1.0 / kNoteRows;

double ObjectBytes(const Profile& profile) {
  return sizeof(task::Object) + profile.key_bytes + profile.value_bytes;
}

// What the plan says, as far as it makes a difference.
struct Placement {
  const ProcessorCosts* device = nullptr;
  size_t device_stage = 0;
  std::array<size_t, pipeline::kTaskCount> stage_of{};
  size_t last = 0;

  bool OnDevice(Task task) const {
    return device != nullptr && stage_of[static_cast<size_t>(task)] == device_stage;
  }
  size_t Of(Task task) const { return stage_of[static_cast<size_t>(task)]; }
};

Status Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

Result<const ProcessorCosts*> CostsNamed(const Calibration& calibration, const std::string& name) {
  constexpr std::string_view kPrefix = "gpu";
  size_t number = 0;
  const char* const end = name.data() + name.size();
  if (name.starts_with(kPrefix)) {
    const auto parsed = std::from_chars(name.data() + kPrefix.size(), end, number);
    if (parsed.ec == std::errc() && parsed.ptr == end && number < calibration.devices.size())
      return &calibration.devices[number];
  }
  return Invalid("the calibration knows no processor " + name);
}

Result<Placement> PlacementOf(const Calibration& calibration, const pipeline::Plan& plan) {
  Placement placement;
  placement.last = plan.stages().size() - 1;
  for (size_t i = 0; i < plan.stages().size(); i++) {
    const pipeline::Stage& stage = plan.stages()[i];
    for (const Task task : stage.tasks) placement.stage_of[static_cast<size_t>(task)] = i;
    if (stage.processor == "cpu") continue;
    if (placement.device != nullptr)
      return Invalid("the model knows plans with one stage on a device");
    auto costs = CostsNamed(calibration, stage.processor);
    if (!costs) return costs.error();
    placement.device = *costs;
    placement.device_stage = i;
  }
  // A copy of the store is never changed by its device: the last stage does it.
  if (placement.device != nullptr && placement.device->mirrored) {
    for (const Task task : {Task::kInsert, Task::kDelete})
      if (placement.OnDevice(task)) placement.stage_of[static_cast<size_t>(task)] = placement.last;
  }
  return placement;
}

// Costs of one plan, one workload and one size of batch.
class Costs {
 public:
  Costs(const Calibration& calibration, const Profile& profile, const Placement& placement,
        const Conditions& conditions, double batch_queries)
      : profile_(profile),
        cpu_(calibration.cpu),
        device_(placement.device),
        placement_(placement),
        batch_(batch_queries),
        cpu_cached_(CachedShare(calibration.cpu, profile, conditions.workers)),
        device_cached_(device_ == nullptr ? 0 : CachedShare(*device_, profile, 1)),
        left_(device_ == nullptr ? 0 : LeftShare(conditions)) {
    AddFirst();
    if (placement.last == 0) {
      AddOneStage();
    } else {
      AddSearch();
      AddReads();
      AddChanges();
    }
    stages_[placement.last] += Cpu(Work::kSend) + cpu_.job / batch_;
  }

  const std::vector<double>& stages() const { return stages_; }
  double worker() const {
    double sum = 0;
    for (size_t i = 0; i < stages_.size(); i++)
      if (device_ == nullptr || i != placement_.device_stage) sum += stages_[i];
    return sum;
  }
  double device() const { return device_ == nullptr ? 0 : stages_[placement_.device_stage]; }
  // What a worker spends where it does the device's part of every query.
  double stolen() const { return stolen_; }
  double following() const {
    if (device_ == nullptr || !device_->mirrored) return 0;
    const double stores = profile_.store_share();
    const double emptied = stores * profile_.looks_per_store / kLooksPerObject;
    return (stores + emptied + profile_.delete_share) * device_->change +
           stores * ObjectBytes(profile_) * device_->change_byte;
  }

 private:
  // Reads that the device leaves to the last stage: the batch writes their keys, or they were
  // written since the device's copy was brought up to date.
  double LeftShare(const Conditions& conditions) const {
    const double lag = device_->mirrored ? conditions.workers * conditions.batches : 1;
    const double writes = (1 - profile_.get_share) * batch_ * lag;
    return WrittenShare(writes, profile_.objects, profile_.zipf);
  }
  double Cpu(Work work, bool affine = false) const {
    return UnitNs(cpu_.unit(work),
                  AccessesOf(work, profile_, cpu_.line_bytes, cpu_cached_, affine),
                  profile_.key_bytes);
  }
  double Device(Work work, bool affine = false) const {
    return UnitNs(device_->unit(work),
                  AccessesOf(work, profile_, device_->line_bytes, device_cached_, affine),
                  profile_.key_bytes);
  }
  double& StageOf(Task task) { return stages_[placement_.Of(task)]; }

  void AddFirst() {
    stages_.assign(placement_.last + 1, 0);
    StageOf(Task::kReceive) += Cpu(Work::kReceive);
    StageOf(Task::kParse) += Cpu(Work::kParse);
    StageOf(Task::kMemory) += profile_.store_share() * Cpu(Work::kPlace);
    // Between batches, whatever the plan is.
    stages_.back() += profile_.store_share() * profile_.looks_per_store * Cpu(Work::kEmpty);
    if (placement_.last != 0) stages_.front() += Cpu(Work::kHandOver);
  }
  void AddOneStage() {
    stages_[0] += Cpu(Work::kSearch) + Cpu(Work::kCompare) +
                  profile_.get_share * Cpu(Work::kWrite, true) +
                  profile_.store_share() * Cpu(Work::kInsert) +
                  profile_.delete_share * Cpu(Work::kDelete);
  }
  void AddSearch() {
    if (placement_.OnDevice(Task::kSearch)) {
      StageOf(Task::kSearch) += Device(Work::kSearch);
      stolen_ += Cpu(Work::kSearch);
      // Whose entry a copy of the store lacks is looked for again.
      if (device_->mirrored) stages_.back() += profile_.get_share * left_ * Cpu(Work::kSearch);
    } else {
      StageOf(Task::kSearch) += Cpu(Work::kSearch);
    }
  }
  void AddReads() {
    const double gets = profile_.get_share;
    const double done = gets * (1 - left_);  // by the stages before the last
    const double stores = 1 - gets;
    const bool compares = placement_.OnDevice(Task::kCompare);
    const bool reads = placement_.OnDevice(Task::kRead);
    if (compares) {
      StageOf(Task::kCompare) += gets * Device(Work::kCompare);
      stolen_ += gets * Cpu(Work::kCompare);
    } else if (placement_.Of(Task::kCompare) != placement_.last) {
      StageOf(Task::kCompare) += gets * Cpu(Work::kCompare);
    }
    // Stores are compared by the last stage, and so is what was left to it.
    stages_.back() += (stores + gets - done) * Cpu(Work::kCompare);
    if (reads) {
      StageOf(Task::kRead) += done * Device(Work::kGather, compares);
    } else if (placement_.Of(Task::kRead) != placement_.last) {
      StageOf(Task::kRead) +=
          done * Cpu(Work::kGather, placement_.Of(Task::kCompare) == placement_.Of(Task::kRead));
    }
    if (placement_.Of(Task::kRead) != placement_.last) {
      const double notes = reads && device_->mirrored ? kNotedShare * Cpu(Work::kNote) : 0;
      const double from_buffer = Cpu(Work::kFinish) + notes + Cpu(Work::kWriteGathered);
      stages_.back() += done * from_buffer + (gets - done) * Cpu(Work::kWrite, true);
      // Who takes a read from the device leaves the value in the log.
      if (reads) stolen_ += done * (Cpu(Work::kWrite, compares) - from_buffer);
      return;
    }
    // The last stage looks at the object in any case, for when it ends.
    const bool affine = placement_.Of(Task::kCompare) == placement_.last;
    stages_.back() += done * Cpu(affine ? Work::kCompare : Work::kFinish) +
                      gets * Cpu(Work::kWrite, affine);
  }
  void AddChanges() {
    AddChange(Task::kInsert, Work::kInsert, profile_.store_share());
    AddChange(Task::kDelete, Work::kDelete, profile_.delete_share);
  }
  void AddChange(Task task, Work work, double share) {
    if (share == 0) return;
    if (placement_.OnDevice(task)) {
      StageOf(task) += share * Device(work);
      stolen_ += share * Cpu(work);
    } else {
      StageOf(task) += share * Cpu(work);
    }
    if (placement_.Of(task) != placement_.last) stages_.back() += share * Cpu(Work::kSettle);
  }

  const Profile& profile_;
  const ProcessorCosts& cpu_;
  const ProcessorCosts* const device_;
  const Placement& placement_;
  const double batch_;
  const double cpu_cached_, device_cached_;
  const double left_;
  std::vector<double> stages_;
  double stolen_ = 0;
};

// The plan with batches of `batch_queries`.
Estimate EstimateBatch(const Calibration& calibration, const Profile& profile,
                       const Placement& placement, const Conditions& conditions,
                       double batch_queries) {
  const Costs costs(calibration, profile, placement, conditions, batch_queries);
  const ProcessorCosts* const device = placement.device;
  Estimate estimate;
  estimate.batch_queries = batch_queries;
  for (const double ns : costs.stages())
    estimate.stages.push_back({ns, ns * batch_queries * 1e-3});
  const double workers = conditions.workers;
  const double batches = device == nullptr ? 1 : conditions.batches;
  const double own = costs.worker() / workers;
  const double device_ns = device == nullptr ? 0 : costs.device() + device->job / batch_queries;
  estimate.following_ns = costs.following();
  // How busy each is makes the other slower: a few rounds find both.
  double cpu_slower = 1, device_slower = 1, time = 0;
  for (int round = 0; round < 8; round++) {
    const double cpu = own * cpu_slower, dev = device_ns * device_slower;
    Stolen steal{std::max(cpu, dev), 0};
    if (conditions.steal && dev > cpu) steal = Steal(dev, cpu, costs.stolen() / workers);
    estimate.stolen_share = steal.share;
    estimate.worker_ns = (cpu + steal.share * costs.stolen() / workers * cpu_slower) * workers;
    estimate.device_ns = dev * (1 - steal.share);
    time = std::max(steal.time, estimate.following_ns);
    if (device == nullptr) break;
    cpu_slower = 1 + calibration.cpu.interference * estimate.device_ns / time;
    device_slower = 1 + device->interference * estimate.worker_ns / workers / time;
  }
  estimate.bound = estimate.following_ns >= time                 ? Bound::kFollowing
                   : estimate.worker_ns / workers >= time * 0.999 ? Bound::kWorkers
                                                                  : Bound::kDevice;
  // A batch alone goes through all stages one after the other; with so many under way no more can
  // be done than they take.
  const double alone_ns = batch_queries * (costs.worker() * cpu_slower +
                                           costs.device() * device_slower) +
                          (device == nullptr ? 0 : device->job + device->job_latency);
  const double under_way = workers * batches * batch_queries;
  if (alone_ns / under_way > time) {
    time = alone_ns / under_way;
    estimate.bound = device == nullptr ? Bound::kWorkers : Bound::kLatency;
  }
  estimate.longest_ns = time;
  estimate.queries_per_s = 1e9 / time;                // equation 4
  estimate.latency_us = under_way * time * 1e-3;      // Little's law
  estimate.fits = estimate.latency_us <= conditions.interval_us;
  return estimate;
}

}  // namespace

double UnitNs(const UnitCost& unit, const Accesses& accesses, double key_bytes) {
  return unit.instructions + key_bytes * unit.key_byte + accesses.memory * unit.memory +
         accesses.stream * unit.stream + accesses.cache * unit.cache;
}

Accesses AccessesOf(Work work, const Profile& profile, uint32_t line_bytes, double cached,
                    bool affine) {
  const double line = line_bytes;
  const double lines = std::ceil(ObjectBytes(profile) / line);
  const double hits = profile.hit_share;
  Accesses raw;
  switch (work) {
    // What lies behind is asked for ahead (task/search.h), all of it.
    case Work::kSearch: raw = {kBucketsSearched, hits * lines, 0}; break;
    // Searched for and compared before, in the same stage: what they touch is at hand, but for the
    // other objects' and buckets' lines that they change.
    case Work::kInsert:
    case Work::kDelete:
    case Work::kSettle: raw = {1, 0, 0}; break;
    case Work::kCompare:
      raw = {hits, hits * std::floor((sizeof(task::Object) + profile.key_bytes) / line), 0};
      break;
    case Work::kWrite:
    case Work::kGather:
      raw = affine ? Accesses{0, hits * lines, 0} : Accesses{hits, hits * (lines - 1), 0};
      break;
    case Work::kNote: raw = {hits, 0, 0}; break;
    case Work::kWriteGathered: return {0, hits * profile.value_bytes / line, 0};
    case Work::kPlace: return {0, lines, 0};
    case Work::kEmpty: raw = {1, lines, 0}; break;
    default: return {};
  }
  return {(1 - cached) * raw.memory, (1 - cached) * raw.stream,
          cached * (raw.memory + raw.stream)};
}

double CachedShare(const ProcessorCosts& costs, const Profile& profile, uint32_t workers) {
  const double object = ObjectBytes(profile) + costs.line_bytes;  // and its part of a bucket
  const double share = HeadShare(costs.cache_bytes / object, profile.objects, profile.zipf);
  // Between two accesses of a worker to a key others make any number of them; where one of these
  // was a write, the line has gone.
  const double other = 1 - 1.0 / workers;
  const double writes = 1 - profile.get_share;
  return share * (1 - other) / (1 - other * (1 - writes));
}

Stolen Steal(double device, double own, double stolen) {
  if (device <= own) return {own, 0};
  const double share = (device - own) / (device + stolen);
  return {own + share * stolen, share};
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

Result<Estimate> EstimatePlan(const Calibration& calibration, const Profile& profile,
                              const pipeline::Plan& plan, const Conditions& conditions) {
  auto placement = PlacementOf(calibration, plan);
  if (!placement) return placement.error();
  const auto estimate = [&](double batch_queries) {
    return EstimateBatch(calibration, profile, *placement, conditions, batch_queries);
  };
  if (profile.batch_queries > 0) return estimate(profile.batch_queries);
  const uint32_t queries_max =
      placement->last == 0 ? conditions.one_stage_max : conditions.queries_max;
  // The largest batch whose latency is within the interval: more queries never take less time.
  uint32_t fits = 1, too_many = queries_max / kSetQueries + 1;
  while (too_many - fits > 1) {
    const uint32_t middle = (fits + too_many) / 2;
    (estimate(middle * kSetQueries).fits ? fits : too_many) = middle;
  }
  return estimate(fits * kSetQueries);
}

}  // namespace weft::planner
