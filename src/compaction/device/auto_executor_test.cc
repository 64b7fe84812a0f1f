#include "compaction/device/auto_executor.h"

#include <gtest/gtest.h>

#include "compaction/device/executor_test_kit.h"
#include "compaction/device/plain_executor.h"

namespace weft::compaction::device {
namespace {

constexpr uint64_t kMib = 1u << 20;

JobResult ResultOf(uint64_t bytes_read, uint64_t cpu_us) {
  JobResult result;
  result.bytes_read = bytes_read;
  result.cpu_us = cpu_us;
  return result;
}

TEST(JobCosts, AJobOfOneThreadGoesToAnIdleDevice) {
  const JobCosts costs;
  EXPECT_TRUE(costs.IsForDevice(64 * kMib, {.cpu_threads = 1, .idle_cpus = 8}));
}

TEST(JobCosts, AJobThatManyThreadsShareStays) {
  const JobCosts costs;
  EXPECT_FALSE(
      costs.IsForDevice(64 * kMib, {.cpu_threads = 16, .host_threads = 16, .idle_cpus = 16}));
  EXPECT_TRUE(costs.IsForDevice(64 * kMib, {.cpu_threads = 16, .host_threads = 16, .idle_cpus = 1}))
      << "where other programs have the CPUs";
}

TEST(JobCosts, AJobThatIsNotWorthTheWayStays) {
  const JobCosts costs;
  EXPECT_FALSE(costs.IsForDevice(kMib, {.cpu_threads = 1, .idle_cpus = 8}));
}

TEST(JobCosts, ABusyDeviceGetsNoMore) {
  const JobCosts costs;
  EXPECT_FALSE(costs.IsForDevice(64 * kMib, {.cpu_threads = 1, .idle_cpus = 8, .device_jobs = 20}));
}

// By hand: 100 MiB at 1.2 GB/s of two CPUs; at 4 GB/s behind another job.
TEST(JobCosts, AreSecondsOfWhatThereIs) {
  const JobCosts costs;
  EXPECT_NEAR(0.0437, costs.CpuSeconds(100 * kMib, {.cpu_threads = 4, .idle_cpus = 2}), 0.0001);
  EXPECT_NEAR(
      0.0554,
      costs.DeviceSeconds(100 * kMib, {.host_threads = 4, .idle_cpus = 2, .device_jobs = 1}),
      0.0001);
}

TEST(JobCosts, AreLearned) {
  JobCosts costs;
  const JobMeans means{.cpu_threads = 1, .idle_cpus = 8};
  for (int i = 0; i < 60; i++) costs.LearnDevice(100 * kMib, 10, 0.05, 1);
  EXPECT_FALSE(costs.IsForDevice(64 * kMib, means)) << "of a slow device";
  for (int i = 0; i < 60; i++) costs.LearnDevice(100 * kMib, 0.02, 0.05, 2);
  EXPECT_TRUE(costs.IsForDevice(64 * kMib, means));
  for (int i = 0; i < 60; i++) costs.LearnCpu(ResultOf(100 * kMib, 1000));
  EXPECT_FALSE(costs.IsForDevice(64 * kMib, means)) << "of a fast CPU";
  const double before = costs.CpuSeconds(100 * kMib, means);
  costs.LearnCpu(ResultOf(1000, 100000000));
  EXPECT_EQ(before, costs.CpuSeconds(100 * kMib, means)) << "a small job says nothing";
}

// Each reads its own, whatever tables it shares with others.
TEST(JobCosts, PartsOfAJobTeachWhatTheWholeDoes) {
  JobKit kit;
  table::Strings strings(table::TestSeed());
  TestEntries entries;
  for (int i = 0; i < 3000; i++)
    entries.push_back(Put("key" + std::to_string(10000 + i), 5, strings.Bytes(4000)));
  kit.AddRun(entries);  // one table
  Result<std::vector<Job>> parts = SplitJob(kit.job(), 3);
  ASSERT_TRUE(parts.has_value());
  ASSERT_LT(1u, parts->size());
  uint64_t bytes_read = 0;
  for (const Job& part : *parts) bytes_read += kit.Run(part).bytes_read;
  const auto bytes = static_cast<double>(kit.job().runs[0][0].bytes);
  EXPECT_NEAR(bytes, static_cast<double>(bytes_read), bytes / 10);
}

// Jobs of one thread, some large, some small; whoever does them, the files are the same.
TEST(AutoExecutor, EachJobIsDoneByOneOfThem) {
  AutoExecutor executor(NewPlainExecutor(1 << 20));
  JobKit small;
  FillForFaults(&small);
  const Both both = RunBoth(&small, &executor);
  ExpectSame(&small, both);
  EXPECT_STREQ("cpu", both.device.done_by);

  JobKit large;
  table::Strings strings(table::TestSeed());
  TestEntries entries;
  for (int i = 0; i < 3000; i++)
    entries.push_back(Put("key" + std::to_string(10000 + i), 5, strings.Bytes(8000)));
  large.AddRun(entries, 300);
  large.host().threads = 1;
  EXPECT_TRUE(executor.WantsWhole(large.job(), 1));
  const Both of_large = RunBoth(&large, &executor);
  ExpectSame(&large, of_large);
  EXPECT_STREQ("plain", of_large.device.done_by);

  Result<std::vector<Job>> parts = SplitJob(large.job(), 4);
  ASSERT_TRUE(parts.has_value());
  ASSERT_LT(1u, parts->size());
  for (const Job& part : *parts) {
    EXPECT_FALSE(executor.WantsWhole(part, 1));
    EXPECT_STREQ("cpu", executor.Run(part, large.host()).done_by);
  }
}

// A device that does none of its jobs, as one that was lost.
class LostDevice final : public Executor {
 public:
  const char* Name() const override { return "lost"; }
  bool WantsWhole(const Job&, int) const override { return true; }
  JobResult Run(const Job& job, const JobHost& host) override {
    asked_++;
    JobResult result = cpu_->Run(job, host);
    result.left_to_cpu = "it is lost";
    return result;
  }
  int asked() const { return asked_; }

 private:
  const std::unique_ptr<Executor> cpu_ = NewCpuExecutor();
  int asked_ = 0;
};

TEST(AutoExecutor, ADeviceThatDoesNothingIsAskedNowAndThen) {
  auto device = std::make_unique<LostDevice>();
  const LostDevice& lost = *device;
  AutoExecutor executor(std::move(device));
  JobKit kit;
  TestEntries entries;
  for (int i = 0; i < 3000; i++)
    entries.push_back(Put("key" + std::to_string(10000 + i), 5, std::string(8000, 'v')));
  kit.AddRun(entries);
  kit.job().verify_outputs = false;
  kit.job().output_bytes_max = 64 << 20;
  for (int i = 0; i < 40; i++) {
    const JobResult result = executor.Run(kit.job(), kit.host());
    ASSERT_TRUE(result.status.ok());
    for (const OutputTable& table : result.outputs)
      ASSERT_TRUE(kit.files().RemoveFile(table.path).ok());
  }
  EXPECT_LE(3, lost.asked());
  EXPECT_GE(5, lost.asked());
}

}  // namespace
}  // namespace weft::compaction::device
