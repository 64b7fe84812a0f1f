#include "compaction/cuda/cuda_executor.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/folder_test_kit.h"
#include "base/posix_fd.h"
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

// What a device keeps from one job to the next goes with its last executor: one stays for all jobs.
class CudaExecutor : public testing::Test {
 protected:
  static void SetUpTestSuite() { kept_ = Maker()(1); }
  static void TearDownTestSuite() { kept_.reset(); }

 private:
  static std::unique_ptr<Executor> kept_;
};
std::unique_ptr<Executor> CudaExecutor::kept_;

// Half of the jobs have hundreds of pieces, so it is launches and waits that take their time: side
// by side.
TEST_F(CudaExecutor, WritesWhatTheCpuWrites) {
  constexpr int kThreads = 8;
  ExpectRandomJobsTheSame(Maker(), RandomJobs(), kThreads);
}

TEST_F(CudaExecutor, HeedsARangeOfUserKeys) {
  ExpectRandomRangesTheSame(Maker(), std::max<uint64_t>(RandomJobs() / 4, 1));
}

TEST_F(CudaExecutor, EndsValuesAsTheCpuDoes) {
  ExpectEndedValuesTheSame(Maker(), std::max<uint64_t>(RandomJobs() / 4, 1));
}

// Into pinned memory.
TEST_F(CudaExecutor, ReadsAndWritesPastThePageCache) {
  ExpectRandomJobsOnDiskTheSame(Maker(), std::max<uint64_t>(RandomJobs() / 10, 1));
}

// Where the system's device database does not know the disk, the library refuses all of its files.
std::string WhyNoFiles(DeviceStorage* storage) {
  const base::TestFolder folder;
  Result<base::Fd> file = base::OpenFd(folder.path() + "probe", O_CREAT | O_RDWR | O_DIRECT);
  if (!file) return file.error().ToString();
  const auto opened = storage->Open(file->get());
  return opened ? "" : opened.error().ToString();
}

// As WEFT_CUFILE says.
TEST_F(CudaExecutor, ReadsFilesByItself) {
  const std::unique_ptr<DeviceStorage> storage = NewCufileStorage(0);
  if (storage == nullptr) GTEST_SKIP() << "cuFile is not to be used, or not there";
  if (const std::string why = WhyNoFiles(storage.get()); !why.empty())
    GTEST_SKIP() << "cuFile takes no files here: " << why;
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

TEST_F(CudaExecutor, KeepsMegabytes) {
  JobKit kit;
  table::Strings strings(table::TestSeed());
  const std::string key = strings.Bytes(1 << 20);
  kit.AddRun({Put("", 9), Put(key, 9, strings.Bytes(3 << 20)), Put(key + "!", 9)});
  kit.AddRun({Put("", 2, strings.Bytes(1 << 20)), Put(key, 2)});
  ExpectSameByDevice(&kit, Maker()(1).get());
  ExpectSameByDevice(&kit, Maker()(64 << 20).get());
}

TEST_F(CudaExecutor, JobsShareADevice) {
  const std::unique_ptr<Executor> executor = Maker()(100000);
  ASSERT_NE(nullptr, executor);
  RunRandomJobsAtOnce(executor.get(), 4, RandomJobs() / 20);
}

}  // namespace
}  // namespace weft::compaction::device
