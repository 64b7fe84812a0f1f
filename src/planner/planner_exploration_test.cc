// Plans that are promised about as much as the one in force (planner/exploration.h), as the planner
// tries them.
//
// Threads   one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "planner/planner_test_kit.h"

namespace weft::planner {
namespace {

constexpr const char* kStaying = "K16-G95-U";

double BestOfDevice(const Calibration& machine, const Profile& truth) {
  Model model(machine, truth, OptionsFor(1).conditions);
  double best = 0;
  for (const Candidate& candidate : AllPlans(machine))
    if (candidate.plan.stages().size() > 1)
      best = std::max(best, model.Of(candidate.plan, candidate.steal, 0)->queries_per_s);
  return best / model.Of(pipeline::Plan::OneStageCpu(), false, 0)->queries_per_s;
}

void Slow(ProcessorCosts* processor, double times) {
  processor->job *= times;
  processor->change *= times;
  for (UnitCost& unit : processor->units) {
    unit.instructions *= times;
    unit.memory *= times;
    unit.stream *= times;
  }
}

// Its device is so slow that the best plan with it is promised about `gain` times as much as one
// stage; and all of it is `all` times as slow as it should be, so that few queries take long.
Calibration MachineOfGain(double gain, double all = 5) {
  Profile truth = *ProfileOfWorkload(kStaying);
  truth.objects = RandomQueries::kKeys;
  double low = 1, high = 1000 * all;
  Calibration machine;
  for (int i = 0; i < 50; i++) {
    const double slower = std::sqrt(low * high);
    machine = ReadingMachine(1);
    Slow(&machine.cpu, all);
    Slow(&machine.devices[0], slower);
    (BestOfDevice(machine, truth) > gain ? low : high) = slower;
  }
  EXPECT_NEAR(BestOfDevice(machine, truth), gain, 0.03);
  return machine;
}

bool HasTried(const PlannerStats& stats) {
  return std::any_of(stats.last_changes.begin(), stats.last_changes.end(),
                     [](const PlanChange& change) {
                       return change.why.find("on trial: it") != std::string::npos;
                     });
}

TEST(PlannerExploration, FindsAPlanThatIsBetterThanItIsTold) {
  for (const double gain : {0.98, 1.05}) {
    Trials trials([](const Candidate&) { return 1.15; }, MachineOfGain(gain));
    trials.Run(kStaying, 20);
    ASSERT_TRUE(trials.IsOneStage()) << "the model alone does not tell";
    trials.Run(kStaying, 3000);
    EXPECT_FALSE(trials.IsOneStage()) << gain;
    const PlannerStats stats = trials.planner().Stats();
    EXPECT_NEAR(stats.decision.yield, 1.15, 0.04) << gain;
    EXPECT_GT(stats.decision.estimate.queries_per_s, 1e5);
  }
}

TEST(PlannerExploration, TriesEachOfSomeOnceAndStaysWithTheBest) {
  Trials trials([](const Candidate&) { return 0.95; }, MachineOfGain(1.05));
  trials.Run(kStaying, 4000);
  EXPECT_TRUE(trials.IsOneStage());
  const PlannerStats stats = trials.planner().Stats();
  EXPECT_GE(stats.changes, 2u) << "it tried none";
  EXPECT_LE(stats.changes, 2 * Exploration::kPlansMax);
  trials.Run(kStaying, 1500);
  EXPECT_TRUE(trials.IsOneStage());
  EXPECT_EQ(trials.planner().Stats().changes, stats.changes) << "it tries them again";
}

// Whatever its first windows say of it by chance: for another one each plan would be tried again.
TEST(PlannerExploration, OneWorkloadStaysOne) {
  constexpr uint64_t kSeeds = 12;
  uint64_t others = 0;
  for (uint64_t seed = 0; seed < kSeeds; seed++) {
    Trials trials([](const Candidate&) { return 0.95; }, MachineOfGain(1.05));
    trials.Run(kStaying, 600, cache::TestSeed() * kSeeds + seed);
    EXPECT_TRUE(HasTried(trials.planner().Stats()));
    others += trials.planner().Current(0).workload - 1;
  }
  EXPECT_EQ(others, 0u) << "of " << kSeeds << " workloads";
}

TEST(PlannerExploration, LeavesAPlanThatIsOutOfReachAtOnce) {
  Trials trials([](const Candidate&) { return 0.5; }, MachineOfGain(1.05));
  uint64_t begin_ns = 0, most_ns = 0;
  for (int i = 0; i < 1500; i++) {
    trials.Run(kStaying, 1);
    if (trials.IsOneStage()) begin_ns = test_now_ns;
    most_ns = std::max(most_ns, test_now_ns - begin_ns);
  }
  EXPECT_GE(trials.planner().Stats().changes, 2u) << "it tried none";
  EXPECT_GT(most_ns, Yields::kFreshNs);
  EXPECT_LT(most_ns, 2 * Yields::kFreshNs);
}

// Then it says nothing of any plan: one is enough.
TEST(PlannerExploration, ADeviceThatIsAlwaysBehindIsTriedOnce) {
  Trials trials([](const Candidate&) { return 1.15; }, MachineOfGain(1.05, 20));
  trials.FallBehind();
  for (const uint64_t begin_ns = test_now_ns; test_now_ns - begin_ns < 4 * Exploration::kLimitNs;)
    trials.Run(kStaying, 100);
  EXPECT_TRUE(trials.IsOneStage());
  EXPECT_EQ(trials.planner().Stats().changes, 2u);
}

// A plan that was chosen for what it promises is left then, though its batches fare as well in one
// stage.
TEST(PlannerExploration, ADeviceThatIsAlwaysBehindIsLeft) {
  Trials trials([](const Candidate&) { return 1; }, MachineOfGain(1.5, 20));
  trials.FallBehind();
  trials.Run(kStaying, 2);
  ASSERT_FALSE(trials.IsOneStage());
  const uint64_t limit_ns = test_now_ns + trials.planner().candidates().size() * 4'000'000'000;
  while (!trials.IsOneStage() && test_now_ns < limit_ns) trials.Run(kStaying, 50);
  EXPECT_TRUE(trials.IsOneStage());
}

// Nobody works for a while, in the middle of a trial.
TEST(PlannerExploration, APauseEndsNone) {
  for (const int windows : {1, 20, 100}) {
    Trials trials([](const Candidate&) { return 1.15; }, MachineOfGain(1.05));
    for (int i = 0; i < 5000 && trials.IsOneStage(); i++) trials.Run(kStaying, 1);
    ASSERT_FALSE(trials.IsOneStage());
    trials.Run(kStaying, windows);
    test_now_ns += 3 * Exploration::kLimitNs;
    trials.Run(kStaying, 1500);
    EXPECT_FALSE(trials.IsOneStage()) << windows;
  }
}

TEST(PlannerExploration, TriesNoneWhereWorkloadsComeAndGo) {
  Trials trials([](const Candidate&) { return 1.15; }, MachineOfGain(1.05));
  for (int visit = 0; visit < 150; visit++) trials.Run(visit % 2 == 0 ? kStaying : "K8-G50-U", 30);
  EXPECT_FALSE(HasTried(trials.planner().Stats()));
}

// Nor where what it has then says nothing: a server that could do more than it is asked for.
TEST(PlannerExploration, TriesNoneUnderAnIdleLoad) {
  Planner::Options options = OptionsFor(1);
  options.now_ns = TestNow;
  Planner planner(MachineOfGain(1.05), options);
  planner.TimeBy(0, CLOCK_THREAD_CPUTIME_ID);
  RandomQueries queries(*ProfileOfWorkload(kStaying), cache::TestSeed());
  for (int i = 0; i < 1000; i++) {
    test_now_ns += 1'000'000'000;
    FeedWindow(&queries, &planner, 1);
  }
  EXPECT_FALSE(HasTried(planner.Stats()));
}

}  // namespace
}  // namespace weft::planner
