// The planner as several workers ask it at once.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "cache/cache_test_kit.h"
#include "planner/planner.h"
#include "planner/planner_test_kit.h"

namespace weft::planner {
namespace {

// Loads change at random; what workers are told stays, and what is told no more goes.
TEST(PlannerWorkers, TakeAndReplaceDecisions) {
  static constexpr uint32_t kWorkers = 4;
  Planner planner(ReadingMachine(kWorkers), OptionsFor(kWorkers));
  std::vector<std::thread> threads;
  for (uint32_t worker = 0; worker < kWorkers; worker++) {
    threads.emplace_back([&planner, worker] {
      RandomQueries loads[] = {{*ProfileOfWorkload("K8-G50-U"), cache::TestSeed() + worker},
                               {*ProfileOfWorkload("K16-G95-S"), cache::TestSeed() + worker}};
      uint64_t last = 0;
      for (uint32_t i = 0; i < cache::Rounds(2000); i++) {
        loads[i / 8 % 2].Count(1, &planner.profiler(worker));
        planner.Note(worker);
        const Decision& decision = planner.Current(worker);
        ASSERT_GE(decision.number, last);
        last = decision.number;
        ASSERT_FALSE(decision.why.empty());
        ASSERT_GE(decision.candidate.plan.stages().size(), 1u);
        if (i % 64 == 0) {
          ASSERT_LE(planner.Stats().decisions_kept, kWorkers);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // They may see a mixture that hardly moves, and loads that they know. New ones make it plan.
  for (const char* const load : {"K8-G100-U", "K16-G50-S", "K32-G95-U", "K32-G50-S", "K128-G100-U",
                                 "K128-G50-U", "K8-G95-S", "K32-G100-S"}) {
    RandomQueries queries{*ProfileOfWorkload(load), cache::TestSeed()};
    for (uint32_t i = 0; i < 64; i++) {
      queries.Count(1, &planner.profiler(0));
      planner.Note(0);
    }
  }
  const PlannerStats stats = planner.Stats();
  EXPECT_LE(stats.decisions_kept, kWorkers);
  EXPECT_GT(stats.plannings, 5u);
}

}  // namespace
}  // namespace weft::planner
