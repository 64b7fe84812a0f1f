// What plans yield of what is promised for them (planner/yields.h), as the planner finds it out.
//
// Threads   one.
#include <gtest/gtest.h>

#include <string>

#include "cache/cache_test_kit.h"
#include "planner/planner_test_kit.h"

namespace weft::planner {
namespace {

using cache::TestSeed;

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
  for (int i = 0; i < 5; i++) {
    trials.Run("K16-G95-U", 100);
    EXPECT_FALSE(trials.IsOneStage()) << i;
  }
  // Other plans with the device may be explored meanwhile.
  const PlannerStats stats = trials.planner().Stats();
  ASSERT_LE(stats.changes, Planner::kChangesKept);
  for (size_t i = changes; i < stats.changes; i++)
    EXPECT_NE(std::string::npos, stats.last_changes[i].why.find("trial")) << i;
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
  for (const uint64_t window_ns : {uint64_t{1'000'000'000}, uint64_t{10'000}}) {
    Planner::Options options = OptionsFor(1);
    options.now_ns = TestNow;
    Planner planner(Machine(), options);
    planner.TimeBy(0, CLOCK_THREAD_CPUTIME_ID);
    RandomQueries queries(*ProfileOfWorkload("K16-G95-U"), TestSeed());
    const bool is_idle = window_ns > 10'000;
    for (int i = 0; i < (is_idle ? 800 : 9'000); i++) {
      test_now_ns += window_ns;
      FeedWindow(&queries, &planner, 1);
    }
    EXPECT_EQ(planner.Stats().decision.yield == 1, is_idle) << window_ns;
  }
}

}  // namespace
}  // namespace weft::planner
