// Random jobs on the OpenCL processor: the answers are the model's and the CPU processor's;
// failures of OpenCL's calls become those of jobs, and lose nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "base/hash.h"
#include "processor/announce.h"
#include "processor/cpu_processor.h"
#include "processor/opencl/api.h"
#include "processor/opencl/device_test_kit.h"
#include "processor/self_test.h"
#include "processor/trial.h"
#include "task/table_test_kit.h"

namespace weft::processor {
namespace {

// Four tags and a few buckets more than others.
uint64_t WeakHash(std::string_view key) {
  const uint64_t hash = base::HashBytes(key);
  const uint64_t place = (hash & 12) == 0 ? hash >> 50 << 36 : hash >> 16;
  return (hash & 3) << 48 | (place & ((uint64_t{1} << 48) - 1));
}

Trial::Shape WeakShape() {
  Trial::Shape shape;
  shape.hash = WeakHash;
  shape.buckets = 1500;
  shape.log_bytes = 64 << 20;
  return shape;
}

// Batches that any trial may be given, all alike for one seed.
class BatchMaker {
 public:
  explicit BatchMaker(uint64_t seed) : random_(seed) {}

  void Make(Trial* trial, uint32_t count) {
    trial->Begin();
    std::set<uint32_t> changed, read;
    while (trial->queries() < count) {
      const uint32_t number = Below(6000);
      const std::string key =
          "key" + std::to_string(number) + std::string(number % 11 == 0 ? number % 230 : 0, 'x');
      const uint32_t draw = Below(10);
      if (changed.contains(number)) {
        trial->Nothing(key);
      } else if (draw < 4) {
        read.insert(number);
        draw == 0 ? trial->Hint(key) : trial->Read(key);
      } else if (read.contains(number)) {
        continue;
      } else {
        changed.insert(number);
        if (draw < 8) {
          trial->Store(key, SomeObject());
        } else {
          trial->Delete(key);
        }
      }
    }
  }
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

 private:
  Trial::Stored SomeObject() {
    Trial::Stored stored;
    stored.value.assign(Below(40) == 0 ? Below(20'000) : Below(100),
                        static_cast<char>('a' + Below(26)));
    if (Below(3) == 0) stored.flags = Below(1000);
    if (Below(3) == 0) stored.expiry_s = Trial::kNow_s - 20 + Below(100);
    if (Below(5) == 0) stored.cas = Below(1000);
    return stored;
  }

  std::mt19937_64 random_;
};

class OpenClJobsTest : public OpenClTest {
 protected:
  std::unique_ptr<Trial> NewTrial(Processor* processor) const {
    auto trial = Trial::Create(processor->pages(), WeakShape());
    EXPECT_TRUE(trial) << trial.error().ToString();
    return std::move(*trial);
  }
};

TEST_F(OpenClJobsTest, PassesTheSelfTest) {
  for (int round = 0; round < 3; round++) {
    const Status status = SelfTest(device.get());
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
}

TEST_F(OpenClJobsTest, AnswersAsTheModelAndTheCpuDo) {
  const auto cpu = NewCpuProcessor();
  const auto on_cpu = NewTrial(cpu.get());
  const auto on_device = NewTrial(device.get());
  BatchMaker cpu_batches(task::TestSeed()), device_batches(task::TestSeed());
  uint32_t queries = 0;
  for (uint32_t round = 0; round < task::Rounds(30); round++) {
    const uint32_t count = cpu_batches.Below(2000);
    ASSERT_EQ(device_batches.Below(2000), count);
    cpu_batches.Make(on_cpu.get(), count);
    device_batches.Make(on_device.get(), count);
    Status status = on_cpu->Run(cpu.get());
    ASSERT_TRUE(status.ok()) << "round " << round << ", CPU: " << status.ToString();
    status = on_device->Run(device.get());
    ASSERT_TRUE(status.ok()) << "round " << round << ", device: " << status.ToString();
    for (uint32_t i = 0; i < count; i++)
      ASSERT_EQ(on_device->result(i), on_cpu->result(i)) << "round " << round << ", query " << i;
    queries += count;
  }
  EXPECT_GT(queries, 10'000u);
  EXPECT_GT(on_device->entries(), 1000u);
}

// The CPU takes sets of every job from the other end, and changes the same buckets at once.
TEST_F(OpenClJobsTest, SharesJobsWithTheCpu) {
  const auto trial = NewTrial(device.get());
  trial->shares = true;
  BatchMaker batches(task::TestSeed());
  std::atomic<uint32_t> stolen{0}, sets{0};
  for (uint32_t round = 0; round < task::Rounds(60); round++) {
    batches.Make(trial.get(), 4000);
    bool again = false;
    do {
      trial->MakeJob(again);
      const task::QueryJob& query = trial->job()->query;
      sets += task::SetCount(query);
      // The last one before the device begins, or on a busy machine there might be none left.
      const uint32_t last = task::SetCount(query) - 1;
      ASSERT_TRUE(task::ClaimSet(query, last));
      ASSERT_TRUE(device->Start(trial->job()).ok());
      for (uint32_t set = last + 1; set-- > 0;) {
        if (set != last && !task::ClaimSet(query, set)) continue;
        task::RunQueries(query, task::SetBegin(query, set), task::SetEnd(query, set), 64);
        stolen++;
      }
      ASSERT_TRUE(trial->job()->Wait().ok());
      again = true;
    } while (trial->IsLeft());
    const Status status = trial->Check();
    ASSERT_TRUE(status.ok()) << "round " << round << ": " << status.ToString();
  }
  EXPECT_GT(stolen.load(), 0u);
  EXPECT_LT(stolen.load(), sets.load());
}

// A job that failed half done, as the device says of one in three, is run again. Some of what was
// not done has been announced.
TEST_F(OpenClJobsTest, RunsAgainWhatFailedHalfDone) {
  std::atomic<uint32_t> waits{0};
  OpenClOptions options;
  options.inject = [&waits](const char* call) {
    return call == std::string_view("clWaitForEvents") && waits++ % 3 != 2 ? CL_OUT_OF_RESOURCES
                                                                           : CL_SUCCESS;
  };
  const auto failing = Open(options);
  ASSERT_NE(failing, nullptr);
  const auto trial = NewTrial(failing.get());
  BatchMaker batches(task::TestSeed());
  for (uint32_t round = 0; round < task::Rounds(30); round++) {
    batches.Make(trial.get(), 2000);
    for (uint32_t run = 0; run < 3; run++) {
      trial->MakeJob(run > 0);
      Job* const job = trial->job();
      if (run < 2) job->query.end = 500 + run * 700;
      ASSERT_TRUE(failing->Start(job).ok());
      const Status& status = job->Wait();
      ASSERT_EQ(status.ok(), run == 2) << status.ToString();
      if (run == 2) break;
      EXPECT_EQ(status.code(), Code::kDeviceLost);
      EXPECT_NE(status.message().find("CL_OUT_OF_RESOURCES (-5)"), std::string_view::npos);
      for (uint32_t i = job->query.end; i < 2000; i += 3)
        if (job->query.result[i] == kResultNone) AnnounceChange(job->query, i, i % 2 == 0);
    }
    while (trial->IsLeft()) {
      trial->MakeJob(true);
      waits = 2;
      ASSERT_TRUE(failing->Start(trial->job()).ok());
      ASSERT_TRUE(trial->job()->Wait().ok());
    }
    waits = 0;
    const Status status = trial->Check();
    ASSERT_TRUE(status.ok()) << "round " << round << ": " << status.ToString();
  }
}

// A wait that fails says nothing of the kernel: the job is its owner's when that has ended, and no
// sooner.
TEST_F(OpenClJobsTest, AJobWhoseWaitFailedEndsWithItsKernel) {
  constexpr uint32_t kRunning = 20;
  std::atomic<uint32_t> asked{0};
  OpenClOptions options;
  options.inject = [&asked](const char* call) {
    if (call == std::string_view("clWaitForEvents")) return CL_OUT_OF_RESOURCES;
    return call == std::string_view("clGetEventInfo") && asked++ < kRunning ? CL_OUT_OF_HOST_MEMORY
                                                                            : CL_SUCCESS;
  };
  const auto failing = Open(options);
  ASSERT_NE(failing, nullptr);
  const auto trial = NewTrial(failing.get());
  trial->Store("key", {"v"});
  trial->MakeJob(false);
  ASSERT_TRUE(failing->Start(trial->job()).ok());
  const Status& status = trial->job()->Wait();
  EXPECT_EQ(status.code(), Code::kDeviceLost);
  EXPECT_NE(status.message().find("CL_OUT_OF_RESOURCES"), std::string_view::npos);
  EXPECT_EQ(asked.load(), kRunning + 1) << "it was taken for ended before anything said so";
}

// What cannot be started is refused, or fails where it had to wait for its turn; the others run.
TEST_F(OpenClJobsTest, JobsThatCannotBeStartedFail) {
  std::atomic<uint32_t> starts{0};
  std::atomic<uint32_t> refused{0};
  OpenClOptions options;
  options.inject = [&](const char* call) {
    if (call != std::string_view("clEnqueueNDRangeKernel") || starts++ % 4 != 3) return CL_SUCCESS;
    refused++;
    return CL_OUT_OF_HOST_MEMORY;
  };
  const auto failing = Open(options);
  ASSERT_NE(failing, nullptr);
  std::vector<std::unique_ptr<Trial>> trials;
  for (int i = 0; i < 60; i++) {
    Trial::Shape shape;
    shape.queries_max = 512;
    auto trial = Trial::Create(failing->pages(), shape);
    ASSERT_TRUE(trial);
    trials.push_back(std::move(*trial));
    for (int key = 0; key < 500; key++) trials.back()->Store("key" + std::to_string(key), {"v"});
    trials.back()->MakeJob(false);
  }
  uint32_t failed = 0, done = 0;
  for (auto& trial : trials) {
    const Status status = failing->Start(trial->job());
    EXPECT_TRUE(status.ok() || status.code() == Code::kNoMemory) << status.ToString();
    if (!status.ok()) {
      failed++;
      EXPECT_TRUE(trial->job()->done());  // it was not taken
      trial.reset();
    }
  }
  for (auto& trial : trials) {
    if (!trial) continue;
    const Status status = trial->job()->Wait();
    EXPECT_TRUE(status.ok() || status.code() == Code::kNoMemory) << status.ToString();
    (status.ok() ? done : failed)++;
    EXPECT_EQ(trial->Check().ok(), status.ok());
  }
  EXPECT_EQ(failed, refused.load());
  EXPECT_EQ(failed, 15u);
  EXPECT_EQ(done, 45u);
}

TEST_F(OpenClJobsTest, MemoryThatTheDriverRefusesIsNoMemory) {
  bool refuses = false;
  OpenClOptions options;
  options.inject = [&refuses](const char* call) {
    return refuses && call == std::string_view("clSVMAlloc") ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
  };
  const auto failing = Open(options);
  ASSERT_NE(failing, nullptr);
  refuses = true;
  const auto pages = failing->pages()->Reserve(12'345, false);
  ASSERT_FALSE(pages);
  EXPECT_EQ(pages.error().code(), Code::kNoMemory);
  EXPECT_NE(pages.error().message().find("12345 bytes"), std::string_view::npos);
  const auto none = OpenOpenCl(number, options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::kNoMemory);
}

}  // namespace
}  // namespace weft::processor
