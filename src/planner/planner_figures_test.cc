// A planner whose figures come later.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "planner/planner_test_kit.h"

namespace weft::planner {
namespace {

using cache::TestSeed;

TEST(PlannerFigures, WithoutThemAllIsOneStage) {
  Planner planner(OptionsFor(2));
  EXPECT_EQ(planner.Current(0).why, "nothing has been measured yet");
  RandomQueries queries(*ProfileOfWorkload("K16-G95-U"), TestSeed());
  for (int i = 0; i < 200; i++) FeedWindow(&queries, &planner, 2);
  EXPECT_EQ(planner.Current(0).number, 0u);
  EXPECT_EQ(planner.Current(1).candidate.plan, pipeline::Plan::OneStageCpu());
  const PlannerStats stats = planner.Stats();
  EXPECT_EQ(stats.plannings, 0u);
  EXPECT_EQ(stats.changes, 0u);
  EXPECT_GT(stats.windows, 100u);
  EXPECT_NEAR(stats.profile.get_share, 0.95, 0.02) << "the workload is followed";
}

TEST(PlannerFigures, PlansAreChosenByThemOnceTheyAreThere) {
  const uint64_t seed = TestSeed();
  Planner late(OptionsFor(1)), early(Machine(), OptionsFor(1));
  RandomQueries of_late(*ProfileOfWorkload("K16-G95-U"), seed);
  RandomQueries of_early(*ProfileOfWorkload("K16-G95-U"), seed);
  for (int i = 0; i < 100; i++) FeedWindow(&of_late, &late, 1);
  late.Adopt(Machine());
  EXPECT_EQ(late.candidates(), early.candidates());
  EXPECT_EQ(late.Current(0).number, 0u) << "no plan before the next window";
  EXPECT_GT(late.Current(0).estimate.queries_per_s, 0);
  FeedWindow(&of_late, &late, 1);
  FeedWindow(&of_early, &early, 1);
  EXPECT_EQ(late.Current(0).candidate, early.Current(0).candidate);
  EXPECT_NE(late.Current(0).candidate.plan, pipeline::Plan::OneStageCpu());
  EXPECT_EQ(late.Stats().changes, 1u);
}

TEST(PlannerFigures, ComeWhileWorkersWork) {
  constexpr uint32_t kWorkers = 3;
  Planner planner(OptionsFor(kWorkers));
  std::atomic<bool> ended{false};
  std::vector<std::thread> workers;
  for (uint32_t w = 0; w < kWorkers; w++) {
    workers.emplace_back([&planner, &ended, w, seed = TestSeed()] {
      RandomQueries queries(*ProfileOfWorkload("K16-G95-U"), seed + w);
      while (!ended) {
        queries.Count(1, &planner.profiler(w));
        planner.Note(w);
        EXPECT_FALSE(planner.Current(w).candidate.plan.stages().empty());
        std::this_thread::yield();
      }
    });
  }
  while (planner.Stats().windows < 20) std::this_thread::yield();
  planner.Adopt(Machine());
  while (planner.Stats().plannings == 0) std::this_thread::yield();
  ended = true;
  for (std::thread& worker : workers) worker.join();
}

}  // namespace
}  // namespace weft::planner
