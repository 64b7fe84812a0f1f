// Plans that are promised about as much as the one in force (planner/exploration.h), as the planner
// tries them.
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

// Its device is so slow that the best plan with it is promised about `gain` times as much as one
// stage.
Calibration MachineOfGain(double gain) {
  Profile truth = *ProfileOfWorkload(kStaying);
  truth.objects = RandomQueries::kKeys;
  double low = 1, high = 1000;
  Calibration machine;
  for (int i = 0; i < 50; i++) {
    const double slower = std::sqrt(low * high);
    machine = ReadingMachine(1);
    ProcessorCosts& device = machine.devices[0];
    device.job *= slower;
    device.change *= slower;
    for (UnitCost& unit : device.units) {
      unit.instructions *= slower;
      unit.memory *= slower;
      unit.stream *= slower;
    }
    (BestOfDevice(machine, truth) > gain ? low : high) = slower;
  }
  EXPECT_NEAR(BestOfDevice(machine, truth), gain, 0.01);
  return machine;
}

TEST(PlannerExploration, FindsAPlanThatIsBetterThanItIsTold) {
  for (const double gain : {0.95, 1.05}) {
    // The device's plans without stealing are better than they are told.
    const auto yield = [](const Candidate& plan) { return plan.steal ? 0.97 : 1.15; };
    Trials trials(yield, MachineOfGain(gain));
    trials.Run(kStaying, 40);
    ASSERT_TRUE(trials.IsOneStage()) << "the model alone does not tell";
    trials.Run(kStaying, 12'000);
    EXPECT_FALSE(trials.IsOneStage()) << gain;
    EXPECT_FALSE(trials.planner().Current(0).candidate.steal) << gain;
    const PlannerStats stats = trials.planner().Stats();
    EXPECT_NEAR(stats.decision.yield, 1.15, 0.02) << gain;
    EXPECT_GT(stats.decision.estimate.queries_per_s, 1e6);
  }
}

TEST(PlannerExploration, TriesEachOfSomeOnceAndStaysWithTheBest) {
  Trials trials([](const Candidate&) { return 0.95; }, MachineOfGain(1.05));
  trials.Run(kStaying, 12'000);
  EXPECT_TRUE(trials.IsOneStage());
  const PlannerStats stats = trials.planner().Stats();
  EXPECT_GE(stats.changes, 2u) << "it tried none";
  EXPECT_LE(stats.changes, 2 * Exploration::kPlansMax);
  trials.Run(kStaying, 12'000);
  EXPECT_TRUE(trials.IsOneStage());
  EXPECT_EQ(trials.planner().Stats().changes, stats.changes) << "it tries them again";
}

TEST(PlannerExploration, LeavesAPlanThatIsOutOfReachAtOnce) {
  Trials trials([](const Candidate&) { return 0.5; }, MachineOfGain(1.05));
  uint64_t begin_ns = 0, most_ns = 0;
  for (int i = 0; i < 12'000; i++) {
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
  Trials trials([](const Candidate&) { return 1.15; }, MachineOfGain(1.05));
  trials.FallBehind();
  trials.Run(kStaying, 40'000);
  EXPECT_TRUE(trials.IsOneStage());
  EXPECT_EQ(trials.planner().Stats().changes, 2u);
}

TEST(PlannerExploration, TriesNoneWhereWorkloadsComeAndGo) {
  Trials trials([](const Candidate&) { return 1.15; }, MachineOfGain(1.05));
  for (int visit = 0; visit < 400; visit++) trials.Run(visit % 2 == 0 ? kStaying : "K8-G50-U", 30);
  for (const PlanChange& change : trials.planner().Stats().last_changes)
    EXPECT_EQ(std::string::npos, change.why.find("is tried")) << change.why;
}

// Nor where what it has then says nothing: a server that could do more than it is asked for.
TEST(PlannerExploration, TriesNoneUnderAnIdleLoad) {
  Planner::Options options = OptionsFor(1);
  options.now_ns = TestNow;
  Planner planner(MachineOfGain(1.05), options);
  planner.TimeBy(0, CLOCK_THREAD_CPUTIME_ID);
  RandomQueries queries(*ProfileOfWorkload(kStaying), cache::TestSeed());
  for (int i = 0; i < 2000; i++) {
    test_now_ns += 1'000'000'000;
    FeedWindow(&queries, &planner, 1);
  }
  EXPECT_EQ(0u, planner.Stats().changes);
}

}  // namespace
}  // namespace weft::planner
