// A calibration in small: it says little of the machine, but all its parts are run.
#include "planner/calibrator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>

#include "planner/search.h"
#include "planner/synthetic_load.h"
#include "processor/devices.h"

namespace weft::planner {
namespace {

std::unique_ptr<processor::Guard> DeviceNamed(const char* name) {
  auto device = processor::OpenNamed(name);
  EXPECT_TRUE(device);
  return std::make_unique<processor::Guard>(std::move(*device));
}

CalibratorOptions Small() {
  CalibratorOptions options;
  options.memory_bytes = 24 << 20;
  options.seconds = 0.01;
  return options;
}

TEST(Calibrate, MeasuresTheCpuAndADeviceOfEachKind) {
  const auto coupled = DeviceNamed("cpu");
  CalibratorOptions options = Small();
  options.devices = {coupled.get()};
  int steps_told = 0, steps_all = 0;
  options.progress = [&](std::string_view what, int step, int steps) {
    EXPECT_FALSE(what.empty());
    EXPECT_EQ(step, steps_told++);
    steps_all = steps;
  };
  auto calibration = Calibrate(options);
  ASSERT_TRUE(calibration) << calibration.error().ToString();
  EXPECT_EQ(steps_told, steps_all);
  EXPECT_EQ(calibration->hardware, HardwareOf({coupled->description()}));
  ASSERT_EQ(calibration->devices.size(), 1u);
  EXPECT_FALSE(calibration->devices[0].mirrored);
  for (const Work work : {Work::kParse, Work::kSearch, Work::kCompare, Work::kWrite, Work::kPlace,
                          Work::kInsert, Work::kGather})
    EXPECT_NE(calibration->cpu.unit(work), UnitCost()) << WorkName(work);
  for (const Work work : {Work::kSearch, Work::kInsert, Work::kDelete})
    EXPECT_NE(calibration->devices[0].unit(work), UnitCost()) << WorkName(work);
  for (const Work work :
       {Work::kReceive, Work::kParse, Work::kCompareFound, Work::kWrite, Work::kWriteGathered})
    EXPECT_NE(calibration->devices[0].worker_units[static_cast<size_t>(work)], UnitCost())
        << WorkName(work);
  // It can be written, read, and planned with.
  auto read = ParseCalibration(ToText(*calibration));
  ASSERT_TRUE(read) << read.error().ToString();
  const auto ranked = RankPlans(*read, Profile(), Conditions(), AllPlans(*read));
  EXPECT_GT(ranked.front().estimate.queries_per_s, 0);
}

TEST(Calibrate, FollowsAMirror) {
  const auto mirror = DeviceNamed("mirror");
  CalibratorOptions options = Small();
  options.devices = {mirror.get()};
  auto calibration = Calibrate(options);
  ASSERT_TRUE(calibration) << calibration.error().ToString();
  EXPECT_TRUE(calibration->devices[0].mirrored);
  EXPECT_EQ(calibration->devices[0].unit(Work::kInsert), UnitCost());
  // Differences of short runs may be lost in what else the machine does; they are never negative.
  EXPECT_GE(calibration->devices[0].change, 0);
  EXPECT_GE(calibration->devices[0].change_byte, 0);
}

// A device that does not take some jobs.
class ChoosyProcessor : public processor::Processor {
 public:
  using Refuses = std::function<bool(const task::QueryJob&)>;
  ChoosyProcessor(std::unique_ptr<Processor> of, Refuses refuses)
      : of_(std::move(of)), refuses_(std::move(refuses)) {}
  const processor::Description& description() const override { return of_->description(); }
  Status Start(processor::Job* job) override {
    if (refuses_(job->query)) return {Code::kIoError, "not that"};
    return of_->Start(job);
  }
  cache::PageSource* pages() override { return of_->pages(); }

 private:
  const std::unique_ptr<Processor> of_;
  const Refuses refuses_;
};

Status CalibrateWith(const ChoosyProcessor::Refuses& refuses) {
  auto device = processor::OpenNamed("cpu");
  EXPECT_TRUE(device);
  processor::Guard guard(std::make_unique<ChoosyProcessor>(std::move(*device), refuses));
  CalibratorOptions options = Small();
  options.seconds = 0.001;
  options.devices = {&guard};
  const auto calibration = Calibrate(options);
  EXPECT_FALSE(calibration);
  return calibration ? Status::Ok() : calibration.error();
}

// Workers do in its place what it fails to do, and no figure would tell.
TEST(Calibrate, SaysWhereADeviceFailsToStore) {
  const Status status =
      CalibrateWith([](const task::QueryJob& job) { return (job.tasks & kRunInsert) != 0; });
  EXPECT_NE(status.message().find("not that"), std::string::npos) << status.ToString();
}

// Once, among many: a batch of workers that does not go to it as a job of its own size does.
TEST(Calibrate, SaysWhereADeviceFailsTheWorkers) {
  std::atomic<int> reads{0};
  const Status status = CalibrateWith([&](const task::QueryJob& job) {
    return job.end - job.begin == 2048 && (job.tasks & kRunRead) != 0 && reads++ == 0;
  });
  EXPECT_NE(status.message().find("not that"), std::string::npos) << status.ToString();
}

TEST(Calibrate, SaysWhereMemoryIsTooSmall) {
  CalibratorOptions options = Small();
  options.memory_bytes = 3 << 20;
  const auto calibration = Calibrate(options);
  ASSERT_FALSE(calibration);
  EXPECT_EQ(calibration.error().code(), Code::kNoMemory);
}

// What takes longer than all turns together should, of a slow device or machine, is done once.
TEST(SyntheticLoad, DoesFewerTurnsWhereTheyTakeLong) {
  const auto device = DeviceNamed("cpu");
  LoadOptions options;
  options.memory_bytes = 24 << 20;
  options.devices = {device.get()};
  auto load = SyntheticLoad::Open(options);
  ASSERT_TRUE(load) << load.error().ToString();
  JobTraffic traffic;
  traffic.device = device.get();
  traffic.tasks = kRunSearch;
  traffic.jobs = 1;
  traffic.seconds = 0;
  auto run = (*load)->RunJobs(traffic);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->jobs, 1);
  EXPECT_EQ(device->counters().jobs, 1u) << "further turns";
}

TEST(SyntheticLoad, CountsWhatItServes) {
  LoadOptions options;
  options.memory_bytes = 24 << 20;
  options.workers = 2;
  auto load = SyntheticLoad::Open(options);
  ASSERT_TRUE(load) << load.error().ToString();
  EXPECT_GT((*load)->objects(), 10'000u);
  Traffic traffic;
  traffic.seconds = 0.02;
  auto reads = (*load)->Run(traffic);
  ASSERT_TRUE(reads);
  EXPECT_GT(reads->queries, 1000);
  EXPECT_EQ(reads->gets, reads->queries);
  EXPECT_EQ(reads->hits, reads->gets) << "every key is there";
  EXPECT_EQ(reads->stores, 0);
  EXPECT_LE(reads->busy_ns, reads->wall_ns);
  traffic.get_share = 0.5;
  traffic.delete_share = 0.2;
  auto mixed = (*load)->Run(traffic);
  ASSERT_TRUE(mixed);
  EXPECT_NEAR(mixed->gets / mixed->queries, 0.5, 0.06);
  EXPECT_NEAR(mixed->deletes / mixed->queries, 0.2, 0.06);
  EXPECT_GT(mixed->TaskNs(pipeline::Task::kInsert), 0);
}

}  // namespace
}  // namespace weft::planner
