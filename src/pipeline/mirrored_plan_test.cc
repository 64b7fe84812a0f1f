// Plans on a device that has memory of its own: processor/mirror/mirror.h under the pipeline.
#include <climits>
#include <thread>

#include "base/mutex.h"
#include "pipeline/mirrored_plan_test_kit.h"
#include "processor/mirror/mirror_test_kit.h"
#include "processor/mirror/mirror_wrapper_test_kit.h"
#include "processor/mirror/mirrored_processor.h"
#include "processor/mirror/plain_mirror.h"

namespace weft::pipeline {
namespace {

TEST(MirroredPlan, DoesWhatTheOneStagePlanDoes) {
  uint64_t gathered = 0;
  PlayPlansOfThreeStages(processor::NewMirrorProcessor, 150, &gathered, 100);
  EXPECT_GT(gathered, 100u) << "the mirror answered next to nothing";
}

TEST(MirroredPlan, PlansOfFourStagesDoToo) {
  PlayPlansOfFourStages(processor::NewMirrorProcessor, 60);
}
TEST(MirroredPlan, SegmentsThatAreFilledAnewNeverShowAnOldValue) {
  uint64_t gathered = 0;
  PlaySegmentsFilledAnew(processor::NewMirrorProcessor, 10, &gathered);
  EXPECT_GT(gathered, 500u);
}
TEST(MirroredPlan, AKeyInItsOldPlaceIsNotItsOldVersion) {
  PlayKeysInOldPlaces(processor::NewMirrorProcessor, 4);
}

// Keeps what became of each query.
struct Keeping : Sink {
  void Write(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) override {
    for (uint32_t i = begin; i < end; i++) {
      EXPECT_EQ(i, results.size()) << "every query is written once and in its order";
      gathered += batch.result(i) == kResultRead;
      QueryResult& result = results.emplace_back();
      result.state = batch.state(i);
      if (result.state != QueryState::kDone) continue;
      result.value = std::string(ReplyOf(batch, i, session).value);
    }
  }
  void RunOther(Batch&, uint32_t, cache::Session&) override {}

  std::vector<QueryResult> results;
  uint32_t gathered = 0;
};

// Batches of reads of so many keys with values of 100 bytes, on the mirror.
class GatheredReads : public testing::Test {
 protected:
  static constexpr uint32_t kKeys = 601;
  static constexpr int64_t kReplyRoom = 64 + 100 + 7;  // keys have up to seven bytes

  void SetUp() override {
    for (uint32_t i = 0; i < kKeys; i++) client_.Set(KeyOf(i), ValueOf(i));
    ASSERT_TRUE(devices_.guard().Attach(store_.get()).ok());
    ASSERT_TRUE(devices_.guard().CatchUp().ok());
    auto runner =
        PlanRunner::Create(store_.get(), &times_, PlanOf(kReadsOnDevice), devices_.list(), {});
    ASSERT_TRUE(runner.has_value());
    runner_ = std::move(*runner);
  }
  void TearDown() override {
    runner_.reset();
    EXPECT_TRUE(devices_.guard().Detach());
  }

  static std::string KeyOf(uint32_t i) { return "key " + std::to_string(i); }
  static std::string ValueOf(uint32_t i) {
    return std::string(100, static_cast<char>('a' + i % 26));
  }

  // Key i is read by source i modulo their number; each has so much room, and waits for none where
  // all must be answered.
  Keeping Read(const std::vector<int64_t>& rooms, bool must_answer = false) {
    BatchRun* const run = runner_->Free();
    Batch& batch = run->batch();
    batch.Clear();
    for (const int64_t room : rooms) batch.AddSource(room);
    for (uint32_t i = 0; i < kKeys; i++)
      batch.AddRead(i % static_cast<uint32_t>(rooms.size()), 0, KeyOf(i), store_->HashOf(KeyOf(i)));
    for (uint32_t i = 0; must_answer && i < kKeys; i++) batch.KeepUpTo(i);
    runner_->Begin(run);
    runner_->Wait();
    EXPECT_EQ(runner_->Ready(), run);
    Keeping keeping;
    runner_->Finish(run, keeping);
    if (!must_answer) {
      EXPECT_EQ(keeping.gathered, kKeys);
    }
    return keeping;
  }
  uint64_t RecencyOf(uint32_t i) {
    const std::string key = KeyOf(i);
    client_.session().Begin();
    const task::Found found = task::Find(client_.session().index(), client_.session().log(),
                                         cache::TaskKey(key, store_->HashOf(key)));
    client_.session().End();
    return task::SlotRecency(found.word);
  }

  const std::unique_ptr<cache::Store> store_ = OpenStore(WeakHash(64));
  Client client_{store_.get()};
  Devices devices_{processor::NewMirrorProcessor(UINT32_MAX)};
  TaskTimes times_;
  std::unique_ptr<PlanRunner> runner_;
};

TEST_F(GatheredReads, EndWhereTheirSourceHasNoRoom) {
  // Room for 10, for 2 and part of a third, for all, for none.
  const int64_t counts[] = {10, 2, kKeys, 0};
  const Keeping keeping = Read({10 * kReplyRoom, 2 * kReplyRoom + 100, kMuchRoom, 0});
  for (uint32_t i = 0; i < kKeys; i++) {
    const bool answered = i / 4 < counts[i % 4];
    const QueryResult& result = keeping.results.at(i);
    EXPECT_EQ(result.state, answered ? QueryState::kDone : QueryState::kSkipped) << i;
    EXPECT_EQ(result.value, answered ? ValueOf(i) : "") << i;
  }
}

// What is overdrawn already allows for two replies of the first source, and one that exceeds it.
TEST_F(GatheredReads, AreRefusedWhereTheyMustBeAnsweredAndNothingIsLeftToOverdraw) {
  constexpr int64_t kOverdraft = int64_t{1} << 20;
  for (int i = 0; i < 3; i++) Read({kMuchRoom});  // few have an entry from then on
  const Keeping keeping = Read({2 * kReplyRoom - 50 - kOverdraft, kMuchRoom}, true);
  EXPECT_EQ(keeping.gathered, 2u + kKeys / 2);
  for (uint32_t i = 0; i < kKeys; i++) {
    const QueryResult& result = keeping.results.at(i);
    EXPECT_EQ(result.state, QueryState::kDone) << i;
    EXPECT_EQ(result.value, i % 2 == 1 || i / 2 < 2 ? ValueOf(i) : "") << i;
  }
}

TEST_F(GatheredReads, AreNotedTheFirstTimeAndThenNowAndAgain) {
  Read({kMuchRoom});
  for (uint32_t i = 0; i < kKeys; i++) ASSERT_EQ(RecencyOf(i), 1u) << i;
  // Each batch notes others: in so many batches each is noted once.
  for (uint32_t round = 0; round < 8; round++) Read({kMuchRoom, kMuchRoom});
  for (uint32_t i = 0; i < kKeys; i++) EXPECT_EQ(RecencyOf(i), 2u) << i;
}

// Copies of the index wait while a test holds them, but for so many.
class SlowMirror final : public processor::MirrorWrapper {
 public:
  SlowMirror() : MirrorWrapper(processor::NewPlainMirror()) {}

  void HoldAfter(int copies) {
    base::MutexLock lock(&mutex_);
    left_ = copies;
    free_.NotifyAll();
  }
  void LetGo() {
    base::MutexLock lock(&mutex_);
    left_ = INT_MAX;
    free_.NotifyAll();
  }
  Status CopyIndex(const task::Bucket* table, std::span<const uint64_t> numbers) override {
    {
      base::MutexLock lock(&mutex_);
      while (left_ == 0) free_.Wait(&mutex_);
      if (left_ != INT_MAX) left_--;
    }
    return MirrorWrapper::CopyIndex(table, numbers);
  }

 private:
  base::Mutex mutex_;
  base::CondVar free_;
  int left_ WEFT_GUARDED_BY(mutex_) = INT_MAX;
};

// Nobody waits for a device that has had no jobs for long and has much to copy: it catches up
// beside batches that go without it.
TEST(MirroredPlan, ADeviceThatIsFarBehindHoldsNothingUp) {
  constexpr uint32_t kStored = 10'000;
  CacheOptions options;
  options.memory_bytes = 64u << 20;
  options.expected_items = 2'500'000;
  const auto store = OpenStore(options);
  Client client(store.get());
  const auto key = [](uint32_t i) { return "key " + std::to_string(i); };
  auto mirror = std::make_unique<SlowMirror>();
  SlowMirror& slow = *mirror;
  Devices devices(processor::NewMirroredProcessor(std::move(mirror)));
  ASSERT_TRUE(devices.guard().Attach(store.get()).ok());
  ASSERT_TRUE(devices.guard().CatchUp().ok());
  for (uint32_t i = 0; i < kStored; i++) client.Set(key(i), "v");
  processor::MarkAll(client.session());
  TaskTimes times;
  auto runner = PlanRunner::Create(store.get(), &times, PlanOf(kReadsOnDevice), devices.list(), {});
  ASSERT_TRUE(runner.has_value());
  constexpr uint32_t kReads = 600;
  uint32_t read = 0;
  const auto begin = [&] {
    BatchRun* const run = (*runner)->Free();
    run->batch().Clear();
    run->batch().AddSource(kMuchRoom);
    for (uint32_t i = 0; i < kReads; i++, read++)
      run->batch().AddRead(0, 0, key(read % kStored), store->HashOf(key(read % kStored)));
    (*runner)->Begin(run);
  };
  const auto gathered_by_next = [&] {
    BatchRun* run = nullptr;
    while ((run = (*runner)->Ready()) == nullptr) (*runner)->Wait();
    Keeping keeping;
    (*runner)->Finish(run, keeping);
    EXPECT_EQ(keeping.results.size(), kReads);
    for (const QueryResult& result : keeping.results) EXPECT_EQ(result.value, "v");
    return keeping.gathered;
  };
  const auto gathered = [&] {
    begin();
    return gathered_by_next();
  };
  const RunnerCounters& counters = (*runner)->counters();
  // The first one is held up, and two more wait behind it, when it finds out.
  slow.HoldAfter(0);
  for (int i = 0; i < 3; i++) begin();
  slow.HoldAfter(1);
  for (int i = 0; i < 3; i++) EXPECT_EQ(gathered_by_next(), 0u);
  EXPECT_EQ(counters.device_batches.value(), 3u);
  while (!devices.guard().is_behind()) std::this_thread::yield();
  EXPECT_EQ(gathered(), 0u);
  EXPECT_EQ(gathered(), 0u);
  EXPECT_EQ(counters.behind_queries.value(), 2u * kReads);
  EXPECT_EQ(counters.device_batches.value(), 3u);
  slow.LetGo();
  while (devices.guard().is_behind()) std::this_thread::yield();
  ASSERT_TRUE(devices.guard().CatchUp().ok()) << "with the objects, too";
  EXPECT_EQ(gathered(), kReads);
  EXPECT_EQ(counters.device_batches.value(), 4u);
  EXPECT_EQ(counters.behind_queries.value(), 2u * kReads);
  runner->reset();
  EXPECT_TRUE(devices.guard().Detach());
}

// Where more objects are missing than a job can wait for, none waits for any, and the device is
// asked again when nearly all are there.
TEST(MirroredPlan, ADeviceThatLacksManyObjectsHoldsNothingUp) {
  constexpr uint32_t kStored = 12'000;
  constexpr uint32_t kReads = 600;
  const std::string value(10'000, 'v');
  CacheOptions options;
  options.memory_bytes = 256u << 20;
  const auto store = OpenStore(options);
  Client client(store.get());
  // By a clock that stands still, or it would be content with what is there after a second.
  Devices devices(processor::NewMirroredProcessor(processor::NewPlainMirror(UINT32_MAX),
                                                  {.now_ns = processor::StandingNow}));
  ASSERT_TRUE(devices.guard().Attach(store.get()).ok());
  ASSERT_TRUE(devices.guard().CatchUp().ok());
  const auto key = [](uint32_t i) { return "key " + std::to_string(i); };
  for (uint32_t i = 0; i < kStored; i++) client.Set(key(i), value);
  TaskTimes times;
  PlanRunner::Options how;
  how.gather_bytes = kReads * 2 * value.size();
  auto runner =
      PlanRunner::Create(store.get(), &times, PlanOf(kReadsOnDevice), devices.list(), how);
  ASSERT_TRUE(runner.has_value());
  // The same keys each time, for a read that is noted spoils no entry (task/query_job.h).
  const auto gathered = [&] {
    BatchRun* run = (*runner)->Free();
    run->batch().Clear();
    run->batch().AddSource(INT64_MAX / 2);
    for (uint32_t i = 0; i < kReads; i++)
      run->batch().AddRead(0, 0, key(7 * i), store->HashOf(key(7 * i)));
    (*runner)->Begin(run);
    while ((run = (*runner)->Ready()) == nullptr) (*runner)->Wait();
    Keeping keeping;
    (*runner)->Finish(run, keeping);
    EXPECT_EQ(keeping.results.size(), kReads);
    for (const QueryResult& result : keeping.results) EXPECT_EQ(result.value, value);
    return keeping.gathered;
  };
  // Given back before anything was told of the batch, and after a batch of the same room was told.
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ(gathered(), 0u) << "it is given back";
    while (devices.guard().is_behind()) std::this_thread::yield();
    for (int i = 0; i < 4; i++) EXPECT_GT(gathered(), round == 0 ? kReads * 8 / 10 : 0u);
    ASSERT_TRUE(devices.guard().CatchUp().ok()) << "and it follows no longer";
    for (uint32_t i = 0; i < kStored * 3 / 4; i++) client.Set(key(i), value);
  }
  EXPECT_EQ((*runner)->counters().reruns.value(), 0u);
  runner->reset();
  EXPECT_TRUE(devices.guard().Detach());
}

TEST(MirroredPlan, AStoreHasOneMirror) {
  processor::Guard first(processor::NewMirrorProcessor(UINT32_MAX)),
      second(processor::NewMirrorProcessor(UINT32_MAX));
  processor::Guard* const devices[] = {&first, &second};
  const auto both = RouteOf(
      PlanOf("[RV PP MM]cpu → [IN.search KC]gpu0 → [RD]gpu1 → [IN.insert IN.delete WR SD]cpu"),
      devices);
  ASSERT_FALSE(both.has_value());
  EXPECT_EQ(both.error().code(), Code::kInvalidArgument);
  EXPECT_TRUE(RouteOf(PlanOf(kReadsOnDevice), devices).has_value());
}

TEST(MirroredPlan, ADeviceLeavesChangesToTheLastStage) {
  Devices devices(processor::NewMirrorProcessor(UINT32_MAX));
  auto route =
      RouteOf(PlanOf("[RV PP MM]cpu → [IN.search IN.insert IN.delete]gpu0 → [KC RD WR SD]cpu"),
              devices.list());
  ASSERT_TRUE(route.has_value());
  EXPECT_EQ(route->left, (std::vector<Task>{Task::kInsert, Task::kDelete}));
  EXPECT_EQ(route->tasks, kRunSearch);
}

}  // namespace
}  // namespace weft::pipeline
