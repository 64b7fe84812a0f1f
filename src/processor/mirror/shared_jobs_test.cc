// How a mirrored processor shares its jobs with their owners, on a device that does what the test
// says and nothing before.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

#include "base/mutex.h"
#include "cache/cache_test_kit.h"
#include "processor/mirror/mirror_test_kit.h"
#include "processor/mirror/mirrored_processor.h"

namespace weft::processor {
namespace {

// Runs no query: keeps the jobs of each group, until the test lets it end.
class HeldDevice final : public MirrorDevice {
 public:
  const Description& description() const override { return description_; }
  cache::PageSource* pages() override { return cache::SystemPages(); }
  uint32_t groups_max() const override { return 4; }

  Status Launch(std::span<const task::QueryJob> jobs) override {
    base::MutexLock lock(&mutex_);
    if (!launch_.ok()) return launch_;
    groups_.emplace_back(jobs.begin(), jobs.end());
    return {};
  }
  bool OldestIsDone() override {
    base::MutexLock lock(&mutex_);
    return !ends_.empty();
  }
  Status TakeOldest() override {
    base::MutexLock lock(&mutex_);
    EXPECT_FALSE(ends_.empty());
    Status end = std::move(ends_.front());
    ends_.pop_front();
    return end;
  }

  // --- the test's ---
  // The groups launched so far, once there are `count`.
  std::vector<std::vector<task::QueryJob>> Groups(size_t count) {
    for (;;) {
      {
        base::MutexLock lock(&mutex_);
        if (groups_.size() >= count) return groups_;
      }
      std::this_thread::yield();
    }
  }
  // Lets the next group end with `status`.
  void LetGo(Status status = {}) {
    base::MutexLock lock(&mutex_);
    ends_.push_back(std::move(status));
  }
  void RefuseLaunches(Status status) {
    base::MutexLock lock(&mutex_);
    launch_ = std::move(status);
  }
  void RefuseCopies(Status status) {
    base::MutexLock lock(&mutex_);
    index_copies_ = std::move(status);
  }
  std::atomic<uint64_t> lines_copied{0}, copies_refused{0};

  Status NewIndex(uint64_t n) override { return memory_.NewIndex(n); }
  Status NewLog(uint32_t n, uint64_t bytes) override { return memory_.NewLog(n, bytes); }
  uint32_t SegmentsMax() const override { return memory_.SegmentsMax(); }
  Status Hold(uint32_t segment) override { return memory_.Hold(segment); }
  Status Drop(uint32_t segment) override { return memory_.Drop(segment); }
  Status CopyIndex(const task::Bucket* table, std::span<const uint64_t> numbers) override {
    {
      base::MutexLock lock(&mutex_);
      if (!index_copies_.ok()) {
        copies_refused++;
        return index_copies_;
      }
    }
    lines_copied += numbers.size();
    return memory_.CopyIndex(table, numbers);
  }
  Status WriteLog(uint64_t at, const uint8_t* bytes, uint64_t count) override {
    return memory_.WriteLog(at, bytes, count);
  }
  Status SetResident(uint32_t segment, uint32_t units, uint64_t base) override {
    return memory_.SetResident(segment, units, base);
  }
  Status ReadUses(std::span<uint32_t> uses) override { return memory_.ReadUses(uses); }
  task::IndexRef index() const override { return memory_.index(); }
  task::LogRef log() const override { return memory_.log(); }

 private:
  Description description_;
  StrictMemory memory_{UINT32_MAX};
  base::Mutex mutex_;
  std::vector<std::vector<task::QueryJob>> groups_ WEFT_GUARDED_BY(mutex_);
  std::deque<Status> ends_ WEFT_GUARDED_BY(mutex_);  // of groups that may end, in order
  Status launch_ WEFT_GUARDED_BY(mutex_);
  Status index_copies_ WEFT_GUARDED_BY(mutex_);
};

class SharedJobs : public testing::Test {
 protected:
  SharedJobs() {
    auto device = std::make_unique<HeldDevice>();
    device_ = device.get();
    processor_ = NewMirroredProcessor(std::move(device), {.now_ns = StandingNow});
    CacheOptions options;
    options.memory_bytes = 16u << 20;
    options.huge_pages = false;
    store_ = std::move(cache::Store::Open(options).value());
    EXPECT_TRUE(processor_->Attach(store_.get()).ok());
    EXPECT_TRUE(processor_->CatchUp().ok());
    session_ = store_->NewSession();
    session_->Begin();
  }
  ~SharedJobs() override {
    session_->End();
    processor_->Detach();
  }

  // A job of so many queries, with room for `units` of values, shared or not.
  void Start(Job* job, uint32_t queries, uint32_t units, bool shared) {
    job->query = {};
    job->query.index = session_->index();
    job->query.log = session_->log();
    job->query.tasks = kRunSearch | kRunCompare | kRunRead;
    job->query.end = queries;
    job->query.values_capacity = units;
    job->query.set_claims = shared ? claims_ : nullptr;
    ASSERT_TRUE(processor_->Start(job).ok());
  }

  void LetGo(uint32_t groups) {
    for (uint32_t i = 0; i < groups; i++) device_->LetGo();
  }

  uint32_t claims_[1] = {};
  HeldDevice* device_ = nullptr;  // the processor's
  std::unique_ptr<Processor> processor_;
  std::unique_ptr<cache::Store> store_;
  std::unique_ptr<cache::Session> session_;
};

TEST_F(SharedJobs, OneThatIsNotSharedGoesWhole) {
  Job job;
  Start(&job, 100'001, 1000, false);
  const auto groups = device_->Groups(1);
  EXPECT_EQ(groups[0][0].begin, 0u);
  EXPECT_EQ(groups[0][0].end, 100'001u);
  EXPECT_EQ(groups[0][0].values_capacity, 1000u);
  EXPECT_EQ(groups[0][0].set_claims, nullptr);
  uint32_t set = 0;
  EXPECT_FALSE(job.sets.TakeBack(&set));
  device_->LetGo();
  EXPECT_TRUE(job.Wait().ok());
}

TEST_F(SharedJobs, TheDeviceHasSomePartsAndTheOwnerTakesFromTheBack) {
  Job job;
  constexpr uint32_t kSets = 1000;
  constexpr uint32_t kQueries = kSets * kSetQueries - 10;
  Start(&job, kQueries, 80'007, true);
  auto groups = device_->Groups(kSharedGroups);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_EQ(device_->Groups(kSharedGroups).size(), kSharedGroups) << "more than one part ahead";
  uint32_t set = 0;
  ASSERT_TRUE(job.sets.TakeBack(&set));
  EXPECT_EQ(set, kSets - 1);
  uint32_t taken = 1;
  for (uint32_t more; taken < 500 && job.sets.TakeBack(&more); taken++) EXPECT_EQ(more, --set);
  // Part after part, until what is left is taken.
  uint32_t done = 0;
  for (size_t n = 0; done < kSets - taken; n++) {
    groups = device_->Groups(n + 1);
    ASSERT_EQ(groups[n].size(), 1u);
    const task::QueryJob& part = groups[n][0];
    EXPECT_EQ(part.begin, done * kSetQueries);
    EXPECT_GT(part.end, part.begin);
    done = part.end / kSetQueries;
    // Its share of the room for values, beginning with a whole sector, none shared.
    EXPECT_EQ(part.values_begin % 4, 0u);
    EXPECT_NEAR(part.values_begin, 80'007.0 * part.begin / kQueries, 16);
    EXPECT_EQ(part.values_begin, n == 0 ? 0 : groups[n - 1][0].values_capacity);
    EXPECT_FALSE(job.done());
    device_->LetGo();
  }
  EXPECT_EQ(done, kSets - taken);
  EXPECT_TRUE(job.Wait().ok());
  EXPECT_FALSE(job.sets.TakeBack(&set));
}

TEST_F(SharedJobs, OneThatItsOwnerHasTakenWholeEndsWithoutTheDevice) {
  Job before, job;
  Start(&before, 100'000, 8, true);  // the device is busy with it
  device_->Groups(kSharedGroups);
  Start(&job, 10 * kSetQueries, 8, true);
  uint32_t taken = 0;
  for (uint32_t set; job.sets.TakeBack(&set);) taken++;
  EXPECT_EQ(taken, 10u);
  EXPECT_TRUE(job.Wait().ok());
  EXPECT_FALSE(before.done());
  for (uint32_t set; before.sets.TakeBack(&set);) {
  }
  LetGo(kSharedGroups);
  EXPECT_TRUE(before.Wait().ok());
  EXPECT_EQ(device_->Groups(kSharedGroups).size(), kSharedGroups);
}

TEST_F(SharedJobs, APartThatFailsFailsTheJob) {
  Job job;
  Start(&job, 100'000, 8, true);
  device_->Groups(kSharedGroups);
  device_->LetGo(Status(Code::kIoError, "the test's"));
  // The rest is given up, the other parts are waited for, and no further one is begun.
  while (!job.sets.empty()) std::this_thread::yield();
  EXPECT_FALSE(job.done());
  uint32_t set = 0;
  EXPECT_FALSE(job.sets.TakeBack(&set));
  LetGo(kSharedGroups - 1);
  EXPECT_EQ(job.Wait().code(), Code::kIoError);
  EXPECT_EQ(device_->Groups(kSharedGroups).size(), kSharedGroups);
  // The next one is as good as new.
  Start(&job, 64, 8, true);
  device_->Groups(kSharedGroups + 1);
  device_->LetGo();
  EXPECT_TRUE(job.Wait().ok());
}

TEST_F(SharedJobs, ADeviceThatRefusesAGroupFailsItsJobs) {
  device_->RefuseLaunches(Status(Code::kDeviceLost, "the test's"));
  Job job;
  Start(&job, 100'000, 8, true);
  EXPECT_EQ(job.Wait().code(), Code::kDeviceLost);
}

// Plans with the device and without it take turns.
TEST_F(SharedJobs, TheStoreIsFollowedBetweenJobs) {
  cache::Client client(store_.get());
  const auto store_some = [&client] {
    for (int i = 0; i < 100; i++) client.Set("key" + std::to_string(i), "value");
  };
  store_some();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const uint64_t none = device_->lines_copied;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(device_->lines_copied, none) << "before the first job nobody wants it";
  Job job;
  Start(&job, 100, 8, false);
  device_->Groups(1);
  device_->LetGo();
  EXPECT_TRUE(job.Wait().ok());
  const uint64_t before = device_->lines_copied;
  store_some();
  while (device_->lines_copied == before) std::this_thread::yield();
  // Who asks for all of it at once has it, and what comes later is nobody's until there is a job.
  session_->End();
  EXPECT_TRUE(processor_->CatchUp().ok());
  session_->Begin();
  const uint64_t all = device_->lines_copied;
  store_some();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(device_->lines_copied, all);
}

// It fails for the next job, too, or that finds no mirror and is left to its owner.
TEST_F(SharedJobs, AFailureBetweenJobsIsNobodys) {
  cache::Client client(store_.get());
  Job first, second;
  Start(&first, 100, 8, false);
  device_->Groups(1);
  device_->LetGo();
  EXPECT_TRUE(first.Wait().ok());
  device_->RefuseCopies({Code::kDeviceLost, "the test says so"});
  client.Set("key", "value");
  while (device_->copies_refused == 0) std::this_thread::yield();
  Start(&second, 100, 8, false);
  const Status status = second.Wait();
  EXPECT_TRUE(status.ok() || status.code() == Code::kDeviceLost) << status.ToString();
  EXPECT_EQ(device_->Groups(1).size(), 1u) << "it ran on a mirror that lacks a change";
}

TEST_F(SharedJobs, SeveralGoInOneGroup) {
  Job first, second, third;
  Start(&first, 100'000, 8, true);
  device_->Groups(kSharedGroups);
  for (uint32_t set; first.sets.TakeBack(&set);) {
  }
  // Together no more sets than any group has room for.
  Start(&second, 250, 8, true);
  Start(&third, 200, 8, true);
  device_->LetGo();
  const auto groups = device_->Groups(kSharedGroups + 1);
  ASSERT_EQ(groups[kSharedGroups].size(), 2u);
  EXPECT_EQ(groups[kSharedGroups][0].end, 250u);
  EXPECT_EQ(groups[kSharedGroups][1].end, 200u);
  LetGo(kSharedGroups - 1);
  EXPECT_TRUE(first.Wait().ok());
  EXPECT_FALSE(second.done());
  device_->LetGo();
  EXPECT_TRUE(second.Wait().ok());
  EXPECT_TRUE(third.Wait().ok());
}

}  // namespace
}  // namespace weft::processor
