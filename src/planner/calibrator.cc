#include "planner/calibrator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "base/check.h"
#include "base/cpu_facts.h"
#include "base/system_memory.h"
#include "planner/calibration_fit.h"
#include "planner/synthetic_load.h"
#include "planner/unit_fit.h"

namespace weft::planner {
namespace {

using pipeline::Task;

constexpr uint64_t kFewKeys = 512;  // whose lines are in the cache of every core
constexpr std::array<uint32_t, 3> kReadRuns = {kRunSearch, kRunSearch | kRunCompare,
                                               kRunSearch | kRunCompare | kRunRead};
constexpr uint64_t kBytesPerWorker = 256ull << 20;  // of the stores
constexpr uint64_t kBytesMin = 32ull << 20;
constexpr uint32_t kFeedersMax = 8;  // whose jobs of long values take 80 MiB each
constexpr uint32_t kJobsMax = 4;     // of each, under way at once
// Of a guest's scratch: the store, and the jobs that are under way.
constexpr uint64_t kGuestStorePart = 4;
constexpr uint64_t kGuestStoreMin = 16ull << 20;  // of enough objects of the largest size
constexpr uint64_t kGuestJobsPart = 4;
constexpr uint64_t kBytesOfQuery = 256;  // of a job, beside its key and value
// Of reads, whose workers' part is measured: they find what gpu0 has searched for, or all but the
// response made.
constexpr const char* kSearchOnDevice =
    "[RV PP MM]cpu -> [IN.search]gpu{} -> [IN.insert IN.delete KC RD WR SD]cpu";
constexpr const char* kReadOnDevice =
    "[RV PP MM]cpu -> [IN.search KC RD]gpu{} -> [IN.insert IN.delete WR SD]cpu";
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
    if (options_.guest != nullptr) out_.scratch_bytes = options_.guest->scratch_bytes;
    out_.cpu.name = "cpu";
    out_.cpu.hardware = HardwareOf({});
    out_.cpu.line_bytes = kCacheLineBytes;
    for (const processor::Description& device : devices) {
      ProcessorCosts costs;
      costs.name = device.name;
      costs.hardware = device.hardware;
      costs.mirrored = device.memory == processor::MemoryModel::kMirrored;
      costs.line_bytes = kCacheLineBytes;
      out_.devices.push_back(std::move(costs));
    }
    for (size_t size = 0; size < kSizes.size(); size++) {
      if (Status status = MeasureStore(size); !status.ok()) return status;
    }
    FitCalibration(runs_, &out_);
    return out_;
  }

 private:
  using StoreRuns = CalibrationRuns::OfStore;
  using DeviceRuns = CalibrationRuns::OfDevice;

  // Of a store that no cache holds, and large enough for its addresses to be as far from the
  // processor as those of stores that such a machine is used for.
  Result<uint64_t> MemoryBytes() const {
    if (options_.memory_bytes != 0) return options_.memory_bytes;
    if (options_.guest != nullptr)
      return WhatDevicesTake(
          std::max(options_.guest->scratch_bytes / kGuestStorePart, kGuestStoreMin));
    const uint64_t cache = base::LastCacheBytes();
    const uint64_t wanted = std::clamp<uint64_t>(
        std::max(6 * cache, options_.workers * kBytesPerWorker), 256ull << 20, 8ull << 30);
    const uint64_t needed = std::min<uint64_t>(wanted, std::max<uint64_t>(2 * cache, 64ull << 20));
    uint64_t bytes = std::min<uint64_t>(wanted, base::MemoryToBeHad() / 3);
    if (bytes < needed)
      return Status(Code::kNoMemory,
                    fmt::format("measuring needs {} MiB, and three times as much must be free",
                                needed >> 20));
    return WhatDevicesTake(bytes);
  }
  // As much of a store of so many bytes as all devices can be measured with.
  Result<uint64_t> WhatDevicesTake(uint64_t bytes) const {
    const uint64_t least = std::min(bytes, kBytesMin);
    for (const processor::Guard* guard : options_.devices) {
      // The addresses of a log, in one piece, are some times as much (cache/object_log.h); and a
      // device with memory of its own is measured with a copy of all of it.
      const processor::Description& device = guard->description();
      if (device.allocation_bytes_max != 0)
        bytes = std::min(bytes, device.allocation_bytes_max / 4);
      if (device.memory_bytes != 0) bytes = std::min(bytes, device.memory_bytes / 3);
      if (bytes < least)
        return Status(Code::kNoMemory,
                      fmt::format("{} has too little memory to be measured", device.name));
    }
    return bytes;
  }
  void Tell(std::string_view what) {
    int steps = static_cast<int>(kSizes.size()) * 4;
    for (const processor::Guard* device : options_.devices)
      steps += static_cast<int>(kSizes.size()) * (MakesChanges(*device) ? 4 : 3) + 2 * 5 + 1;
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

  Status MeasureStore(size_t size) {
    const ObjectSizes sizes = kSizes[size];
    auto memory_bytes = MemoryBytes();
    if (!memory_bytes) return memory_bytes.error();
    LoadOptions load_options;
    load_options.key_bytes = sizes.key_bytes;
    load_options.value_bytes = sizes.value_bytes;
    load_options.memory_bytes = *memory_bytes;
    load_options.workers = options_.workers;
    load_options.devices = options_.devices;
    load_options.guest = options_.guest;
    Tell(fmt::format("fill {} MiB with objects of {} bytes", load_options.memory_bytes >> 20,
                     sizes.key_bytes + sizes.value_bytes));
    auto load = SyntheticLoad::Open(load_options);
    if (!load) return load.error();
    StoreRuns& runs = runs_.stores[size];
    runs.objects = static_cast<double>((*load)->objects());
    if (Status status = MeasureReads(load->get(), size, &runs); !status.ok()) return status;
    for (size_t i = 0; i < options_.devices.size(); i++) {
      if (Status status = MeasureDevice(load->get(), i, size); !status.ok()) return status;
    }
    if (Status status = MeasureChanges(load->get(), &runs); !status.ok()) return status;
    for (size_t i = 0; i < options_.devices.size(); i++) {
      if (!MakesChanges(*options_.devices[i])) continue;
      Status status = MeasureDeviceChanges(load->get(), i, &runs_.devices[size][i].changes);
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
  // Runs whose figures are held against each other.
  struct Case {
    Traffic traffic;
    LoadFigures* figures;
  };
  static Status MeasureInTurns(SyntheticLoad* load, const std::vector<Case>& cases) {
    std::vector<Traffic> all;
    for (const Case& each : cases) all.push_back(each.traffic);
    auto run = load->RunInTurns(all);
    if (!run) return run.error();
    for (size_t i = 0; i < cases.size(); i++) *cases[i].figures = (*run)[i];
    return Status::Ok();
  }
  Status MeasureReads(SyntheticLoad* load, size_t size, StoreRuns* runs) {
    Tell("reads");
    Traffic skewed = Reads(0), small_batches = Reads(0);
    skewed.zipf = kSkewMeasured;
    small_batches.queries = kSmallBatchQueries;
    std::vector<Case> in_one = {{Reads(0), &runs->all}, {Reads(kFewKeys), &runs->few}};
    if (size == kSmall) in_one.push_back({small_batches, &runs->small_batches});
    if (size != kMedium) in_one.push_back({skewed, &runs->skewed});
    if (Status status = MeasureInTurns(load, in_one); !status.ok()) return status;
    return MeasureInTurns(load, {{Reads(0, kTwoStages), &runs->two_all},
                                 {Reads(kFewKeys, kTwoStages), &runs->two_few}});
  }
  Status MeasureChanges(SyntheticLoad* load, StoreRuns* runs) {
    Tell("stores");
    Traffic stores = Reads(0), insert_first = Reads(0, kInsertFirst);
    stores.get_share = insert_first.get_share = 0;
    Status status =
        MeasureInTurns(load, {{stores, &runs->stores}, {insert_first, &runs->insert_first}});
    if (!status.ok()) return status;
    Tell("reads, stores and deletes");
    Traffic changes = Reads(0);
    changes.get_share = 0.5;
    changes.delete_share = 0.1;
    return MeasureInTurns(load, {{changes, &runs->changes}, {Reads(0), &runs->reads_between}});
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
    if (!what.empty()) Tell(fmt::format("{}: {}", traffic.device->description().name, what));
    auto run = load->RunJobs(traffic, beside);
    if (!run) return run.error();
    *figures = *run;
    return Status::Ok();
  }
  // Of large jobs, or as many medium ones: who feeds the device, and how many each has under way.
  struct Crowd {
    uint32_t feeders, jobs;
  };
  Crowd CrowdOf(size_t device, size_t size) const {
    Crowd crowd = {std::clamp(options_.workers / 2, 1u, kFeedersMax), kJobsMax};
    if (options_.guest == nullptr) return crowd;
    const uint64_t job_bytes = uint64_t{LargeJobQueries(out_.devices[device].mirrored)} *
                               (kBytesOfQuery + kSizes[size].key_bytes + kSizes[size].value_bytes);
    const uint64_t fit =
        std::max<uint64_t>(options_.guest->scratch_bytes / kGuestJobsPart / job_bytes, 1);
    crowd.feeders = static_cast<uint32_t>(std::clamp<uint64_t>(fit / kJobsMax, 1, crowd.feeders));
    crowd.jobs = static_cast<uint32_t>(std::min<uint64_t>(fit / crowd.feeders, kJobsMax));
    return crowd;
  }
  Status MeasureDevice(SyntheticLoad* load, size_t device, size_t size) {
    auto& runs = runs_.devices[size];
    runs.resize(options_.devices.size());
    DeviceRuns& run = runs[device];
    const Crowd crowd = CrowdOf(device, size);
    const uint32_t large_queries = LargeJobQueries(out_.devices[device].mirrored);
    for (size_t i = 0; i < kReadRuns.size(); i++) {
      const JobTraffic traffic =
          Jobs(device, kReadRuns[i], large_queries, crowd.feeders, crowd.jobs);
      Status status = MeasureJobs(load, i == 0 ? "reads" : "", traffic, &run.reads[i]);
      if (!status.ok()) return status;
    }
    Status status = MeasureVisits(load, device, &run);
    // While all keys are there: a miss costs more than what is to be measured.
    if (status.ok() && size == kSmall) status = MeasureVisitsAmongStores(load, device, &run);
    if (status.ok() && size != kMedium) status = MeasureSmallJobs(load, device, crowd, &run);
    return status;
  }

  // What depends on the size of jobs, and what devices and workers do to each other.
  Status MeasureSmallJobs(SyntheticLoad* load, size_t device, Crowd crowd, DeviceRuns* run) {
    const JobTraffic one = Jobs(device, kReadRuns[2], kSmallJobQueries, 1, 1);
    const JobTraffic medium =
        Jobs(device, kReadRuns[2], kMediumJobQueries, crowd.feeders, crowd.jobs);
    const JobTraffic some = Jobs(device, kReadRuns[2], kSmallJobQueries, 1, kJobsMax);
    const uint32_t large_queries = LargeJobQueries(out_.devices[device].mirrored);
    const JobTraffic large = Jobs(device, kReadRuns[1], large_queries, 1, crowd.jobs);
    Traffic stores = Reads(0);
    stores.get_share = 0;
    const std::string name = out_.devices[device].name;
    Status status = MeasureJobs(load, "one small job", one, &run->one_small_job);
    if (status.ok()) status = MeasureJobs(load, "small jobs", some, &run->some_small_jobs);
    if (status.ok()) status = MeasureJobs(load, "", medium, &run->medium_jobs);
    if (status.ok())
      status = MeasureJobs(load, "beside the workers", large, &run->with_workers, true);
    if (status.ok()) status = MeasureJobs(load, "", large, &run->one_feeder);
    if (status.ok())
      status =
          Measure(load, name + ": the workers beside it", Reads(0), &run->workers_with, &large);
    if (status.ok())
      status = Measure(load, name + ": following stores", stores, &run->followed, &some,
                       &run->following);
    return status;
  }

  // What workers take for batches that the device has a part in.
  Status MeasureVisits(SyntheticLoad* load, size_t device, DeviceRuns* run) {
    const std::string name = out_.devices[device].name;
    const processor::Guard& guard = *options_.devices[device];
    const uint64_t failures = guard.counters().failures;
    const struct {
      const char* what;
      const char* plan;
      CalibrationRuns::Visit* visit;
    } all[] = {{": workers after its Search", kSearchOnDevice, &run->searched},
               {": workers after its reads", kReadOnDevice, &run->read}};
    for (const auto& each : all) {
      Traffic traffic = Reads(0, fmt::format(fmt::runtime(each.plan), device).c_str());
      traffic.queries = kVisitQueries;
      traffic.batches = kVisitBatches;
      Status status = Measure(load, name + each.what, traffic, &each.visit->all);
      if (!status.ok()) return status;
      traffic.keys = kFewKeys;
      auto few = load->Run(traffic);
      if (!few) return few.error();
      each.visit->few = *few;
    }
    return HasNotFailed(guard, failures);
  }

  // The same among stores, of keys that are used alike, and of popular ones.
  Status MeasureVisitsAmongStores(SyntheticLoad* load, size_t device, DeviceRuns* run) {
    Tell(out_.devices[device].name + ": workers after its reads, among stores");
    const processor::Guard& guard = *options_.devices[device];
    const uint64_t failures = guard.counters().failures;
    Traffic traffic = Reads(0, fmt::format(kReadOnDevice, device).c_str());
    traffic.queries = kVisitQueries;
    traffic.batches = kVisitBatches;
    traffic.get_share = 0.95;
    for (const bool is_skewed : {false, true}) {
      traffic.zipf = is_skewed ? kSkewMeasured : 0;
      auto figures = load->Run(traffic);
      if (!figures) return figures.error();
      (is_skewed ? run->among_popular_stores : run->among_stores) = *figures;
    }
    return HasNotFailed(guard, failures);
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
      changes.queries = LargeJobQueries(false);
      auto run = load->RunAlone(changes);
      if (!run) return run.error();
      (*runs)[i] = *run;
    }
    return HasNotFailed(guard, failures);
  }
  // Workers take up what a device failed in, which says nothing of the device.
  static Status HasNotFailed(const processor::Guard& device, uint64_t failures_before) {
    if (device.counters().failures == failures_before) return Status::Ok();
    return {Code::kDeviceLost, device.last_failure()};
  }

  const CalibratorOptions options_;
  Calibration out_;
  CalibrationRuns runs_;
  int step_ = 0;
};

}  // namespace

Result<Calibration> Calibrate(const CalibratorOptions& options) {
  return Calibrator(options).Run();
}

}  // namespace weft::planner
