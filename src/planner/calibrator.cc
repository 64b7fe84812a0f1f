#include "planner/calibrator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "base/check.h"
#include "planner/cost_model.h"
#include "planner/popularity.h"
#include "planner/synthetic_load.h"
#include "planner/system_memory.h"
#include "planner/unit_fit.h"

namespace weft::planner {
namespace {

using pipeline::Task;

constexpr uint64_t kFewKeys = 512;   // whose lines are in the cache of every core
constexpr ObjectSizes kSmall = kSmallObjects, kLarge = kLargeObjects;
constexpr double kSkew = 0.99;       // of the run that says how much the caches hold
constexpr std::array<uint32_t, 3> kReadTasks = {kRunSearch, kRunSearch | kRunCompare,
                                                kRunSearch | kRunCompare | kRunRead};
constexpr double kLeastChangeNs = 0.1;
constexpr uint32_t kSmallJob = 64;
constexpr uint32_t kLargeJob = 4096;
constexpr const char* kTwoStages =
    "[RV PP MM IN.search KC RD]cpu -> [IN.insert IN.delete WR SD]cpu";
constexpr const char* kInsertFirst =
    "[RV PP MM IN.search KC RD IN.insert]cpu -> [IN.delete WR SD]cpu";
// Each gives gpu0 one task more than the one before it; so for other devices.
constexpr std::array<const char*, 3> kChangesOnDevice = {
    "[RV PP MM]cpu -> [IN.search]gpu{} -> [IN.insert IN.delete KC RD WR SD]cpu",
    "[RV PP MM]cpu -> [IN.search IN.insert]gpu{} -> [IN.delete KC RD WR SD]cpu",
    "[RV PP MM]cpu -> [IN.search IN.insert IN.delete]gpu{} -> [KC RD WR SD]cpu"};

std::string UtcNow() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

pipeline::Plan PlanOf(const char* text) {
  auto plan = pipeline::Plan::Parse(text);
  WEFT_CHECK(plan);
  return std::move(*plan);
}

// One that works on a copy of the store makes none.
bool MakesChanges(const processor::Guard& device) {
  constexpr uint32_t kChanges = kRunInsert | kRunDelete;
  return device.description().memory == processor::MemoryModel::kCoupled &&
         (device.description().tasks & kChanges) == kChanges;
}

class Calibrator {
 public:
  explicit Calibrator(const CalibratorOptions& options) : options_(options) {}

  Result<Calibration> Run() {
    std::vector<processor::Description> devices;
    for (const processor::Guard* device : options_.devices)
      devices.push_back(device->description());
    out_.hardware = HardwareOf(devices);
    out_.date = UtcNow();
    out_.workers = options_.workers;
    out_.cpu.name = "cpu";
    out_.cpu.hardware = HardwareOf({});
    out_.cpu.line_bytes = kLineBytes;
    for (const processor::Description& device : devices) {
      ProcessorCosts costs;
      costs.name = device.name;
      costs.hardware = device.hardware;
      costs.mirrored = device.memory == processor::MemoryModel::kMirrored;
      costs.line_bytes = kLineBytes;
      out_.devices.push_back(std::move(costs));
    }
    for (const bool is_large : {false, true}) {
      if (Status status = MeasureStore(is_large); !status.ok()) return status;
    }
    FitCpu();
    FitDevices();
    return out_;
  }

 private:
  // What was measured in one of the stores.
  struct Runs {
    LoadFigures all, few, two_all, two_few, stores, changes, insert_first, small_batches, skewed;
    double objects = 0;
  };
  struct DeviceRuns {
    // By how many of Search, KC and RD the job has, less one.
    std::array<LoadFigures, 3> all, few;
    LoadFigures one_small_job, small_jobs;
    LoadFigures with_workers;  // the device, beside the workers
    LoadFigures workers_with;  // the workers, beside the device
    // Small jobs while all workers store, and what those did.
    LoadFigures following, followed;
    // One job at a time, of stores and deletes, by kChangesOnDevice; all 0 where it makes none.
    std::array<LoadFigures, 3> changes;
  };

  // Of a store that no cache holds.
  Result<uint64_t> MemoryBytes() const {
    if (options_.memory_bytes != 0) return options_.memory_bytes;
    const uint64_t wanted = std::clamp<uint64_t>(6 * CacheBytes(), 256ull << 20, 4ull << 30);
    const uint64_t needed = std::min(wanted, std::max<uint64_t>(2 * CacheBytes(), 64ull << 20));
    const uint64_t bytes = std::min(wanted, MemoryToBeHad() / 3);
    if (bytes >= needed) return bytes;
    return Status(Code::kNoMemory,
                  fmt::format("measuring needs {} MiB, and three times as much to be free",
                              needed >> 20));
  }
  void Tell(std::string_view what) {
    int steps = 2 * 10;
    for (const processor::Guard* device : options_.devices)
      steps += 2 * (MakesChanges(*device) ? 8 : 7);
    if (options_.progress) options_.progress(what, step_, steps);
    step_++;
  }
  Status Measure(SyntheticLoad* load, std::string_view what, const Traffic& traffic,
                 LoadFigures* figures, const JobTraffic* beside = nullptr,
                 LoadFigures* fed = nullptr) {
    Tell(what);
    auto run = load->Run(traffic, beside, fed);
    if (!run) return run.error();
    *figures = *run;
    return Status::Ok();
  }

  Status MeasureStore(bool is_large) {
    const ObjectSizes sizes = is_large ? kLarge : kSmall;
    auto memory_bytes = MemoryBytes();
    if (!memory_bytes) return memory_bytes.error();
    LoadOptions load_options;
    load_options.key_bytes = sizes.key_bytes;
    load_options.value_bytes = sizes.value_bytes;
    load_options.memory_bytes = *memory_bytes;
    load_options.workers = options_.workers;
    load_options.devices = options_.devices;
    Tell(fmt::format("fill {} MiB with objects of {} bytes", load_options.memory_bytes >> 20,
                     sizes.key_bytes + sizes.value_bytes));
    auto load = SyntheticLoad::Open(load_options);
    if (!load) return load.error();
    Runs& runs = runs_[is_large];
    runs.objects = static_cast<double>((*load)->objects());
    if (Status status = MeasureReads(load->get(), &runs); !status.ok()) return status;
    for (size_t i = 0; i < options_.devices.size(); i++) {
      if (Status status = MeasureDevice(load->get(), i, is_large); !status.ok()) return status;
    }
    if (Status status = MeasureChanges(load->get(), &runs); !status.ok()) return status;
    for (size_t i = 0; i < options_.devices.size(); i++) {
      if (!MakesChanges(*options_.devices[i])) continue;
      Status status = MeasureDeviceChanges(load->get(), i, &device_runs_[is_large][i].changes);
      if (!status.ok()) return status;
    }
    return Status::Ok();
  }

  Traffic Reads(uint64_t keys, const char* plan = nullptr) const {
    Traffic traffic;
    traffic.keys = keys;
    traffic.seconds = options_.seconds;
    if (plan != nullptr) traffic.plan = PlanOf(plan);
    return traffic;
  }
  Status MeasureReads(SyntheticLoad* load, Runs* runs) {
    Traffic skewed = Reads(0);
    skewed.zipf = kSkew;
    Traffic small_batches = Reads(0);
    small_batches.queries = 32;
    const struct {
      std::string_view what;
      Traffic traffic;
      LoadFigures* figures;
    } all[] = {
        {"reads of all keys", Reads(0), &runs->all},
        {"reads of few keys", Reads(kFewKeys), &runs->few},
        {"reads in two stages", Reads(0, kTwoStages), &runs->two_all},
        {"reads of few keys in two stages", Reads(kFewKeys, kTwoStages), &runs->two_few},
        {"small batches", small_batches, &runs->small_batches},
        {"reads of popular keys", skewed, &runs->skewed},
    };
    for (const auto& each : all) {
      if (Status status = Measure(load, each.what, each.traffic, each.figures); !status.ok())
        return status;
    }
    return Status::Ok();
  }
  Status MeasureChanges(SyntheticLoad* load, Runs* runs) {
    Traffic stores = Reads(0);
    stores.get_share = 0;
    Traffic insert_first = Reads(0, kInsertFirst);
    insert_first.get_share = 0;
    Traffic changes = Reads(0);
    changes.get_share = 0.5;
    changes.delete_share = 0.25;
    if (Status status = Measure(load, "stores", stores, &runs->stores); !status.ok())
      return status;
    if (Status status = Measure(load, "stores in two stages", insert_first, &runs->insert_first);
        !status.ok())
      return status;
    return Measure(load, "stores and deletes", changes, &runs->changes);
  }

  JobTraffic Jobs(size_t device, uint32_t tasks, uint32_t queries, uint32_t feeders,
                  uint32_t jobs) const {
    JobTraffic traffic;
    traffic.device = options_.devices[device];
    traffic.tasks = tasks;
    traffic.queries = queries;
    traffic.feeders = feeders;
    traffic.jobs = jobs;
    traffic.seconds = options_.seconds;
    return traffic;
  }
  Status MeasureJobs(SyntheticLoad* load, std::string_view what, const JobTraffic& traffic,
                     LoadFigures* figures, bool beside = false) {
    if (!what.empty())
      Tell(fmt::format("{}: {}", traffic.device->description().name, what));
    auto run = load->RunJobs(traffic, beside);
    if (!run) return run.error();
    *figures = *run;
    return Status::Ok();
  }
  Status MeasureDevice(SyntheticLoad* load, size_t device, bool is_large) {
    auto& runs = device_runs_[is_large];
    runs.resize(options_.devices.size());
    DeviceRuns& run = runs[device];
    const uint32_t feeders = std::max(options_.workers / 2, 1u);
    for (const uint64_t keys : {uint64_t{0}, kFewKeys}) {
      for (size_t i = 0; i < kReadTasks.size(); i++) {
        JobTraffic traffic = Jobs(device, kReadTasks[i], kLargeJob, feeders, 4);
        traffic.keys = keys;
        const char* const what = keys == 0 ? "reads of all keys" : "reads of few keys";
        Status status =
            MeasureJobs(load, i == 0 ? what : "", traffic, &(keys == 0 ? run.all : run.few)[i]);
        if (!status.ok()) return status;
      }
    }
    const JobTraffic one = Jobs(device, kReadTasks[2], kSmallJob, 1, 1);
    const JobTraffic some = Jobs(device, kReadTasks[2], kSmallJob, 1, 4);
    const JobTraffic large = Jobs(device, kReadTasks[1], kLargeJob, 1, 4);
    Traffic stores = Reads(0);
    stores.get_share = 0;
    const std::string name = out_.devices[device].name;
    Status status = MeasureJobs(load, "one small job", one, &run.one_small_job);
    if (status.ok()) status = MeasureJobs(load, "small jobs", some, &run.small_jobs);
    if (status.ok())
      status = MeasureJobs(load, "beside the workers", large, &run.with_workers, true);
    if (status.ok())
      status = Measure(load, name + ": the workers beside it", Reads(0), &run.workers_with, &large);
    if (status.ok())
      status = Measure(load, name + ": following stores", stores, &run.followed, &some,
                       &run.following);
    return status;
  }

  // A worker's only batch waits for the device each time: what jobs take more with a task than
  // without it is the task's, for all else is in both.
  Status MeasureDeviceChanges(SyntheticLoad* load, size_t device,
                              std::array<LoadFigures, 3>* runs) {
    Tell(out_.devices[device].name + ": stores and deletes");
    const processor::Guard& guard = *options_.devices[device];
    const uint64_t failures = guard.counters().failures;
    for (size_t i = 0; i < runs->size(); i++) {
      Traffic changes = Reads(0, fmt::format(fmt::runtime(kChangesOnDevice[i]), device).c_str());
      changes.get_share = 0;
      changes.delete_share = 0.5;
      changes.queries = kLargeJob;
      auto run = load->RunAlone(changes);
      if (!run) return run.error();
      (*runs)[i] = *run;
    }
    // Workers take up what a device failed in, which says nothing of the device.
    if (guard.counters().failures == failures) return Status::Ok();
    return {Code::kDeviceLost, guard.last_failure()};
  }

  // --- from what was measured to unit costs ---

  // Of a task, a query, in the four runs of reads in one stage or in two.
  FourRuns OneStage(Task task) const {
    return {runs_[0].all.TaskNs(task), runs_[0].few.TaskNs(task), runs_[1].all.TaskNs(task),
            runs_[1].few.TaskNs(task)};
  }
  FourRuns TwoStages(Task task) const {
    return {runs_[0].two_all.TaskNs(task), runs_[0].two_few.TaskNs(task),
            runs_[1].two_all.TaskNs(task), runs_[1].two_few.TaskNs(task)};
  }
  static double PerQuery(double ns, double count) { return count == 0 ? 0 : ns / count; }
  static double Busy(const LoadFigures& figures) { return figures.BusyNs(); }

  void FitCpu() {
    ProcessorCosts& cpu = out_.cpu;
    const auto fit = [&](Work work, const FourRuns& measured, bool affine = false) {
      cpu.unit(work) = FitUnit(work, affine, kLineBytes, measured);
    };
    fit(Work::kSearch, OneStage(Task::kSearch));
    fit(Work::kCompare, OneStage(Task::kCompare));
    fit(Work::kWrite, OneStage(Task::kWrite), true);
    fit(Work::kGather, TwoStages(Task::kRead), true);
    fit(Work::kWriteGathered, TwoStages(Task::kWrite));
    const double small_parse = runs_[0].all.TaskNs(Task::kParse);
    const Line parse = LineThrough(kSmall.key_bytes, small_parse, kLarge.key_bytes,
                                   runs_[1].all.TaskNs(Task::kParse));
    cpu.unit(Work::kParse).instructions = parse.at_zero;
    cpu.unit(Work::kParse).key_byte = parse.slope;
    cpu.unit(Work::kReceive).instructions = runs_[0].all.TaskNs(Task::kReceive);
    FitRest();
    FitChanges();
    FitCache();
  }

  // What no task's time has.
  void FitRest() {
    ProcessorCosts& cpu = out_.cpu;
    const LoadFigures& two = runs_[0].two_few;
    const LoadFigures& one = runs_[0].few;
    const double per_batch = 1.0 / 1024;
    const double small = Busy(runs_[0].small_batches), large = Busy(runs_[0].all);
    cpu.job = std::max(small - large, 0.0) / (1.0 / 32 - per_batch);
    // KC is in both stages: what its first pass takes is known from one stage.
    const double finish = two.TaskNs(Task::kCompare) - one.TaskNs(Task::kCompare);
    cpu.unit(Work::kFinish).instructions = std::max(finish, 0.5);
    double known = 0;
    for (const double ns : two.task_ns) known += ns;
    const double rest = Busy(two) - PerQuery(known, two.queries);
    cpu.unit(Work::kHandOver).instructions = std::max(rest - cpu.job * per_batch, 0.0);
    cpu.unit(Work::kNote).memory = cpu.unit(Work::kSearch).memory;
  }

  void FitChanges() {
    ProcessorCosts& cpu = out_.cpu;
    const auto place = [](const LoadFigures& run) {
      const double ns = run.task_ns[static_cast<size_t>(Task::kMemory)] - run.maintain_ns;
      return PerQuery(ns, run.stores);
    };
    const auto lines = [](ObjectSizes sizes) {
      return AccessesOf(Work::kPlace, ProfileOf(sizes), kLineBytes, 0, false).stream;
    };
    const Line placed = LineThrough(lines(kSmall), place(runs_[0].stores), lines(kLarge),
                                    place(runs_[1].stores));
    cpu.unit(Work::kPlace).instructions = placed.at_zero;
    cpu.unit(Work::kPlace).stream = placed.slope;
    const auto look = [](const LoadFigures& run) { return PerQuery(run.maintain_ns, run.looks); };
    const Line looked =
        LineThrough(lines(kSmall), look(runs_[0].stores), lines(kLarge), look(runs_[1].stores));
    cpu.unit(Work::kEmpty).memory = looked.at_zero;
    cpu.unit(Work::kEmpty).stream = looked.slope;
    const auto change = [](const LoadFigures& run, Task task, double count) {
      return PerQuery(run.task_ns[static_cast<size_t>(task)], count);
    };
    cpu.unit(Work::kInsert).memory =
        (change(runs_[0].stores, Task::kInsert, runs_[0].stores.stores) +
         change(runs_[1].stores, Task::kInsert, runs_[1].stores.stores)) /
        2;
    cpu.unit(Work::kDelete).memory =
        (change(runs_[0].changes, Task::kDelete, runs_[0].changes.deletes) +
         change(runs_[1].changes, Task::kDelete, runs_[1].changes.deletes)) /
        2;
    // The values of stores are made, by what stands for a socket.
    const Line received = LineThrough(kSmall.value_bytes, Received(runs_[0].stores),
                                      kLarge.value_bytes, Received(runs_[1].stores));
    cpu.unit(Work::kReceive).stream = received.slope * kLineBytes;
    const double settled = Busy(runs_[0].insert_first) - Busy(runs_[0].stores) -
                           cpu.unit(Work::kHandOver).instructions;
    cpu.unit(Work::kSettle).memory = std::max(settled, 0.0);
  }
  static double Received(const LoadFigures& run) { return run.TaskNs(Task::kReceive); }

  // How much the caches hold: so that popular keys cost what they did.
  void FitCache() {
    Profile profile = ProfileOf(kSmall);
    profile.objects = runs_[0].objects;
    profile.zipf = kSkew;
    profile.batch_queries = 1024;
    Conditions conditions;
    conditions.workers = out_.workers;
    const double measured = Busy(runs_[0].skewed) / out_.workers;
    // The model is held to what the same requests of all keys took.
    Profile uniform = profile;
    uniform.zipf = 0;
    const auto estimate = [&](const Profile& of) {
      auto result = EstimatePlan(out_, of, pipeline::Plan::OneStageCpu(), conditions);
      WEFT_CHECK(result);
      return result->longest_ns;
    };
    const double scale = estimate(uniform) / (Busy(runs_[0].all) / out_.workers);
    double low = 0, high = runs_[0].objects * 256;
    for (int i = 0; i < 40; i++) {
      out_.cpu.cache_bytes = (low + high) / 2;
      (estimate(profile) > measured * scale ? low : high) = out_.cpu.cache_bytes;
    }
  }

  void FitDevices() {
    for (size_t i = 0; i < out_.devices.size(); i++) FitDevice(i);
  }
  void FitDevice(size_t number) {
    ProcessorCosts& device = out_.devices[number];
    const DeviceRuns& small = device_runs_[0][number];
    const DeviceRuns& large = device_runs_[1][number];
    const auto ns = [](const LoadFigures& run) { return run.WallNs(); };
    constexpr Work kWorks[] = {Work::kSearch, Work::kCompare, Work::kGather};
    for (size_t i = 0; i < 3; i++) {
      const auto more = [&](const std::array<LoadFigures, 3>& runs) {
        return std::max(ns(runs[i]) - (i == 0 ? 0 : ns(runs[i - 1])), 0.0);
      };
      device.unit(kWorks[i]) =
          FitUnit(kWorks[i], i == 2, kLineBytes,
                  {more(small.all), more(small.few), more(large.all), more(large.few)});
    }
    const double unit = ns(small.all[2]);
    const double job = ns(small.small_jobs) * kSmallJob;
    device.job = std::max(job - kSmallJob * unit, 0.0);
    const LoadFigures& one = small.one_small_job;
    device.job_latency = std::max(PerQuery(one.job_ns, one.jobs) - job, 0.0);
    FitFollowing(number);
    FitDeviceChanges(number);
    const double alone = ns(small.all[1]);
    if (alone > 0) device.interference = std::max(ns(small.with_workers) / alone - 1, 0.0);
    const double workers = Busy(runs_[0].all);
    if (workers > 0)
      out_.cpu.interference =
          std::max(out_.cpu.interference, Busy(small.workers_with) / workers - 1);
  }

  // Whoever runs a mirrored device's jobs follows the store as well: what of its time small jobs do
  // not explain.
  void FitFollowing(size_t number) {
    ProcessorCosts& device = out_.devices[number];
    if (!device.mirrored) return;
    double bytes[2], ns[2];  // a changed entry
    for (const int i : {0, 1}) {
      const DeviceRuns& run = device_runs_[i][number];
      const double stores = std::max(run.followed.stores, 1.0);
      const double spent =
          run.following.wall_ns - run.following.queries * run.small_jobs.WallNs();
      const double changes = stores + run.followed.looks / kLooksPerObject;
      const ObjectSizes sizes = i == 0 ? kSmall : kLarge;
      bytes[i] = stores * (sizes.key_bytes + sizes.value_bytes) / changes;
      ns[i] = std::max(spent, 0.0) / changes;
    }
    const Line line = LineThrough(bytes[0], ns[0], bytes[1], ns[1]);
    device.change = line.at_zero;
    device.change_byte = line.slope;
  }

  void FitDeviceChanges(size_t number) {
    if (!MakesChanges(*options_.devices[number])) return;
    const auto change = [&](size_t task, double LoadFigures::*count) {
      double ns = 0;
      for (const auto& runs : device_runs_) {
        const std::array<LoadFigures, 3>& changes = runs[number].changes;
        const LoadFigures& with = changes[task];
        // Of a query of the batch, be it such a change or not.
        const double more = with.JobNs() - changes[task - 1].JobNs();
        ns += more * PerQuery(with.queries, with.*count) / 2;
      }
      // Chance may be more than the change; none at all would say that it was not measured.
      return std::max(ns, kLeastChangeNs);
    };
    ProcessorCosts& device = out_.devices[number];
    device.unit(Work::kInsert).memory = change(1, &LoadFigures::stores);
    device.unit(Work::kDelete).memory = change(2, &LoadFigures::deletes);
  }

  const CalibratorOptions options_;
  Calibration out_;
  Runs runs_[2];  // of small objects, of large ones
  std::vector<DeviceRuns> device_runs_[2];
  int step_ = 0;
};

}  // namespace

Result<Calibration> Calibrate(const CalibratorOptions& options) {
  return Calibrator(options).Run();
}

}  // namespace weft::planner
