// Unit costs from runs whose figures are made up: what comes out is worked out by hand.
#include "planner/calibration_fit.h"

#include <gtest/gtest.h>

#include "planner/accesses.h"
#include "planner/cost_model.h"
#include "planner/popularity.h"
#include "planner/unit_fit.h"
#include "task/query_job.h"

namespace weft::planner {
namespace {

using pipeline::Task;

constexpr double kQueries = 1000;

LoadFigures Nothing() {
  LoadFigures run;
  run.queries = run.gets = run.hits = kQueries;
  run.wall_ns = 1e6;
  return run;
}

// Of a query.
void Take(LoadFigures* run, Task task, double ns) {
  run->task_ns[static_cast<size_t>(task)] += ns * kQueries;
  run->busy_ns += ns * kQueries;
}

// Every run of reads takes 2 ns for RV, 10 for PP, 20 for Search, 30 for KC and 40 for WR a query,
// whatever its objects are.
LoadFigures RunOfReads() {
  LoadFigures run = Nothing();
  Take(&run, Task::kReceive, 2);
  Take(&run, Task::kParse, 10);
  Take(&run, Task::kSearch, 20);
  Take(&run, Task::kCompare, 30);
  Take(&run, Task::kWrite, 40);
  return run;
}

// Half reads, 40 % stores, 10 % deletes.
LoadFigures Mixed() {
  LoadFigures run = Nothing();
  run.gets = 500;
  run.stores = 400;
  run.deletes = 100;
  run.looks = 800;
  run.maintain_ns = 120 * run.looks;
  Take(&run, Task::kParse, 10 + 0.5 * 6);
  Take(&run, Task::kCompare, 30 + 0.5 * 8);
  Take(&run, Task::kWrite, 0.5 * 40 + 0.5 * 3);
  Take(&run, Task::kMemory, 0.4 * 90 + run.maintain_ns / kQueries);
  Take(&run, Task::kInsert, 0.4 * 70);
  Take(&run, Task::kDelete, 0.1 * 50);
  return run;
}

CalibrationRuns Runs() {
  CalibrationRuns runs;
  for (CalibrationRuns::OfStore& store : runs.stores) {
    store.objects = 1e6;
    store.all = store.few = store.two_all = store.two_few = store.small_batches = store.skewed =
        RunOfReads();
    store.changes = Mixed();
    store.reads_between = RunOfReads();
    store.stores = store.insert_first = Nothing();
    store.stores.gets = store.insert_first.gets = 0;
    store.stores.stores = store.insert_first.stores = kQueries;
  }
  return runs;
}

Calibration FitOf(const CalibrationRuns& runs, size_t devices = 0) {
  Calibration calibration;
  calibration.workers = 2;
  calibration.devices.resize(devices);
  FitCalibration(runs, &calibration);
  return calibration;
}

TEST(FitCalibration, TellsChangesFromReads) {
  const ProcessorCosts cpu = FitOf(Runs()).cpu;
  EXPECT_NEAR(cpu.unit(Work::kParseChange).instructions, 6, 1e-9);
  EXPECT_NEAR(cpu.unit(Work::kCompareChange).instructions, 8, 1e-9);
  EXPECT_NEAR(cpu.unit(Work::kAnswerChange).instructions, 3, 1e-9);
  EXPECT_NEAR(cpu.unit(Work::kInsert).memory, 70, 1e-9);
  EXPECT_NEAR(cpu.unit(Work::kDelete).memory, 50, 1e-9);
  EXPECT_NEAR(cpu.unit(Work::kPlace).instructions, 90, 1e-9);
  EXPECT_NEAR(cpu.unit(Work::kEmpty).memory, 120, 1e-9);
}

TEST(FitCalibration, ChanceMakesNoFigureNegative) {
  CalibrationRuns runs = Runs();
  for (CalibrationRuns::OfStore& store : runs.stores)
    for (double& ns : store.changes.task_ns) ns /= 4;
  const ProcessorCosts cpu = FitOf(runs).cpu;
  EXPECT_EQ(cpu.unit(Work::kParseChange).instructions, 0);
  EXPECT_EQ(cpu.unit(Work::kCompareChange).instructions, 0);
  EXPECT_EQ(cpu.unit(Work::kAnswerChange).instructions, 0);
}

TEST(FitCalibration, ValuesOfStoresAreReceivedByTheLine) {
  CalibrationRuns runs = Runs();
  // 2 as a read, 5 more, and 4 for each 64 bytes.
  Take(&runs.stores[kSmall].stores, Task::kReceive, 2 + 5 + 4 * kSmallObjects.value_bytes / 64.0);
  Take(&runs.stores[kLarge].stores, Task::kReceive, 2 + 5 + 4 * kLargeObjects.value_bytes / 64.0);
  const ProcessorCosts cpu = FitOf(runs).cpu;
  EXPECT_NEAR(cpu.unit(Work::kReceiveValue).instructions, 5, 1e-9);
  EXPECT_NEAR(cpu.unit(Work::kReceiveValue).stream, 4, 1e-9);
}

// A device that is busy half of the time, where it makes the workers slower by a half if it always
// is: what they took was 1.25 times what they take beside an idle one.
TEST(FitCalibration, WorkersBesideADevice) {
  CalibrationRuns runs = Runs();
  for (auto& devices : runs.devices) {
    CalibrationRuns::OfDevice& device = devices.emplace_back();
    for (const auto visit :
         {&CalibrationRuns::OfDevice::searched, &CalibrationRuns::OfDevice::read})
      for (const auto keys : {&CalibrationRuns::Visit::all, &CalibrationRuns::Visit::few}) {
        LoadFigures& run = device.*visit.*keys = Nothing();
        run.wall_ns = 2e6;  // of two workers
        run.job_ns = 0.5e6;
        Take(&run, Task::kReceive, 5);
        Take(&run, Task::kParse, 15);
        Take(&run, Task::kCompare, visit == &CalibrationRuns::OfDevice::read ? 10 : 70);
        Take(&run, Task::kWrite, visit == &CalibrationRuns::OfDevice::read ? 20 : 45);
        run.jobs = 10;
        run.busy_ns += 25 * kQueries;  // 2,500 a batch
      }
    for (LoadFigures& changes : device.changes) changes = Nothing();
    Take(&device.changes[2], Task::kCompare, 30);
    device.changes[2].jobs = 10;
    device.changes[2].busy_ns += 45 * kQueries;
    device.workers_with = RunOfReads();
    device.workers_with.busy_ns *= 1.5;
  }
  const Calibration calibration = FitOf(runs, 1);
  EXPECT_NEAR(calibration.cpu.interference, 0.5, 1e-9);
  const auto unit = [&calibration](Work work) {
    return calibration.devices[0].worker_units[static_cast<size_t>(work)];
  };
  EXPECT_NEAR(unit(Work::kReceive).instructions, 4, 1e-9);
  EXPECT_NEAR(unit(Work::kParse).instructions, 12, 1e-9);
  EXPECT_NEAR(unit(Work::kCompareFound).instructions, 56, 1e-6);
  EXPECT_NEAR(unit(Work::kWrite).instructions, 36, 1e-9);
  EXPECT_NEAR(unit(Work::kFinish).instructions, 8, 1e-9);
  EXPECT_NEAR(unit(Work::kWriteGathered).instructions, 16, 1e-9);
  EXPECT_NEAR(calibration.devices[0].worker_job, 2000, 1e-9);
  EXPECT_NEAR(unit(Work::kSettle).memory, 40, 1e-9);  // 30, and the 20 that are more than a job's
  EXPECT_EQ(unit(Work::kSearch), UnitCost());
}

// Jobs of 1,024 queries take 8 ns for each, those of 16,384 half of that: a job takes 4 / (1/1024 -
// 1/16384) ns, of which each query of a large one has a part.
TEST(FitCalibration, WhatAJobCostsIsNoQuerysCost) {
  CalibrationRuns runs = Runs();
  for (auto& devices : runs.devices) {
    CalibrationRuns::OfDevice& device = devices.emplace_back();
    const auto took = [](double ns) {
      LoadFigures run = Nothing();
      run.wall_ns = ns * kQueries;
      return run;
    };
    device.reads = {took(2), took(3), took(4)};
    device.medium_jobs = took(8);
    device.one_small_job = took(1000);
    device.one_small_job.jobs = kQueries / kSmallJobQueries;
    device.one_small_job.job_ns = 50'000 * device.one_small_job.jobs;
  }
  Calibration calibration;
  calibration.workers = 2;
  calibration.devices.resize(1);
  calibration.devices[0].mirrored = true;
  FitCalibration(runs, &calibration);
  const ProcessorCosts& device = calibration.devices[0];
  const double job = 4 / (1.0 / 1024 - 1.0 / 16384);
  EXPECT_NEAR(device.job, job, 1e-6);
  const double search =
      UnitNs(device.unit(Work::kSearch),
             AccessesOf(Work::kSearch, ProfileOf(kSmallObjects), device.line_bytes, 0, false), 0);
  EXPECT_NEAR(search, 2 - job / 16384, 1e-3);
  EXPECT_NEAR(device.job_latency, 50'000 - job - 64 * (4 - job / 16384), 1e-6);
}

// Of 20 queries one stores: KC takes 10 for a read and 38 (30 and 8) for it, WR 5 and 3; what is
// more is of the rows, 0.05 x 0.95 a query.
TEST(FitCalibration, ChangesEndRows) {
  CalibrationRuns runs = Runs();
  for (auto& devices : runs.devices) {
    CalibrationRuns::OfDevice& device = devices.emplace_back();
    device.read.all = device.read.few = device.among_stores = Nothing();
    Take(&device.read.all, Task::kCompare, 10);
    Take(&device.read.all, Task::kWrite, 5);
    device.among_stores.stores = kQueries / 20;
    Take(&device.among_stores, Task::kCompare, 0.95 * 10 + 0.05 * 38 + 0.0475 * 100);
    Take(&device.among_stores, Task::kWrite, 0.95 * 5 + 0.05 * 3 + 0.0475 * 60);
  }
  const Calibration calibration = FitOf(runs, 1);
  const auto row = [&calibration](Work work) {
    return calibration.devices[0].worker_units[static_cast<size_t>(work)].instructions;
  };
  EXPECT_NEAR(row(Work::kCompareRow), 100, 1e-6);
  EXPECT_NEAR(row(Work::kWriteRow), 60, 1e-6);
}

// Popular keys among stores: what KC takes more than a copy's reads, changes and rows is of the
// reads that it leaves, and of those that missed.
TEST(FitCalibration, ReadsThatACopyLeaves) {
  CalibrationRuns runs = Runs();
  for (auto& devices : runs.devices) {
    CalibrationRuns::OfDevice& device = devices.emplace_back();
    device.read.all = device.read.few = device.among_stores = device.among_popular_stores =
        Nothing();
    for (LoadFigures* run : {&device.read.all, &device.read.few}) Take(run, Task::kCompare, 10);
    for (LoadFigures* run : {&device.among_stores, &device.among_popular_stores})
      run->stores = kQueries / 20;
    Take(&device.among_stores, Task::kCompare, 0.95 * 10 + 0.05 * 38);
    const double left = 0.95 * WrittenShare(0.05 * kVisitQueries * kVisitBatches * 2 * kMirrorLag,
                                            1e6, kSkewMeasured);
    ASSERT_GT(left, 0.1);
    Take(&device.among_popular_stores, Task::kCompare, (0.95 - left) * 10 + 0.05 * 38 + left * 120);
  }
  Calibration calibration;
  calibration.workers = 2;
  calibration.devices.resize(1);
  calibration.devices[0].mirrored = true;
  FitCalibration(runs, &calibration);
  const auto unit = [&calibration](Work work) {
    return calibration.devices[0].worker_units[static_cast<size_t>(work)];
  };
  EXPECT_NEAR(unit(Work::kCompareRow).instructions, 0, 1e-6);
  EXPECT_NEAR(unit(Work::kCompareLeft).memory, 120, 1e-6);
}

// Popular keys take as long as they do because caches hold some of the objects: the model says so
// again, for small ones and for large ones.
TEST(FitCalibration, CachesHoldWhatMakesPopularKeysQuick) {
  CalibrationRuns runs = Runs();
  for (CalibrationRuns::OfStore& store : runs.stores) {
    for (LoadFigures* run : {&store.all, &store.two_all, &store.skewed})
      Take(run, Task::kSearch, 100);  // of memory
    store.skewed.busy_ns = 0.8 * store.all.busy_ns;
  }
  const Calibration calibration = FitOf(runs);
  for (const size_t size : {kSmall, kLarge}) {
    Profile profile = ProfileOf(kSizes[size]);
    profile.objects = 1e6;
    profile.batch_queries = 1024;
    Conditions conditions;
    conditions.workers = 2;
    const auto ns = [&] {
      return EstimatePlan(calibration, profile, pipeline::Plan::OneStageCpu(), conditions)
          ->longest_ns;
    };
    const double uniform = ns();
    profile.zipf = kSkewMeasured;
    EXPECT_NEAR(ns() / uniform, 0.8, 0.01) << size;
  }
}

// A mirror's reads note accesses, in KC's time: of 10 ns the notes' share is a work of its own.
TEST(FitCalibration, NotesOfAMirrorAreCountedOnce) {
  CalibrationRuns runs = Runs();
  for (CalibrationRuns::OfStore& store : runs.stores) Take(&store.all, Task::kSearch, 15);
  for (auto& devices : runs.devices) {
    CalibrationRuns::OfDevice& device = devices.emplace_back();
    for (LoadFigures* run : {&device.read.all, &device.read.few}) {
      *run = Nothing();
      Take(run, Task::kCompare, 10);
    }
  }
  Calibration calibration;
  calibration.devices.resize(1);
  calibration.devices[0].mirrored = true;
  FitCalibration(runs, &calibration);
  const double note = calibration.cpu.unit(Work::kNote).memory;
  EXPECT_GT(note, 0);
  const auto finish = static_cast<size_t>(Work::kFinish);
  EXPECT_NEAR(calibration.devices[0].worker_units[finish].instructions, 10 - note / kNoteRows,
              1e-9);
}

TEST(FitCalibration, WithoutVisitsWorkersTakeWhatTheyAlwaysDo) {
  CalibrationRuns runs = Runs();
  for (auto& devices : runs.devices) devices.emplace_back();
  const Calibration calibration = FitOf(runs, 1);
  for (const UnitCost& unit : calibration.devices[0].worker_units) EXPECT_EQ(unit, UnitCost());
}

}  // namespace
}  // namespace weft::planner
