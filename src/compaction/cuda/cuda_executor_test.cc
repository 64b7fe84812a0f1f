#include "compaction/cuda/cuda_executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "compaction/cuda/cufile_storage.h"
#include "compaction/device/executor_test_kit.h"

namespace weft::compaction::device {
namespace {

// As many as WEFT_RANDOM_JOBS says; 200, or fewer under WEFT_SMALL, which checkers run with.
uint64_t RandomJobs() {
  const char* const text = std::getenv("WEFT_RANDOM_JOBS");
  if (text != nullptr) return std::strtoull(text, nullptr, 10);
  return std::getenv("WEFT_SMALL") == nullptr ? 200 : 20;
}

ExecutorMaker Maker() {
  return [](uint64_t piece_bytes) -> std::unique_ptr<Executor> {
    Result<std::unique_ptr<Executor>> executor = NewCudaExecutor(0, piece_bytes);
    EXPECT_TRUE(executor.has_value()) << executor.error().ToString();
    return executor ? std::move(*executor) : nullptr;
  };
}

TEST(CudaExecutor, WritesWhatTheCpuWrites) { ExpectRandomJobsTheSame(Maker(), RandomJobs()); }

TEST(CudaExecutor, HeedsARangeOfUserKeys) { ExpectRandomRangesTheSame(Maker(), RandomJobs() / 4); }

TEST(CudaExecutor, EndsValuesAsTheCpuDoes) { ExpectEndedValuesTheSame(Maker(), RandomJobs() / 4); }

// Into pinned memory.
TEST(CudaExecutor, ReadsAndWritesPastThePageCache) {
  ExpectRandomJobsOnDiskTheSame(Maker(), std::max<uint64_t>(RandomJobs() / 10, 1));
}

// As WEFT_CUFILE says.
TEST(CudaExecutor, ReadsFilesByItself) {
  if (NewCufileStorage(0) == nullptr) GTEST_SKIP() << "cuFile is not to be used, or not there";
  JobKit kit;
  kit.job().format.compression = Compression::kNone;
  table::Strings strings(table::TestSeed());
  TestEntries entries;
  for (uint64_t key = 0; key < 4000; key++)
    entries.push_back(Put("key" + std::to_string(10000 + key), 1 + key, strings.Bytes(200)));
  kit.AddRun(entries, 2000);
  const auto executor = Maker()(50000);
  ExpectSameOnDisk(&kit, executor.get());
  const JobResult result = JobOnDisk(&kit).Run(executor.get(), kit.host());
  EXPECT_LT(4000u * 200, result.bytes_read_by_device);
  EXPECT_LT(4000u * 170, result.bytes_written_by_device);
  ExpectRandomJobsOnDiskTheSame(Maker(), std::max<uint64_t>(RandomJobs() / 10, 1));
}

TEST(CudaExecutor, KeepsMegabytes) {
  JobKit kit;
  table::Strings strings(table::TestSeed());
  const std::string key = strings.Bytes(1 << 20);
  kit.AddRun({Put("", 9), Put(key, 9, strings.Bytes(3 << 20)), Put(key + "!", 9)});
  kit.AddRun({Put("", 2, strings.Bytes(1 << 20)), Put(key, 2)});
  ExpectSameByDevice(&kit, Maker()(1).get());
  ExpectSameByDevice(&kit, Maker()(64 << 20).get());
}

TEST(CudaExecutor, JobsShareADevice) {
  const std::unique_ptr<Executor> executor = Maker()(100000);
  ASSERT_NE(nullptr, executor);
  RunRandomJobsAtOnce(executor.get(), 4, RandomJobs() / 20);
}

}  // namespace
}  // namespace weft::compaction::device
