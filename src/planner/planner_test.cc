// Threads   one.
#include "planner/planner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "cache/cache_test_kit.h"
#include "pipeline/cpu_stage.h"
#include "planner/planner_test_kit.h"

namespace weft::planner {
namespace {

using cache::TestSeed;
using pipeline::Task;

// Throughput of a plan for a workload by that of the best, as they are compared.
double PartOfBest(const Calibration& machine, const Profile& truth, const Conditions& conditions,
                  const Candidate& candidate) {
  const Choice best = RankPlans(machine, truth, conditions, AllPlans(machine)).front();
  Model model(machine, truth, conditions);
  const Estimate estimate = *model.Of(candidate.plan, candidate.steal, 0);
  return ForChoice(candidate, estimate).queries_per_s /
         ForChoice(best.candidate, best.estimate).queries_per_s;
}

TEST(Planner, BeginsWithOneStage) {
  Planner planner(Machine(), OptionsFor(1));
  const Decision& decision = planner.Current(0);
  EXPECT_EQ(decision.number, 0u);
  EXPECT_EQ(decision.candidate.plan, pipeline::Plan::OneStageCpu());
  EXPECT_EQ(decision.why, "nothing has been counted yet");
  EXPECT_GT(decision.estimate.queries_per_s, 0);
}

TEST(Planner, WaitsForAWindow) {
  Planner planner(Machine(), OptionsFor(2));
  RandomQueries queries(*ProfileOfWorkload("K16-G95-U"), TestSeed());
  queries.Count(kWindowGroups - 1, &planner.profiler(0));
  planner.Note(0);
  EXPECT_EQ(planner.Stats().windows, 0u);
  queries.Count(1, &planner.profiler(0));
  planner.Note(0);
  EXPECT_EQ(planner.Stats().windows, 1u);
  planner.Note(0);
  EXPECT_EQ(planner.Stats().windows, 1u);
  // What the other one counts is in it, but is no reason to look.
  queries.Count(kWindowGroups - 1, &planner.profiler(1));
  planner.Note(1);
  EXPECT_EQ(planner.Stats().windows, 1u);
}

TEST(Planner, LeavesTimeBetweenLooks) {
  constexpr uint32_t kWindowUs = 20'000;
  constexpr uint64_t kWindows = 5;
  RandomQueries queries(*ProfileOfWorkload("K16-G95-U"), TestSeed());
  Planner::Options options = OptionsFor(1);
  options.window_us = UINT32_MAX;  // more than an hour
  Planner patient(Machine(), options);
  for (int i = 0; i < 10; i++) FeedWindow(&queries, &patient, 1);
  EXPECT_EQ(patient.Stats().windows, 1u);
  options.window_us = kWindowUs;
  Planner planner(Machine(), options);
  const uint64_t start_ns = base::NowNs();
  while (planner.Stats().windows < kWindows) FeedWindow(&queries, &planner, 1);
  // However much longer any of it takes. It counts ticks, whose scale is measured (base/ticks.h):
  // hence a tenth less.
  EXPECT_GE(base::NowNs() - start_ns, (kWindows - 1) * kWindowUs * 900u);
}

TEST(Planner, TakesTheBestPlanWithTheLeastBatchThatItIsGoodFor) {
  const Planner::Options options = OptionsFor(4);
  Planner planner(Machine(), options);
  const Profile truth = *ProfileOfWorkload("K16-G95-U");
  RandomQueries queries(truth, TestSeed());
  FeedWindow(&queries, &planner, 4);
  const Decision& decision = planner.Current(2);
  EXPECT_EQ(decision.number, 1u);
  EXPECT_GT(PartOfBest(Machine(), truth, options.conditions, decision.candidate), 0.98);
  EXPECT_NE(decision.candidate.plan, pipeline::Plan::OneStageCpu());
  EXPECT_EQ(decision.device_batch_min,
            FewestQueriesOf(Machine(), decision.profile, options.conditions, decision.candidate,
                            options.conditions.queries_max));
  EXPECT_NEAR(decision.profile.get_share, 0.95, 0.02);
  EXPECT_EQ(decision.why, "first counts");
  const PlannerStats stats = planner.Stats();
  EXPECT_EQ(stats.changes, 1u);
  EXPECT_EQ(stats.last_change, "first counts");
  EXPECT_EQ(stats.decision.number, 1u);
}

// One stage is a bit late, and a plan that is some percent better is not: it is taken, though one
// stage counts as a tenth better than it is.
TEST(Planner, ALittleIsEnoughToKeepTheInterval) {
  Calibration machine = Machine();
  Planner::Options options = OptionsFor(1);
  options.conditions.batches = 1;
  Profile truth = *ProfileOfWorkload("K16-G100-U");
  truth.objects = RandomQueries::kKeys;
  truth.batch_queries = 1000;
  const auto one_stage =
      *EstimatePlan(machine, truth, pipeline::Plan::OneStageCpu(), options.conditions);
  const auto best_of_device = [&] {
    double best = 0;
    for (const Choice& each : RankPlans(machine, truth, options.conditions, AllPlans(machine)))
      if (each.candidate.plan.stages().size() > 1)
        best = std::max(best, each.estimate.queries_per_s);
    return best / one_stage.queries_per_s;
  };
  ASSERT_GT(best_of_device(), 1.06);
  while (best_of_device() > 1.06) machine.devices[0].job_latency += 20;
  ASSERT_GT(best_of_device(), 1.055);
  options.conditions.interval_us = one_stage.latency_us / 1.05;
  options.profile = truth;
  Planner planner(machine, options);
  RandomQueries queries(truth, TestSeed());
  for (int window = 0; window < 3; window++) FeedWindow(&queries, &planner, 1);
  const Decision& decision = planner.Current(0);
  EXPECT_GT(decision.candidate.plan.stages().size(), 1u);
  EXPECT_TRUE(decision.estimate.fits);
}

// The window of the change, one more, and never a third.
TEST(Planner, FollowsEveryChange) {
  for (const uint32_t workers : {1u, 8u}) {
    const Planner::Options options = OptionsFor(workers);
    const Calibration machine = ReadingMachine(workers);
    Planner planner(machine, options);
    Profile truths[] = {*ProfileOfWorkload("K8-G50-U"), *ProfileOfWorkload("K16-G95-U")};
    RandomQueries queries[] = {{truths[0], TestSeed()}, {truths[1], TestSeed()}};
    for (int i = 0; i < 2; i++) truths[i].objects = RandomQueries::kKeys;
    uint64_t changes = 0;
    const int rounds = static_cast<int>(cache::Rounds(200));
    for (int change = 0; change < rounds; change++) {
      const int now = change % 2;
      const int windows = 3 + change % 30;
      for (int window = 0; window < windows; window++) {
        // The change comes within a window, somewhere.
        if (window == 0 && change > 0) {
          queries[1 - now].Count(change % kWindowGroups, &planner.profiler(0));
          planner.Note(0);
        }
        FeedWindow(&queries[now], &planner, workers);
        if (window < 2) continue;
        const Decision& decision = planner.Current(0);
        ASSERT_GT(PartOfBest(machine, truths[now], options.conditions, decision.candidate), 0.965)
            << "change " << change << ", window " << window << ", " << decision.why << ": "
            << decision.candidate.plan.ToText();
      }
      changes = planner.Stats().changes;
    }
    // Of the first the plan is one stage, as it was.
    EXPECT_GE(changes + 1, static_cast<uint64_t>(rounds))
        << "both workloads have the same best plan: this shows nothing";
  }
}

TEST(Planner, SaysWhyItChanged) {
  Planner planner(ReadingMachine(8), OptionsFor(8));
  RandomQueries half(*ProfileOfWorkload("K16-G50-U"), TestSeed());
  RandomQueries reads(*ProfileOfWorkload("K16-G100-U"), TestSeed());
  for (int i = 0; i < 5; i++) FeedWindow(&half, &planner, 8);
  const uint64_t changes = planner.Stats().changes;
  for (int i = 0; i < 3; i++) FeedWindow(&reads, &planner, 8);
  const PlannerStats stats = planner.Stats();
  EXPECT_GT(stats.changes, changes);
  EXPECT_EQ(stats.last_change.find("GET share 0."), 0u) << stats.last_change;
  EXPECT_NE(stats.last_change.find(" to 1.00"), std::string::npos) << stats.last_change;
}

// How much slower the device must be for the best plan with it to be `ratio` times as good as one
// stage.
double SlownessFor(double ratio, const Profile& truth, const Conditions& conditions) {
  double fast = 0.1, slow = 100;
  for (int i = 0; i < 50; i++) {
    const double middle = std::sqrt(fast * slow);
    const Calibration machine = Machine(middle);
    const double one_stage =
        PartOfBest(machine, truth, conditions, {pipeline::Plan::OneStageCpu(), false});
    (one_stage < 1 / ratio ? fast : slow) = middle;
  }
  return fast;
}

// Where two plans are as good as each other, and where the better one is so by just the hysteresis.
TEST(Planner, DoesNotFlap) {
  for (const char* name : {"K16-G95-S", "K8-G50-U"}) {
    for (const uint32_t workers : {1u, 4u}) {
      for (const double ratio : {1.0, 1.02, 1.04}) {
        Planner::Options options = OptionsFor(workers);
        Profile truth = *ProfileOfWorkload(name);
        truth.objects = RandomQueries::kKeys;
        Planner planner(Machine(SlownessFor(ratio, truth, options.conditions)), options);
        RandomQueries queries(truth, TestSeed());
        // Until it knows the workload.
        for (int i = 0; i < 80; i++) FeedWindow(&queries, &planner, workers);
        const uint64_t before = planner.Stats().changes;
        EXPECT_LE(before, 4u);
        const uint32_t windows = cache::Rounds(1000);
        for (uint32_t i = 0; i < windows; i++) FeedWindow(&queries, &planner, workers);
        EXPECT_LE(planner.Stats().changes, before + 1) << name << " " << workers << " " << ratio;
        EXPECT_GE(planner.Stats().windows, windows);
      }
    }
  }
}

TEST(Planner, LearnsUnlessItMayNot) {
  Calibration machine = TestMachine();
  machine.devices.clear();
  Calibration wrong = machine;
  for (UnitCost& unit : wrong.cpu.units) {
    unit.instructions *= 1.8;
    unit.key_byte *= 1.8;
    unit.memory *= 1.8;
    unit.stream *= 1.8;
  }
  Profile truth = *ProfileOfWorkload("K16-G95-U");
  for (const bool learns : {false, true}) {
    Planner::Options options = OptionsFor(1);
    options.learns = learns;
    Planner planner(wrong, options);
    pipeline::TaskTimes times;
    planner.Watch(0, &times, nullptr);
    RandomQueries queries(truth, TestSeed());
    for (int i = 0; i < 4000; i++) {
      FeedWindow(&queries, &planner, 1);
      AddTimes(machine, truth, planner.Current(0), kWindowGroups * Profiler::kGroupQueries, &times);
    }
    if (!learns) {
      EXPECT_EQ(planner.learned(), wrong);
      continue;
    }
    Model model(machine, truth, options.conditions);
    const double right = model.Of(pipeline::Plan::OneStageCpu(), false, 0)->queries_per_s;
    const PlannerStats stats = planner.Stats();
    EXPECT_NEAR(stats.decision.estimate.queries_per_s / right, 1, 0.05);
    EXPECT_NEAR(stats.task_factors[static_cast<size_t>(Task::kSearch)], 1 / 1.8, 0.05);
    EXPECT_NE(stats.decision.why.find(" times what was calibrated"), std::string::npos);
    EXPECT_EQ(stats.changes, 0u) << "there is one plan alone";
    planner.Watch(0, nullptr, nullptr);
  }
}

// A store of 4 MB that is stored into for ever: each store has looks at victims.
TEST(Planner, FollowsTheStore) {
  CacheOptions cache_options;
  cache_options.memory_bytes = 4 << 20;
  const auto store = cache::OpenStore(cache_options);
  const auto session = store->NewSession();
  pipeline::TaskTimes times;
  pipeline::CpuStage stage(store.get(), &times);
  pipeline::Batch batch(pipeline::Plan::OneStageCpu());
  class NoReplies final : public pipeline::Sink {
   public:
    void Write(pipeline::Batch&, uint32_t, uint32_t, cache::Session&) override {}
    void RunOther(pipeline::Batch&, uint32_t, cache::Session&) override {}
  } sink;
  Planner planner(Machine(), OptionsFor(1), store.get());
  const std::string value(100, 'v');
  uint64_t number = 0;
  for (int i = 0; i < 300; i++) {
    batch.Clear();
    const uint32_t source = batch.AddSource(int64_t{1} << 40);
    std::vector<std::string> keys;
    while (keys.size() < batch.queries_max()) keys.push_back("key" + std::to_string(number++));
    for (const std::string& key : keys) {
      cache::Command command;
      command.verb = cache::Verb::kStore;
      command.key = key;
      command.value = value;
      command.hash = store->HashOf(key);
      batch.AddCommand(source, 0, command);
    }
    stage.Run(batch, *session, sink);
    planner.Note(0, batch);
  }
  const Profile profile = planner.Stats().profile;
  EXPECT_EQ(profile.get_share, 0);
  EXPECT_EQ(profile.value_bytes, 100);
  EXPECT_NEAR(profile.objects, static_cast<double>(store->ItemCount()), 3000);
  EXPECT_GT(profile.looks_per_store, 1);
  EXPECT_LT(profile.looks_per_store, 10);
}

TEST(Planner, MeasuresThroughput) {
  RandomQueries queries(*ProfileOfWorkload("K8-G95-U"), TestSeed());
  Planner::Options options = OptionsFor(1);
  options.now_ns = TestNow;
  Planner planner(Machine(), options);
  EXPECT_EQ(planner.Stats().measured_queries_per_s, 0);
  constexpr double kWindow = kWindowGroups * Profiler::kGroupQueries;
  FeedWindow(&queries, &planner, 1);
  test_now_ns += 300'000'000;
  EXPECT_EQ(planner.Stats().measured_queries_per_s, 0) << "too early to say";
  // What comes in between two looks at the clock is counted once.
  FeedWindow(&queries, &planner, 1);
  test_now_ns += 300'000'000;
  EXPECT_DOUBLE_EQ(planner.Stats().measured_queries_per_s, 2 * kWindow / 0.6);
  FeedWindow(&queries, &planner, 1);
  test_now_ns += 800'000'000;
  EXPECT_DOUBLE_EQ(planner.Stats().measured_queries_per_s, kWindow / 0.8);
}

}  // namespace
}  // namespace weft::planner
