// What plans yield of what is promised for them (planner/yields.h), as the planner finds it out.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "cache/test_kit.h"
#include "planner/planner_test_kit.h"

namespace weft::planner {
namespace {

using cache::TestSeed;

// Of the tests below: time passes as they say.
uint64_t test_now_ns = 0;
uint64_t TestNow() { return test_now_ns; }

// A machine whose plans with a device have `yield` times the throughput that is promised for them,
// and `fresh_yield` times in the first `kFreshNs` after each change of plan.
class Trials {
 public:
  static constexpr uint64_t kFreshNs = 15'000'000;

  explicit Trials(double yield, Planner::Options options = OptionsFor(1),
                  std::optional<double> fresh_yield = {})
      : machine_(ReadingMachine(options.conditions.workers)),
        yield_(yield),
        fresh_yield_(fresh_yield.value_or(yield)),
        conditions_(options.conditions) {
    options.now_ns = TestNow;
    options.has_always_queries = true;
    planner_ = std::make_unique<Planner>(machine_, options);
  }

  void Run(const char* workload, int windows) {
    Profile truth = *ProfileOfWorkload(workload);
    truth.objects = RandomQueries::kKeys;
    RandomQueries queries(truth, TestSeed());
    Model model(machine_, truth, conditions_);
    for (int i = 0; i < windows; i++) {
      const Candidate plan = planner_->Current(0).candidate;
      if (plan.plan != last_plan_) changed_ns_ = test_now_ns;
      last_plan_ = plan.plan;
      const double rate = model.Of(plan.plan, plan.steal, 0)->queries_per_s * YieldOf(plan);
      const uint32_t workers = conditions_.workers;
      const double window = workers * kWindowGroups * Profiler::kGroupQueries;
      test_now_ns += static_cast<uint64_t>(window * 1e9 / rate);
      FeedWindow(&queries, planner_.get(), workers);
      if (slower_) AddTimes(*slower_, truth, planner_->Current(0), window, &times_);
    }
  }
  // Tasks of the CPU take so many times as long as was calibrated: as the planner learns it, it
  // looks at all plans again and again.
  void SlowTasks(double times) {
    slower_ = machine_;
    for (UnitCost& unit : slower_->cpu.units) {
      unit.instructions *= times;
      unit.memory *= times;
      unit.stream *= times;
    }
    planner_->Watch(0, &times_, nullptr);
  }
  double Gain(const char* workload) const {
    Profile truth = *ProfileOfWorkload(workload);
    truth.objects = RandomQueries::kKeys;
    const auto choices = RankPlans(machine_, truth, conditions_, AllPlans(machine_));
    return choices.front().estimate.queries_per_s /
           EstimatePlan(machine_, truth, pipeline::Plan::OneStageCpu(), conditions_)->queries_per_s;
  }
  bool IsOneStage() { return planner_->Current(0).candidate.plan.stages().size() == 1; }
  Planner& planner() { return *planner_; }

 private:
  double YieldOf(const Candidate& candidate) const {
    if (candidate.plan.stages().size() == 1) return 1;
    return test_now_ns - changed_ns_ < kFreshNs ? fresh_yield_ : yield_;
  }

  const Calibration machine_;  // has few plans
  const double yield_, fresh_yield_;
  const Conditions conditions_;
  pipeline::Plan last_plan_ = pipeline::Plan::OneStageCpu();
  uint64_t changed_ns_ = 0;
  std::optional<Calibration> slower_;
  pipeline::TaskTimes times_;
  std::unique_ptr<Planner> planner_;
};

TEST(PlannerTrials, LeavesPlansThatDoNotKeepTheirPromise) {
  Trials trials(0.15);
  ASSERT_LT(trials.Gain("K16-G95-U"), 5);
  trials.Run("K16-G95-U", 2);
  ASSERT_FALSE(trials.IsOneStage());
  // Some trials of each plan that is promised to be better.
  const auto plans = static_cast<int>(trials.planner().candidates().size());
  bool says_why = false;
  for (int i = 0; i < plans; i++) {
    trials.Run("K16-G95-U", 600);
    says_why |= trials.planner().Stats().last_change.starts_with("the plan yields 0.");
  }
  EXPECT_TRUE(says_why);
  EXPECT_TRUE(trials.IsOneStage());
  const PlannerStats stats = trials.planner().Stats();
  EXPECT_NEAR(stats.decision.yield, 1, 0.1);
  trials.Run("K16-G95-U", 1000);
  EXPECT_LE(trials.planner().Stats().changes, stats.changes + 2) << "it tries none for ever";
}

// Each visit is shorter than a span, but what was found in it is remembered in the next.
TEST(PlannerTrials, RemembersWhatPlansYieldedForWorkloadsThatComeAndGo) {
  Trials trials(0.15);
  const auto plans = static_cast<int>(trials.planner().candidates().size());
  for (int visit = 0; visit < 8 * plans; visit++)
    trials.Run(visit % 2 == 0 ? "K16-G95-U" : "K8-G50-U", 15);
  const uint64_t changes = trials.planner().Stats().changes;
  for (int visit = 0; visit < 20; visit++) {
    trials.Run(visit % 2 == 0 ? "K16-G95-U" : "K8-G50-U", 15);
    EXPECT_TRUE(trials.IsOneStage()) << "visit " << visit;
  }
  EXPECT_LE(trials.planner().Stats().changes, changes + 2);
}

TEST(PlannerTrials, KeepsPlansThatYieldLessButEnough) {
  Trials trials(0.9);
  ASSERT_GT(trials.Gain("K16-G95-U"), 1.3);
  trials.Run("K16-G95-U", 1500);
  EXPECT_FALSE(trials.IsOneStage());
  const PlannerStats stats = trials.planner().Stats();
  EXPECT_NEAR(stats.decision.yield, 0.9, 0.05);
}

// While batches grow and a copy of the store is brought up to date a plan has a part of what it has
// later: that condemns none, whatever else brings about another look at all plans meanwhile.
TEST(PlannerTrials, APlanIsNotJudgedByItsFirstMilliseconds) {
  Trials trials(1, OptionsFor(16), 0.4);
  trials.SlowTasks(1.5);
  trials.Run("K16-G95-U", 3);
  ASSERT_FALSE(trials.IsOneStage());
  const uint64_t changes = trials.planner().Stats().changes;
  for (int i = 0; i < 10; i++) {
    trials.Run("K16-G95-U", 100);
    EXPECT_FALSE(trials.IsOneStage()) << i;
  }
  EXPECT_EQ(trials.planner().Stats().changes, changes);
  EXPECT_GE(trials.planner().Stats().plannings, 5u) << "nothing else brought about another look";
}

// Where it is there for less than that, it is all that the plan has.
TEST(PlannerTrials, WhereStaysAreShortTheFirstMillisecondsCount) {
  Trials trials(1, OptionsFor(1), 0.1);
  const auto plans = static_cast<int>(trials.planner().candidates().size());
  for (int visit = 0; visit < 8 * plans; visit++)
    trials.Run(visit % 2 == 0 ? "K16-G95-U" : "K8-G50-U", 15);
  EXPECT_TRUE(trials.IsOneStage());
  // This time it stays: the plan is tried again.
  trials.Run("K16-G95-U", 3000);
  EXPECT_FALSE(trials.IsOneStage());
}

// A server whose clients ask for less says nothing of its plans; nor does one that may not learn.
TEST(PlannerTrials, AnIdleLoadIsNoTrial) {
  Planner::Options unlearning = OptionsFor(1);
  unlearning.learns = false;
  Trials trials(0.3, unlearning);
  trials.Run("K16-G95-U", 500);
  EXPECT_FALSE(trials.IsOneStage());
  EXPECT_EQ(trials.planner().Stats().decision.yield, 1);
  // Time passes so fast, or so slowly, that the thread's own is next to none of it, or more.
  for (const uint64_t window_ns : {uint64_t{1'000'000'000}, uint64_t{5000}}) {
    Planner::Options options = OptionsFor(1);
    options.now_ns = TestNow;
    Planner planner(Machine(), options);
    planner.TimeBy(0, CLOCK_THREAD_CPUTIME_ID);
    RandomQueries queries(*ProfileOfWorkload("K16-G95-U"), TestSeed());
    const bool is_idle = window_ns > 5000;
    for (int i = 0; i < (is_idle ? 800 : 6000); i++) {
      test_now_ns += window_ns;
      FeedWindow(&queries, &planner, 1);
    }
    EXPECT_EQ(planner.Stats().decision.yield == 1, is_idle) << window_ns;
  }
}

}  // namespace
}  // namespace weft::planner
