#include "planner/calibration_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "base/check.h"
#include "planner/cost_model.h"
#include "planner/popularity.h"
#include "planner/unit_fit.h"
#include "task/query_job.h"

namespace weft::planner {
namespace {

using pipeline::Task;

constexpr double kLeastChangeNs = 0.1;
constexpr double kCacheGrowthMax = 2;
constexpr double kJobShareMax = 0.9;  // of the time of large jobs

class Fit {
 public:
  Fit(const CalibrationRuns& runs, Calibration* out) : runs_(runs), out_(out) {}

  void Run() {
    out_->cpu.units = {};
    for (ProcessorCosts& device : out_->devices) device.units = device.worker_units = {};
    FitCpu();
    for (size_t i = 0; i < out_->devices.size(); i++) FitDevice(i);
    // With the interference of them all.
    for (size_t i = 0; i < out_->devices.size(); i++) FitVisits(i);
  }

 private:
  // What a task takes, a query, in runs of all keys and of few: runs_of(size) has both.
  template <typename RunsOf>
  static SizeRuns TaskNsOf(Task task, const RunsOf& runs_of) {
    SizeRuns ns;
    for (size_t i = 0; i < kSizes.size(); i++) {
      const std::tuple<const LoadFigures&, const LoadFigures&> runs = runs_of(i);
      ns.all[i] = std::get<0>(runs).TaskNs(task);
      ns.few[i] = std::get<1>(runs).TaskNs(task);
    }
    return ns;
  }
  // The same of reads: in one stage, or in two.
  SizeRuns OneStage(Task task) const {
    return TaskNsOf(
        task, [this](size_t i) { return std::tie(runs_.stores[i].all, runs_.stores[i].few); });
  }
  SizeRuns TwoStages(Task task) const {
    return TaskNsOf(task, [this](size_t i) {
      return std::tie(runs_.stores[i].two_all, runs_.stores[i].two_few);
    });
  }
  static double PerQuery(double ns, double count) { return count == 0 ? 0 : ns / count; }
  static double Busy(const LoadFigures& figures) { return figures.BusyNs(); }

  void FitCpu() {
    ProcessorCosts& cpu = out_->cpu;
    const auto fit = [&](Work work, const SizeRuns& measured, bool affine = false) {
      cpu.unit(work) = FitUnit(work, affine, kCacheLineBytes, measured);
    };
    fit(Work::kSearch, OneStage(Task::kSearch));
    fit(Work::kCompare, OneStage(Task::kCompare));
    fit(Work::kCompareFound, OneStage(Task::kCompare));
    cpu.unit(Work::kCompareLeft).memory =
        OneStage(Task::kSearch).all[kSmall] + OneStage(Task::kCompare).all[kSmall];
    fit(Work::kWrite, OneStage(Task::kWrite), true);
    fit(Work::kGather, TwoStages(Task::kRead), true);
    fit(Work::kWriteGathered, TwoStages(Task::kWrite));
    const double small_parse = runs_.stores[kSmall].all.TaskNs(Task::kParse);
    const Line parse = LineThrough(kSmallObjects.key_bytes, small_parse, kLargeObjects.key_bytes,
                                   runs_.stores[kLarge].all.TaskNs(Task::kParse));
    cpu.unit(Work::kParse).instructions = parse.at_zero;
    cpu.unit(Work::kParse).key_byte = parse.slope;
    cpu.unit(Work::kReceive).instructions = runs_.stores[kSmall].all.TaskNs(Task::kReceive);
    FitRest();
    FitChanges();
    FitCache();
  }

  // What no task's time has.
  void FitRest() {
    ProcessorCosts& cpu = out_->cpu;
    const LoadFigures& two = runs_.stores[kSmall].two_few;
    const LoadFigures& one = runs_.stores[kSmall].few;
    const double per_batch = 1.0 / 1024;
    const double small = Busy(runs_.stores[kSmall].small_batches);
    const double large = Busy(runs_.stores[kSmall].all);
    cpu.job = std::max(small - large, 0.0) / (1.0 / kSmallBatchQueries - per_batch);
    // KC is in both stages: what its first pass takes is known from one stage.
    const double finish = two.TaskNs(Task::kCompare) - one.TaskNs(Task::kCompare);
    cpu.unit(Work::kFinish).instructions = std::max(finish, 0.5);
    const double hand_over = RestOf(two) - cpu.job * per_batch;
    cpu.unit(Work::kHandOver).instructions = std::max(hand_over, 0.0);
    cpu.unit(Work::kNote).memory = cpu.unit(Work::kSearch).memory;
  }

  void FitChanges() {
    ProcessorCosts& cpu = out_->cpu;
    const auto place = [](const LoadFigures& run) {
      const double ns = run.task_ns[static_cast<size_t>(Task::kMemory)] - run.maintain_ns;
      return PerQuery(ns, run.stores);
    };
    const auto lines = [](ObjectSizes sizes) {
      return AccessesOf(Work::kPlace, ProfileOf(sizes), kCacheLineBytes, 0, false).stream;
    };
    const CalibrationRuns::OfStore& small = runs_.stores[kSmall];
    const CalibrationRuns::OfStore& large = runs_.stores[kLarge];
    const double small_lines = lines(kSmallObjects), large_lines = lines(kLargeObjects);
    const Line placed =
        LineThrough(small_lines, place(small.changes), large_lines, place(large.changes));
    cpu.unit(Work::kPlace).instructions = placed.at_zero;
    cpu.unit(Work::kPlace).stream = placed.slope;
    const auto look = [](const LoadFigures& run) { return PerQuery(run.maintain_ns, run.looks); };
    const Line looked =
        LineThrough(small_lines, look(small.changes), large_lines, look(large.changes));
    cpu.unit(Work::kEmpty).memory = looked.at_zero;
    cpu.unit(Work::kEmpty).stream = looked.slope;
    for (const CalibrationRuns::OfStore& store : runs_.stores) {
      const auto change = [&run = store.changes](Task task, double count) {
        return PerQuery(run.task_ns[static_cast<size_t>(task)], count) / kSizes.size();
      };
      cpu.unit(Work::kInsert).memory += change(Task::kInsert, store.changes.stores);
      cpu.unit(Work::kDelete).memory += change(Task::kDelete, store.changes.deletes);
    }
    FitMixed();
    // The values of stores are made, by what stands for a socket.
    const Line received = LineThrough(kSmallObjects.value_bytes, Received(small.stores),
                                      kLargeObjects.value_bytes, Received(large.stores));
    cpu.unit(Work::kReceiveValue).stream = received.slope * kCacheLineBytes;
    cpu.unit(Work::kReceiveValue).instructions =
        std::max(received.at_zero - cpu.unit(Work::kReceive).instructions, 0.0);
    const double settled =
        Busy(small.insert_first) - Busy(small.stores) - cpu.unit(Work::kHandOver).instructions;
    cpu.unit(Work::kSettle).memory = std::max(settled, 0.0);
  }
  static double Received(const LoadFigures& run) { return run.TaskNs(Task::kReceive); }

  // What stores and deletes take where reads stand between them, by what all take together: of a
  // change, more than of a read.
  void FitMixed() {
    const auto more = [this](Task task, bool but_for_reads) {
      double sum = 0;
      for (const CalibrationRuns::OfStore& runs : runs_.stores) {
        const LoadFigures& mixed = runs.changes;
        const double changes = PerQuery(mixed.stores + mixed.deletes, mixed.queries);
        const double reads = but_for_reads ? 1 - changes : 1;
        const double known = runs.reads_between.TaskNs(task) * reads;
        sum += PerQuery(mixed.TaskNs(task) - known, changes);
      }
      return std::max(sum / kSizes.size(), 0.0);
    };
    ProcessorCosts& cpu = out_->cpu;
    cpu.unit(Work::kParseChange).instructions = more(Task::kParse, false);
    cpu.unit(Work::kCompareChange).instructions = more(Task::kCompare, false);
    cpu.unit(Work::kAnswerChange).instructions = more(Task::kWrite, true);
  }

  // How much the caches hold: so that popular keys cost what they did, of small and large objects.
  void FitCache() {
    ProcessorCosts& cpu = out_->cpu;
    const double small = CacheBytesOf(kSmall), large = CacheBytesOf(kLarge);
    const auto object = [](size_t size) {
      return CachedObjectBytes(ProfileOf(kSizes[size]), kCacheLineBytes);
    };
    cpu.cache_growth = std::clamp(
        std::log(large / small) / std::log(object(kLarge) / object(kSmall)), 0.0, kCacheGrowthMax);
    cpu.cache_bytes = small / std::pow(object(kSmall) / kCacheObjectBytes, cpu.cache_growth);
  }
  // Where the store has objects of this size. At least one is held.
  double CacheBytesOf(size_t size) {
    const CalibrationRuns::OfStore& runs = runs_.stores[size];
    Profile profile = ProfileOf(kSizes[size]);
    profile.objects = runs.objects;
    profile.zipf = kSkewMeasured;
    profile.batch_queries = 1024;
    Conditions conditions;
    conditions.workers = out_->workers;
    const double measured = Busy(runs.skewed) / out_->workers;
    // The model is held to what the same requests of all keys took.
    Profile uniform = profile;
    uniform.zipf = 0;
    const auto estimate = [&](const Profile& of) {
      auto result = EstimatePlan(*out_, of, pipeline::Plan::OneStageCpu(), conditions);
      WEFT_CHECK(result);
      return result->longest_ns;
    };
    out_->cpu.cache_bytes = out_->cpu.cache_growth = 0;
    const double scale = estimate(uniform) / (Busy(runs.all) / out_->workers);
    const double object = CachedObjectBytes(profile, kCacheLineBytes);
    double low = 0, high = runs.objects * object;
    for (int i = 0; i < 40; i++) {
      out_->cpu.cache_bytes = (low + high) / 2;
      (estimate(profile) > measured * scale ? low : high) = out_->cpu.cache_bytes;
    }
    return std::max(out_->cpu.cache_bytes, object);
  }

  void FitDevice(size_t number) {
    ProcessorCosts& device = out_->devices[number];
    const CalibrationRuns::OfDevice& small = runs_.devices[kSmall][number];
    const auto ns = [](const LoadFigures& run) { return run.WallNs(); };
    // What a job costs beside its queries, by jobs of two sizes.
    const double large_queries = LargeJobQueries(device.mirrored);
    const double job = std::max(ns(small.medium_jobs) - ns(small.reads[2]), 0.0) /
                       (1.0 / kMediumJobQueries - 1.0 / large_queries);
    // Chance may make it more than all that jobs take.
    device.job = std::min(job, kJobShareMax * ns(small.reads[0]) * large_queries);
    const double of_job = device.job / large_queries;
    constexpr Work kReadWorks[] = {Work::kSearch, Work::kCompare, Work::kGather};
    for (size_t i = 0; i < 3; i++) {
      const auto more = [&](const std::array<LoadFigures, 3>& runs) {
        return std::max(ns(runs[i]) - (i == 0 ? of_job : ns(runs[i - 1])), 0.0);
      };
      SizeRuns measured;
      for (size_t size = 0; size < kSizes.size(); size++)
        measured.all[size] = more(runs_.devices[size][number].reads);
      device.unit(kReadWorks[i]) = FitUnit(kReadWorks[i], i == 2, kCacheLineBytes, measured);
    }
    const LoadFigures& one = small.one_small_job;
    const double working = device.job + kSmallJobQueries * (ns(small.reads[2]) - of_job);
    device.job_latency = std::max(PerQuery(one.job_ns, one.jobs) - working, 0.0);
    FitFollowing(number);
    FitDeviceChanges(number);
    const double alone = ns(small.one_feeder);
    if (alone > 0) device.interference = std::max(ns(small.with_workers) / alone - 1, 0.0);
    const double workers = Busy(runs_.stores[kSmall].all);
    if (workers > 0)
      out_->cpu.interference =
          std::max(out_->cpu.interference, Busy(small.workers_with) / workers - 1);
  }

  // Whoever runs a mirrored device's jobs follows the store as well: what of its time small jobs do
  // not explain.
  void FitFollowing(size_t number) {
    ProcessorCosts& device = out_->devices[number];
    if (!device.mirrored) return;
    double bytes[2], ns[2];  // a changed entry
    for (const size_t i : {0, 1}) {
      const CalibrationRuns::OfDevice& run = runs_.devices[i == 0 ? kSmall : kLarge][number];
      const double stores = std::max(run.followed.stores, 1.0);
      const double spent =
          run.following.wall_ns - run.following.queries * run.some_small_jobs.WallNs();
      const double changes = stores + run.followed.looks / kLooksPerObject;
      const ObjectSizes sizes = i == 0 ? kSmallObjects : kLargeObjects;
      bytes[i] = stores * (sizes.key_bytes + sizes.value_bytes) / changes;
      ns[i] = std::max(spent, 0.0) / changes;
    }
    const Line line = LineThrough(bytes[0], ns[0], bytes[1], ns[1]);
    device.change = line.at_zero;
    device.change_byte = line.slope;
  }

  void FitDeviceChanges(size_t number) {
    if (runs_.devices[kSmall][number].changes[0].queries == 0) return;
    const auto change = [&](size_t task, double LoadFigures::*count) {
      double ns = 0;
      for (const auto& runs : runs_.devices) {
        const std::array<LoadFigures, 3>& changes = runs[number].changes;
        const LoadFigures& with = changes[task];
        // Of a query of the batch, be it such a change or not.
        const double more = with.JobNs() - changes[task - 1].JobNs();
        ns += more * PerQuery(with.queries, with.*count) / kSizes.size();
      }
      // Chance may be more than the change; none at all would say that it was not measured.
      return std::max(ns, kLeastChangeNs);
    };
    ProcessorCosts& device = out_->devices[number];
    device.unit(Work::kInsert).memory = change(1, &LoadFigures::stores);
    device.unit(Work::kDelete).memory = change(2, &LoadFigures::deletes);
  }

  // And in a plan's runs with a device.
  SizeRuns Visits(size_t number, CalibrationRuns::Visit CalibrationRuns::OfDevice::*visit,
                  Task task) const {
    return TaskNsOf(task, [&](size_t i) {
      const CalibrationRuns::Visit& runs = runs_.devices[i][number].*visit;
      return std::tie(runs.all, runs.few);
    });
  }
  static double MeanOf(const SizeRuns& runs) {
    double sum = 0;
    for (size_t i = 0; i < kSizes.size(); i++) sum += runs.all[i] + runs.few[i];
    return sum / (2 * kSizes.size());
  }
  // What no task's time has, a query.
  static double RestOf(const LoadFigures& run) {
    double in_tasks = 0;
    for (const double ns : run.task_ns) in_tasks += ns;
    return std::max(Busy(run) - PerQuery(in_tasks, run.queries), 0.0);
  }

  // Of workers, where the device has searched, or has all of a read but the response: the lines
  // that it has written and read are not in their caches, and neither is what it has looked at.
  void FitVisits(size_t number) {
    ProcessorCosts& device = out_->devices[number];
    const CalibrationRuns::OfDevice& small = runs_.devices[kSmall][number];
    const CalibrationRuns::OfDevice& large = runs_.devices[kLarge][number];
    const auto searched = [&](Task task) {
      return Visits(number, &CalibrationRuns::OfDevice::searched, task);
    };
    const auto read = [&](Task task) {
      return Visits(number, &CalibrationRuns::OfDevice::read, task);
    };
    if (small.read.all.queries == 0) return;
    const auto unit = [&device](Work work) -> UnitCost& {
      return device.worker_units[static_cast<size_t>(work)];
    };
    const auto both = [&](Task task) { return (MeanOf(searched(task)) + MeanOf(read(task))) / 2; };
    unit(Work::kReceive).instructions = both(Task::kReceive);
    const auto parse = [](const CalibrationRuns::OfDevice& runs) {
      return (runs.searched.all.TaskNs(Task::kParse) + runs.read.all.TaskNs(Task::kParse)) / 2;
    };
    const Line parsed =
        LineThrough(kSmallObjects.key_bytes, parse(small), kLargeObjects.key_bytes, parse(large));
    unit(Work::kParse) = {parsed.at_zero, parsed.slope, 0, 0, 0};
    // Few keys say nothing here: what a copy of the index says of their accesses is old, so all
    // workers note these in the same lines.
    SizeRuns compared = searched(Task::kCompare);
    compared.few = {};
    unit(Work::kCompareFound) = FitUnit(Work::kCompareFound, false, kCacheLineBytes, compared);
    unit(Work::kWrite) = FitUnit(Work::kWrite, true, kCacheLineBytes, searched(Task::kWrite));
    // Notes of reads from a mirror are a work of their own.
    const double notes = device.mirrored ? out_->cpu.unit(Work::kNote).memory / kNoteRows : 0;
    unit(Work::kFinish).instructions = std::max(MeanOf(read(Task::kCompare)) - notes, 0.0);
    unit(Work::kWriteGathered) =
        FitUnit(Work::kWriteGathered, false, kCacheLineBytes, read(Task::kWrite));
    FitVisitsAmongStores(number);
    const double more = (MoreABatch(small.searched.all) + MoreABatch(small.read.all)) / 2;
    device.worker_job = more;
    // Changes alone, that the device has made: in KC's time, and in none.
    const auto settled = [this, more](const LoadFigures& run) {
      return run.TaskNs(Task::kCompare) + std::max(MoreABatch(run) - more, 0.0) * Batches(run);
    };
    for (const auto& devices : runs_.devices)
      unit(Work::kSettle).memory += settled(devices[number].changes[2]) / kSizes.size();
    // The model adds what the device's being busy does, which these have in them.
    const double slower =
        1 + out_->cpu.interference * BusyShare(small.searched.all, device.job_latency);
    for (UnitCost& cost : device.worker_units) Scale(&cost, 1 / slower);
    device.worker_job /= slower;
  }
  // Changes end rows of values that were gathered; and what was just written a device with a copy
  // leaves.
  void FitVisitsAmongStores(size_t number) {
    ProcessorCosts& device = out_->devices[number];
    const CalibrationRuns::OfDevice& runs = runs_.devices[kSmall][number];
    const LoadFigures &uniform = runs.among_stores, &popular = runs.among_popular_stores;
    if (uniform.queries == 0) return;
    const auto unit = [&device](Work work) -> UnitCost& {
      return device.worker_units[static_cast<size_t>(work)];
    };
    const double changes = PerQuery(uniform.stores, uniform.queries);
    const double rows = changes * (1 - changes);
    const ProcessorCosts& cpu = out_->cpu;
    const double compare = runs_.stores[kSmall].all.TaskNs(Task::kCompare) +
                           cpu.unit(Work::kCompareChange).instructions;
    const double answer = cpu.unit(Work::kAnswerChange).instructions;
    const auto of_row = [&](Task task, double of_change, double of_misses) {
      const double known =
          (1 - changes) * runs.read.all.TaskNs(task) + changes * of_change + of_misses;
      return PerQuery(std::max(uniform.TaskNs(task) - known, 0.0), rows);
    };
    // What was emptied for the stores a copy lacks, too.
    const auto misses = [&](const LoadFigures& run) {
      const double share = device.mirrored ? PerQuery(run.gets - run.hits, run.queries) : 0;
      return share * cpu.unit(Work::kCompareLeft).memory;
    };
    unit(Work::kCompareRow).instructions = of_row(Task::kCompare, compare, misses(uniform));
    unit(Work::kWriteRow).instructions = of_row(Task::kWrite, answer, 0);
    if (!device.mirrored) return;
    const double under_way = kVisitQueries * kVisitBatches * out_->workers * kMirrorLag;
    const double left = (1 - changes) * WrittenShare(changes * under_way,
                                                     runs_.stores[kSmall].objects, kSkewMeasured);
    const double known = (1 - changes - left) * runs.read.all.TaskNs(Task::kCompare) +
                         changes * compare + rows * unit(Work::kCompareRow).instructions +
                         misses(popular);
    unit(Work::kCompareLeft).memory =
        PerQuery(std::max(popular.TaskNs(Task::kCompare) - known, 0.0), left);
  }
  // A query.
  static double Batches(const LoadFigures& run) { return PerQuery(run.jobs, run.queries); }
  // What no task has and no batch costs anyway: most of it is asking the device for a job.
  double MoreABatch(const LoadFigures& run) const {
    const double batches = Batches(run);
    const double rest = RestOf(run) - out_->cpu.unit(Work::kHandOver).instructions;
    return batches == 0 ? 0 : std::max(rest / batches - out_->cpu.job, 0.0);
  }
  // Of the time of a run by a plan, how much of it the device worked on a job.
  double BusyShare(const LoadFigures& run, double job_latency) const {
    const double working_ns = std::max(run.job_ns - run.jobs * job_latency, 0.0);
    return std::min(PerQuery(working_ns, run.wall_ns / out_->workers), 1.0);
  }

  const CalibrationRuns& runs_;
  Calibration* const out_;
};

}  // namespace

void FitCalibration(const CalibrationRuns& runs, Calibration* calibration) {
  Fit(runs, calibration).Run();
}

}  // namespace weft::planner
