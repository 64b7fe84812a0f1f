#include "pipeline/plan_runner.h"

#include <set>

#include "pipeline/plan_test_kit.h"
#include "processor/cpu_processor.h"
#include "processor/faulty_processor.h"

namespace weft::pipeline {
namespace {

using cache::Rounds;
using cache::TestSeed;

TEST(PlanRunner, EveryLegalPlanOfThreeStagesDoesWhatTheOneStagePlanDoes) {
  Devices devices(processor::NewCpuProcessor());
  std::vector<Plan> plans = LegalPlans(2);
  for (const Plan& plan : LegalPlans(3)) plans.push_back(plan);
  ASSERT_GT(plans.size(), 200u);
  // Under a sanitizer every tenth, from a random one on.
  const size_t stride = Rounds(10) == 10 ? 1 : Rounds(10) < 10 ? 10 : 1;
  for (size_t i = TestSeed() % stride; i < plans.size(); i += stride)
    ASSERT_NO_FATAL_FAILURE(ExpectSameAsOneStage(plans[i], &devices, TestSeed() + i, 1));
}

TEST(PlanRunner, PlansOfFourAndFiveStagesDoToo) {
  Devices devices(processor::NewCpuProcessor());
  std::mt19937_64 random(TestSeed());
  for (const uint32_t stages : {4u, 5u}) {
    const std::vector<Plan> plans = LegalPlans(stages);
    ASSERT_GT(plans.size(), 100u);
    for (uint32_t round = 0; round < Rounds(60); round++)
      ASSERT_NO_FATAL_FAILURE(
          ExpectSameAsOneStage(plans[random() % plans.size()], &devices, random(), 1));
  }
}

TEST(PlanRunner, SeveralBatchesUnderWayKeepEachClientsOrder) {
  Devices devices(processor::NewCpuProcessor());
  std::mt19937_64 random(TestSeed());
  const std::vector<Plan> plans = LegalPlans(3);
  for (uint32_t round = 0; round < Rounds(120); round++)
    ASSERT_NO_FATAL_FAILURE(
        ExpectSameAsOneStage(plans[random() % plans.size()], &devices, random(), 3));
}

// Batches of one thread are never filled at once, and those of two threads are.
TEST(PlanRunner, AThreadsBatchesAppendToOneLane) {
  Devices devices(processor::NewCpuProcessor());
  CacheOptions options;
  options.memory_bytes = 16 << 20;
  const auto store = cache::OpenStore(options);
  TaskTimes times;
  const auto lanes_of = [&](const cache::Session* beside) {
    PlanRunner::Options how;
    how.session = beside;
    auto runner =
        PlanRunner::Create(store.get(), &times, PlanOf(kAllOnDevice), devices.list(), how);
    EXPECT_TRUE(runner);
    std::set<uint32_t> lanes;
    for (uint32_t i = 0; i < how.batches; i++) {
      BatchRun* const run = (*runner)->Free();
      lanes.insert(run->session().lane());
      (*runner)->Begin(run);
    }
    return lanes;
  };
  const auto own = store->NewSession();
  EXPECT_EQ(lanes_of(own.get()), std::set<uint32_t>{own->lane()});
  const std::set<uint32_t> first = lanes_of(nullptr), second = lanes_of(nullptr);
  EXPECT_EQ(first.size(), 1u);
  EXPECT_EQ(second.size(), 1u);
  EXPECT_NE(first, second);
}

TEST(PlanRunner, AFailingDeviceLosesNothing) {
  std::mt19937_64 random(TestSeed());
  const std::vector<Plan> plans = LegalPlans(3);
  for (uint32_t round = 0; round < Rounds(150); round++) {
    processor::Faults faults;
    faults.fail_every = 2;
    faults.refuses = random() % 4 == 0;
    Devices devices(processor::NewFaultyProcessor(processor::NewCpuProcessor(), faults));
    const Plan plan = round == 0 ? PlanOf(kAllOnDevice) : plans[random() % plans.size()];
    Seen seen;
    ASSERT_NO_FATAL_FAILURE(ExpectSameAsOneStage(plan, &devices, random(), 1, &seen));
    if (round == 0) {
      EXPECT_GT(seen.reruns, 0u);
    }
    EXPECT_TRUE(devices.guard().usable()) << "every other job went well";
    EXPECT_EQ(devices.guard().counters().failures.load(), seen.reruns);
  }
}

TEST(PlanRunner, ALostDeviceIsRetiredAndServedOnByTheCpu) {
  processor::Faults faults;
  faults.lose_at = 3;
  Devices devices(processor::NewFaultyProcessor(processor::NewCpuProcessor(), faults));
  Seen seen;
  ASSERT_NO_FATAL_FAILURE(
      ExpectSameAsOneStage(PlanOf(kAllOnDevice), &devices, TestSeed(), 1, &seen));
  EXPECT_FALSE(devices.guard().usable());
  EXPECT_GT(seen.reruns, 1u);
  EXPECT_EQ(devices.guard().counters().failures.load(), 1u) << "a retired device is left alone";
  EXPECT_EQ(devices.guard().last_failure(), "device lost: drill: the device is lost");
}

TEST(PlanRunner, ADeviceWithoutMemoryForBatchesIsAnError) {
  processor::Faults faults;
  faults.memory_bytes = 1000;
  Devices devices(processor::NewFaultyProcessor(processor::NewCpuProcessor(), faults));
  const auto store = OpenStore(WeakHash(64));
  TaskTimes times;
  const auto runner =
      PlanRunner::Create(store.get(), &times, PlanOf(kAllOnDevice), devices.list(), {});
  ASSERT_FALSE(runner.has_value());
  EXPECT_EQ(runner.error().code(), Code::kNoMemory);
}

TEST(PlanRunner, APlanNeedsTheDevicesThatItNames) {
  Devices devices(processor::NewCpuProcessor());
  const auto store = OpenStore(WeakHash(64));
  TaskTimes times;
  for (const char* processor : {"gpu1", "gpu", "gpux", "tpu0"}) {
    const std::string text = "[RV PP MM]cpu → [IN.search]" + std::string(processor) +
                             " → [IN.insert IN.delete KC RD WR SD]cpu";
    const auto runner = PlanRunner::Create(store.get(), &times, PlanOf(text), devices.list(), {});
    ASSERT_FALSE(runner.has_value()) << text;
    EXPECT_EQ(runner.error().code(), Code::kInvalidArgument);
  }
}

TEST(PlanRunner, EvictionUnderAnyPlanNeverShowsAnOldValue) {
  Devices devices(processor::NewCpuProcessor());
  std::mt19937_64 random(TestSeed());
  const std::vector<Plan> plans = LegalPlans(3);
  for (uint32_t round = 0; round < Rounds(10) + 2; round++) {
    const Plan plan = round == 0 ? PlanOf(kAllOnDevice) : plans[random() % plans.size()];
    ASSERT_NO_FATAL_FAILURE(ExpectLastValuesOnly(plan, &devices, random(), 1 + round % 3));
  }
}

TEST(PlanRunner, TheCpuStealsFromTheDevice) {
  // All sets of the batch are still to be had.
  auto owned = std::make_unique<HeldProcessor>();
  HeldProcessor* const held = owned.get();
  Devices devices(std::move(owned));
  const auto store = OpenStore(WeakHash(64));
  TaskTimes times;
  auto runner = PlanRunner::Create(store.get(), &times, PlanOf(kAllOnDevice), devices.list(), {});
  ASSERT_TRUE(runner.has_value());
  BatchRun* const run = (*runner)->Free();
  run->batch().Clear();
  const uint32_t source = run->batch().AddSource(kMuchRoom);
  for (uint32_t i = 0; i < 1000; i++) {
    const std::string key = std::to_string(i);
    run->batch().AddRead(source, i, key, store->HashOf(key));
  }
  (*runner)->Begin(run);
  EXPECT_EQ((*runner)->Ready(), nullptr);
  EXPECT_EQ(held->query().object_bytes, store->expected_object_bytes());
  for (int i = 0; i < 5; i++) EXPECT_TRUE((*runner)->Help());
  EXPECT_EQ((*runner)->counters().stolen_queries.value(), 4 * 64u + 1000 % 64);
  EXPECT_EQ(held->LetGo(), 1000 / 64 + 1 - 5);
  ASSERT_EQ((*runner)->Ready(), run);
  EXPECT_FALSE((*runner)->Help());
  struct Counting : Sink {
    void Write(Batch& batch, uint32_t begin, uint32_t end, cache::Session&) override {
      for (uint32_t i = begin; i < end; i++) EXPECT_EQ(batch.result(i), kResultMissed);
      written += end - begin;
    }
    void RunOther(Batch&, uint32_t, cache::Session&) override {}
    uint32_t written = 0;
  } sink;
  (*runner)->Finish(run, sink);
  EXPECT_EQ(sink.written, 1000u);
}

// Does jobs at once, or says so.
class Lazy final : public processor::Processor {
 public:
  Lazy() {
    description_.name = "lazy";
    description_.tasks = kRunSearch | kRunCompare | kRunRead;
  }
  const processor::Description& description() const override { return description_; }
  cache::PageSource* pages() override { return cache::SystemPages(); }
  Status Start(processor::Job* job) override {
    job->Begin();
    if (works) task::RunQueries(job->query, 0, job->query.end, 0);
    job->Finish(Status::Ok());
    return Status::Ok();
  }

  bool works = true;

 private:
  processor::Description description_;
};

// Where a batch found its entries says nothing once the index has other tables, and nothing wrong
// before that, though the next batch in its columns finds none.
TEST(PlanRunner, WhatAnEarlierBatchFoundDoesNoHarm) {
  constexpr uint32_t kKeys = 1000;
  auto owned = std::make_unique<Lazy>();
  Lazy* const lazy = owned.get();
  Devices devices(std::move(owned));
  const auto store = OpenStore(WeakHash(64));
  Client client(store.get());
  const auto key_of = [](uint32_t i) { return "k" + std::to_string(i); };
  for (uint32_t i = 0; i < kKeys; i++) client.Set(key_of(i), "value of " + key_of(i));
  TaskTimes times;
  PlanRunner::Options options;
  options.batches = 1;
  auto runner = PlanRunner::Create(
      store.get(), &times,
      PlanOf("[RV PP MM]cpu → [IN.search KC RD]gpu0 → [IN.insert IN.delete WR SD]cpu"),
      devices.list(), options);
  ASSERT_TRUE(runner.has_value());
  // The batch reads key i + shift as its query i.
  const auto read = [&](uint32_t shift) {
    struct Comparing : Sink {
      void Write(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) override {
        for (uint32_t i = begin; i < end; i++)
          EXPECT_EQ(ReplyOf(batch, i, session).value, "value of " + std::string(batch.key(i)));
      }
      void RunOther(Batch&, uint32_t, cache::Session&) override {}
    } sink;
    BatchRun* const run = (*runner)->Free();
    ASSERT_NE(run, nullptr);
    run->batch().Clear();
    const uint32_t source = run->batch().AddSource(kMuchRoom);
    for (uint32_t i = 0; i < kKeys; i++) {
      const std::string key = key_of((i + shift) % kKeys);
      run->batch().AddRead(source, 0, key, store->HashOf(key));
    }
    (*runner)->Begin(run);
    ASSERT_EQ((*runner)->Ready(), run);
    (*runner)->Finish(run, sink);
  };
  const auto grow = [&](uint64_t buckets) {
    client.session().Begin();
    store->index().Step(client.session().log(), buckets, [](uint64_t) { FAIL(); });
    client.session().End();
  };
  read(0);
  lazy->works = false;
  read(1);
  lazy->works = true;
  ASSERT_TRUE(store->index().StartGrowth().ok());
  grow(1);
  for (int i = 0; i < 4; i++) grow(64);  // some entries are in the newer table
  ASSERT_TRUE(store->index_growing());
  read(0);
  for (int i = 0; i < 100 && store->index_growing(); i++) grow(1 << 20);
  ASSERT_FALSE(store->index_growing());
  lazy->works = false;
  read(1);
  read(2);
}

// A worker that begins a batch whenever it has ended one always has several to choose from.
TEST(PlanRunner, NoBatchWaitsForThoseThatBeganAfterIt) {
  Devices devices(processor::NewCpuProcessor());
  const auto store = OpenStore(WeakHash(64));
  TaskTimes times;
  // Stages on the CPU, and on a device: ready when they have begun, and some time after that.
  for (const char* text :
       {"[RV PP MM IN.search]cpu → [IN.insert IN.delete KC RD WR SD]cpu", kAllOnDevice}) {
    auto runner = PlanRunner::Create(store.get(), &times, PlanOf(text), devices.list(), {});
    ASSERT_TRUE(runner.has_value());
    struct Ignoring : Sink {
      void Write(Batch&, uint32_t, uint32_t, cache::Session&) override {}
      void RunOther(Batch&, uint32_t, cache::Session&) override {}
    } sink;
    std::deque<BatchRun*> begun;
    for (int i = 0; i < 50; i++) {
      while (BatchRun* const run = (*runner)->Free()) {
        run->batch().Clear();
        run->batch().AddRead(run->batch().AddSource(kMuchRoom), 0, "k", store->HashOf("k"));
        (*runner)->Begin(run);
        begun.push_back(run);
      }
      for (BatchRun* const run : begun)
        while (!PlanRunner::IsReady(run)) (*runner)->Advance();
      ASSERT_EQ((*runner)->Ready(), begun.front()) << text << ", batch " << i;
      (*runner)->Finish(begun.front(), sink);
      begun.pop_front();
    }
    for (BatchRun* const run : begun) (*runner)->Finish(run, sink);
  }
}

TEST(PlanRunner, EachStageIsTimed) {
  const auto store = OpenStore(WeakHash(64));
  Devices devices(processor::NewCpuProcessor());
  TaskTimes times;
  auto plan =
      Plan::Parse("[RV PP MM]cpu → [IN.search]cpu → [KC RD]gpu0 → [IN.insert IN.delete WR SD]cpu");
  auto runner = PlanRunner::Create(store.get(), &times, *plan, devices.list(), {});
  ASSERT_TRUE(runner.has_value());
  BatchRun* const run = (*runner)->Free();
  run->batch().Clear();
  run->batch().AddSource(kMuchRoom);
  run->batch().AddRead(0, 0, "key", store->HashOf("key"));
  (*runner)->Begin(run);
  EXPECT_GT(run->stage_ticks()[1], 0u);
  (*runner)->Wait();
  ASSERT_EQ((*runner)->Ready(), run);
  ASSERT_EQ(run->stage_ticks().size(), 3u);
  EXPECT_GT(run->stage_ticks()[2], 0u);
  EXPECT_EQ(run->stage_ticks()[2], (*runner)->counters().device_ticks.value());
  struct Ignoring : Sink {
    void Write(Batch&, uint32_t, uint32_t, cache::Session&) override {}
    void RunOther(Batch&, uint32_t, cache::Session&) override {}
  } sink;
  (*runner)->Finish(run, sink);
}

}  // namespace
}  // namespace weft::pipeline
