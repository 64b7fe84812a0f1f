// Plans that change while batches are under way: PlanRunner::SetPlan.
#include "pipeline/mirrored_plan_test_kit.h"
#include "processor/cpu_processor.h"
#include "processor/faulty_processor.h"
#include "processor/mirror/plain_mirror.h"

namespace weft::pipeline {
namespace {

using cache::Rounds;
using cache::TestSeed;

const char* const kReadsOnCpu =
    "[RV PP MM]cpu → [IN.search KC RD]cpu → [IN.insert IN.delete WR SD]cpu";
const char* const kSearchOnDevice =
    "[RV PP MM]cpu → [IN.search]gpu0 → [IN.insert IN.delete KC RD WR SD]cpu";

// What became of batches, by their plans.
struct Changes {
  uint32_t one_stage = 0;
  uint32_t several = 0;
  uint32_t beside = 0;  // that began with another plan than one under way
  uint32_t without_stealing = 0;
};

// Of two times one another plan of `plans`, or the one-stage plan, is set; with stealing or not.
class RandomPlans {
 public:
  RandomPlans(std::span<const Plan> plans, uint64_t seed) : plans_(plans), random_(seed) {}

  PlanChange AsChange() {
    return [this](PlanRunner* runner) { Change(runner); };
  }
  const Changes& changes() const { return changes_; }

 private:
  void Change(PlanRunner* runner) {
    Plan plan = runner->plan();
    if (random_() % 2 == 0) plan = plans_[random_() % plans_.size()];
    if (random_() % 4 == 0) plan = Plan::OneStageCpu();
    changes_.beside += runner->under_way() > 0 && plan != runner->plan();
    const bool steals = random_() % 2 == 0;
    const Status status = runner->SetPlan(plan, steals);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(runner->plan(), plan);
    const bool is_one_stage = plan.stages().size() == 1;
    changes_.one_stage += is_one_stage;
    changes_.several += !is_one_stage;
    changes_.without_stealing += !steals;
  }

  const std::span<const Plan> plans_;
  std::mt19937_64 random_;
  Changes changes_;
};

// Legal plans of two to five stages: some of the many that there are of four and five.
std::vector<Plan> PlansOfManyStages() {
  std::vector<Plan> plans = LegalPlans(2);
  for (const Plan& plan : LegalPlans(3)) plans.push_back(plan);
  std::mt19937_64 random(TestSeed());
  for (const uint32_t stages : {4u, 5u}) {
    const std::vector<Plan> all = LegalPlans(stages);
    for (uint32_t i = 0; i < 100; i++) plans.push_back(all[random() % all.size()]);
  }
  return plans;
}

void ExpectChanges(const Changes& changes) {
  EXPECT_GT(changes.one_stage, 10u);
  EXPECT_GT(changes.several, 10u);
  EXPECT_GT(changes.beside, 10u);
  EXPECT_GT(changes.without_stealing, 10u);
}

// The first plan is any, the one-stage plan too.
Plan FirstOf(const std::vector<Plan>& plans, uint64_t draw) {
  return draw % 3 == 0 ? Plan::OneStageCpu() : plans[draw % plans.size()];
}

TEST(Replan, PlansThatChangeTellWhatTheOneStagePlanDoes) {
  Devices devices(processor::NewCpuProcessor());
  const std::vector<Plan> plans = PlansOfManyStages();
  std::mt19937_64 random(TestSeed());
  RandomPlans changing(plans, random());
  for (uint32_t round = 0; round < Rounds(150); round++) {
    const CacheOptions options = WeakHash(random() % 2 == 0 ? 64 : 20);
    ASSERT_NO_FATAL_FAILURE(ExpectSameAsOneStage(FirstOf(plans, random()), &devices, random(),
                                                 1 + round % 3, nullptr, options,
                                                 changing.AsChange()));
  }
  ExpectChanges(changing.changes());
}

TEST(Replan, OnAMirrorToo) {
  std::vector<Plan> plans = PlansWithDevice(3);
  for (const Plan& plan : LegalPlans(2)) plans.push_back(plan);
  // As often as all others together: those that read on the device.
  for (size_t i = plans.size(); i > 0; i--) plans.push_back(PlanOf(kReadsOnDevice));
  std::mt19937_64 random(TestSeed());
  RandomPlans changing(plans, random());
  for (uint32_t round = 0; round < Rounds(100); round++) {
    Devices devices(processor::NewMirrorProcessor(UINT32_MAX));
    // An index that grows on the way, and one that does not.
    CacheOptions options = WeakHash(random() % 2 == 0 ? 64 : 20);
    options.expected_items = random() % 2 == 0 ? 10'000 : 0;
    ASSERT_NO_FATAL_FAILURE(ExpectSameAsOneStage(FirstOf(plans, random()), &devices, random(),
                                                 1 + round % 3, nullptr, options,
                                                 changing.AsChange()));
  }
  ExpectChanges(changing.changes());
}

TEST(Replan, AFailingDeviceLosesNothing) {
  const std::vector<Plan> plans = PlansWithDevice(3);
  std::mt19937_64 random(TestSeed());
  RandomPlans changing(plans, random());
  Seen seen;
  for (uint32_t round = 0; round < Rounds(150); round++) {
    processor::Faults faults;
    faults.fail_every = 2;
    faults.refuses = random() % 4 == 0;
    if (random() % 8 == 0) faults.lose_at = 3;
    Devices devices(processor::NewFaultyProcessor(processor::NewCpuProcessor(), faults));
    ASSERT_NO_FATAL_FAILURE(ExpectSameAsOneStage(FirstOf(plans, random()), &devices, random(),
                                                 1 + round % 3, &seen, WeakHash(20),
                                                 changing.AsChange()));
  }
  ExpectChanges(changing.changes());
  EXPECT_GT(seen.reruns, 10u);
}

// Batches of all plans leave their epochs when one of them needs room.
TEST(Replan, AFullStoreNeverShowsAnOldValue) {
  const std::vector<Plan> plans = PlansWithDevice(3);
  std::mt19937_64 random(TestSeed());
  RandomPlans changing(plans, random());
  for (uint32_t round = 0; round < Rounds(12) + 2; round++) {
    Devices devices(round % 2 == 0 ? processor::NewCpuProcessor()
                                   : processor::NewMirrorProcessor(UINT32_MAX));
    ASSERT_NO_FATAL_FAILURE(ExpectLastValuesOnly(FirstOf(plans, random()), &devices, random(),
                                                 1 + round / 2 % 3, changing.AsChange()));
  }
  ExpectChanges(changing.changes());
}

// Counts what it is given.
struct Counting : Sink {
  void Write(Batch&, uint32_t begin, uint32_t end, cache::Session&) override {
    written += end - begin;
  }
  void RunOther(Batch&, uint32_t, cache::Session&) override {}
  uint32_t written = 0;
};

constexpr uint32_t kReadsHeld = 10 * kSetQueries;

// A runner for any plan whose device does nothing until it is let go.
class HeldReplan : public testing::Test {
 protected:
  void Open(const Plan& first) {
    auto owned = std::make_unique<HeldProcessor>();
    held_ = owned.get();
    devices_ = std::make_unique<Devices>(std::move(owned));
    PlanRunner::Options options;
    options.any_plan = true;
    auto runner = PlanRunner::Create(store_.get(), &times_, first, devices_->list(), options);
    ASSERT_TRUE(runner.has_value()) << runner.error().ToString();
    runner_ = std::move(*runner);
  }
  BatchRun* Filled() {
    BatchRun* const run = runner_->Free();
    EXPECT_NE(run, nullptr);
    run->batch().Clear();
    const uint32_t source = run->batch().AddSource(kMuchRoom);
    for (uint32_t i = 0; i < kReadsHeld; i++) {
      const std::string key = std::to_string(i);
      run->batch().AddRead(source, i, key, store_->HashOf(key));
    }
    return run;
  }
  void Finish(BatchRun* run) {
    Counting sink;
    runner_->Finish(run, sink);
    EXPECT_EQ(sink.written, kReadsHeld);
  }

  const std::unique_ptr<cache::Store> store_ = OpenStore(WeakHash(64));
  HeldProcessor* held_ = nullptr;
  std::unique_ptr<Devices> devices_;
  TaskTimes times_;
  std::unique_ptr<PlanRunner> runner_;
};

TEST_F(HeldReplan, BatchesUnderWayKeepTheirPlan) {
  const Plan on_device = PlanOf(kAllOnDevice);
  ASSERT_NO_FATAL_FAILURE(Open(on_device));
  BatchRun* const first = Filled();
  runner_->Begin(first);
  BatchRun* const second = Filled();
  ASSERT_TRUE(runner_->SetPlan(Plan::OneStageCpu(), false).ok());
  runner_->Begin(second);
  EXPECT_EQ(first->batch().plan(), on_device);
  EXPECT_EQ(second->batch().plan(), Plan::OneStageCpu());
  EXPECT_EQ(first->stage_ticks().size(), 2u);
  EXPECT_EQ(second->stage_ticks().size(), 0u);
  // The one is ready at once; the other one's device is not, and it began with stealing on.
  EXPECT_EQ(runner_->Ready(), second);
  EXPECT_TRUE(runner_->Help());
  ASSERT_TRUE(runner_->SetPlan(PlanOf(kReadsOnCpu), true).ok());
  BatchRun* const third = Filled();
  runner_->Begin(third);
  EXPECT_TRUE(PlanRunner::IsReady(third)) << "it has no stage on the device";
  EXPECT_EQ(third->batch().result(0), kResultMissed);
  EXPECT_EQ(second->batch().result(0), kResultNone);
  EXPECT_EQ(held_->LetGo(), kReadsHeld / kSetQueries - 1);
  ASSERT_TRUE(runner_->SetPlan(Plan::OneStageCpu(), true).ok());
  runner_->Advance();
  EXPECT_TRUE(first->batch().searched());
  for (BatchRun* const run : {first, second, third}) Finish(run);
  EXPECT_EQ(runner_->under_way(), 0u);
  ASSERT_EQ(Filled(), first);
  runner_->Begin(first);
  EXPECT_EQ(first->stage_ticks().size(), 0u);
  Finish(first);
}

TEST_F(HeldReplan, ABatchThatBeganWithoutStealingIsNotStolenFrom) {
  const Plan on_device = PlanOf(kAllOnDevice);
  ASSERT_NO_FATAL_FAILURE(Open(on_device));
  ASSERT_TRUE(runner_->SetPlan(on_device, false).ok());
  BatchRun* const run = Filled();
  runner_->Begin(run);
  ASSERT_TRUE(runner_->SetPlan(on_device, true).ok());
  EXPECT_FALSE(runner_->Help());
  EXPECT_EQ(held_->LetGo(), kReadsHeld / kSetQueries);
  ASSERT_EQ(runner_->Ready(), run);
  Finish(run);
  BatchRun* const next = Filled();
  runner_->Begin(next);
  EXPECT_TRUE(runner_->Help());
  EXPECT_EQ(held_->LetGo(), kReadsHeld / kSetQueries - 1);
  ASSERT_EQ(runner_->Ready(), next);
  Finish(next);
}

TEST_F(HeldReplan, TheOneStagePlanWaitsOutsideOfTheEpoch) {
  ASSERT_NO_FATAL_FAILURE(Open(Plan::OneStageCpu()));
  BatchRun* const run = Filled();
  runner_->Begin(run);
  EXPECT_TRUE(PlanRunner::IsReady(run));
  EXPECT_FALSE(run->session().inside());
  runner_->LeaveEpochs();
  Finish(run);
  EXPECT_FALSE(run->session().inside());
  EXPECT_EQ(times_.queries[static_cast<size_t>(Task::kSearch)].value(), kReadsHeld);
}

// Whether the plan was taken; where not, the one in force stays in force.
void ExpectRefused(PlanRunner* runner, const char* text, const std::string& why) {
  SCOPED_TRACE(text);
  const Plan before = runner->plan();
  const Status status = runner->SetPlan(PlanOf(text), true);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find(why), std::string::npos) << status.ToString();
  EXPECT_EQ(runner->plan(), before);
}

TEST(Replan, BatchesThatWereMadeForOnePlanTakeNoneThatNeedsMore) {
  // Memory that only this device gives out.
  processor::Faults faults;
  faults.memory_bytes = 1u << 30;
  Devices devices(processor::NewFaultyProcessor(processor::NewCpuProcessor(), faults));
  const auto store = OpenStore(WeakHash(64));
  TaskTimes times;
  const auto runner_for = [&](const Plan& plan, bool any_plan) {
    PlanRunner::Options options;
    options.any_plan = any_plan;
    auto runner = PlanRunner::Create(store.get(), &times, plan, devices.list(), options);
    EXPECT_TRUE(runner.has_value());
    return std::move(*runner);
  };
  const auto for_one_stage = runner_for(Plan::OneStageCpu(), false);
  ExpectRefused(for_one_stage.get(), kReadsOnCpu, "needs room for values");
  ExpectRefused(for_one_stage.get(), kSearchOnDevice, "memory of the batches");
  const auto for_search = runner_for(PlanOf(kSearchOnDevice), false);
  ExpectRefused(for_search.get(), kReadsOnDevice, "needs room for values");
  const auto for_reads = runner_for(PlanOf(kReadsOnDevice), false);
  const auto for_any = runner_for(Plan::OneStageCpu(), true);
  for (PlanRunner* const runner : {for_reads.get(), for_any.get()}) {
    for (const char* text : {kReadsOnCpu, kSearchOnDevice, kAllOnDevice, kReadsOnDevice})
      EXPECT_TRUE(runner->SetPlan(PlanOf(text), true).ok()) << text;
    ExpectRefused(runner, "[RV PP MM]cpu → [IN.search]gpu1 → [IN.insert IN.delete KC RD WR SD]cpu",
                  "gpu1");
    // 2^64, which would be gpu0 if it wrapped around.
    ExpectRefused(
        runner,
        "[RV PP MM]cpu → [IN.search]gpu18446744073709551616 → [IN.insert IN.delete KC RD WR SD]cpu",
        "gpu18446744073709551616");
    EXPECT_TRUE(runner->SetPlan(Plan::OneStageCpu(), true).ok());
  }
}

// Each would take what the store has marked as changed from the other.
TEST(Replan, PlansOfOneRunnerHaveOneMirror) {
  processor::Guard first(processor::NewMirrorProcessor(UINT32_MAX));
  processor::Guard second(processor::NewMirrorProcessor(UINT32_MAX));
  processor::Guard* const devices[] = {&first, &second};
  const auto store = OpenStore(WeakHash(64));
  TaskTimes times;
  PlanRunner::Options options;
  options.any_plan = true;
  auto runner = PlanRunner::Create(store.get(), &times, Plan::OneStageCpu(), devices, options);
  ASSERT_TRUE(runner.has_value());
  ASSERT_TRUE((*runner)->SetPlan(PlanOf(kReadsOnDevice), true).ok());
  ASSERT_TRUE((*runner)->SetPlan(PlanOf(kReadsOnCpu), true).ok());
  ExpectRefused(runner->get(),
                "[RV PP MM]cpu → [IN.search KC RD]gpu1 → [IN.insert IN.delete WR SD]cpu",
                "already follows the store");
  EXPECT_TRUE((*runner)->SetPlan(PlanOf(kSearchOnDevice), true).ok());
}

// Reads on a mirror leave anything in the columns where values were gathered; batches of other
// plans in the same columns are none the worse for it, nor for tables that changed meanwhile.
TEST(Replan, WhatAMirrorLeavesDoesNoHarmToOtherPlans) {
  constexpr uint32_t kKeys = 600;
  const auto store = OpenStore(WeakHash(64));
  Client client(store.get());
  const auto key_of = [](uint64_t i) { return "k" + std::to_string(i); };
  for (uint32_t i = 0; i < kKeys; i++) client.Set(key_of(i), "value of " + key_of(i));
  Devices devices(processor::NewMirrorProcessor(UINT32_MAX));
  ASSERT_TRUE(devices.guard().Attach(store.get()).ok());
  TaskTimes times;
  PlanRunner::Options options;
  options.batches = 1;
  options.any_plan = true;
  auto runner =
      PlanRunner::Create(store.get(), &times, PlanOf(kReadsOnDevice), devices.list(), options);
  ASSERT_TRUE(runner.has_value());
  PlanTester tester(store.get(), runner->get());
  const std::vector<Plan> others = {Plan::OneStageCpu(), PlanOf(kReadsOnCpu),
                                    PlanOf(kSearchOnDevice)};
  uint64_t gathered = 0;  // by the mirror
  RequestMaker maker(TestSeed(), 1, 1, false);
  const auto read = [&](const Plan& plan) {
    ASSERT_TRUE((*runner)->SetPlan(plan, maker.Below(2) == 0).ok());
    std::deque<TestRequest> requests;
    std::vector<uint64_t> keys;
    for (uint32_t i = 0; i < kKeys; i++) {
      keys.push_back(maker.Below(kKeys + 10));
      requests.emplace_back().plain_read = true;
      requests.back().key = key_of(keys[i]);
    }
    const std::vector<std::string> told = tester.Run(requests, &maker, 1000, 1);
    for (uint32_t i = 0; i < kKeys; i++) {
      QueryResult result;
      if (keys[i] < kKeys) {
        result.reply.outcome = Outcome::kHit;
        result.value = "value of " + requests[i].key;
      }
      ASSERT_EQ(told[i], Told(result)) << requests[i].key << " by " << plan.ToText();
    }
  };
  // Starts to grow, moves some entries, ends it: one of them.
  const auto grow = [&] {
    if (!store->index_growing()) return store->index().StartGrowth();
    client.session().Begin();
    store->index().Step(client.session().log(), maker.Below(2) == 0 ? 64 : 1 << 20,
                        [](uint64_t) { FAIL(); });
    client.session().End();
    return Status::Ok();
  };
  for (uint32_t round = 0; round < 60 && !testing::Test::HasFailure(); round++) {
    if (!store->index_growing()) {
      ASSERT_TRUE(devices.guard().CatchUp().ok());
    }
    const uint64_t gathered_before = tester.gathered;
    read(PlanOf(kReadsOnDevice));
    gathered += tester.gathered - gathered_before;
    for (uint64_t i = maker.Below(3); i > 0; i--) {
      if (round < 30 && maker.Below(4) == 0) {
        ASSERT_TRUE(grow().ok());
      }
      read(others[maker.Below(others.size())]);
    }
  }
  EXPECT_GT(gathered, 1000u) << "the mirror answered next to nothing";
  runner->reset();
  EXPECT_TRUE(devices.guard().Detach());
}

}  // namespace
}  // namespace weft::pipeline
