#include "bench/pipeline/table.h"

#include <gtest/gtest.h>

#include "planner/search.h"

namespace weft::bench {
namespace {

TableLine LineOf(double rate, double predicted, bool kept = true, bool fits = true) {
  TableLine line{"K8-G100-U", 0, 1, kept, {}, planner::Estimate()};
  line.figures.rate = rate;
  line.estimate->queries_per_s = predicted;
  line.estimate->fits = fits;
  return line;
}

TEST(CheckChoice, TakesTheBestPrediction) {
  const ChoiceCheck check = CheckChoice({LineOf(10, 10), LineOf(18, 30), LineOf(20, 20)}, 0, 3);
  EXPECT_EQ(check.chosen, 1u);
  EXPECT_EQ(check.best, 2u);
  EXPECT_NEAR(check.behind, 0.1, 1e-9);
  EXPECT_NEAR(check.over_one_stage, 1.8, 1e-9);
}

TEST(CheckChoice, StaysWithOneStageForLittle) {
  const ChoiceCheck check = CheckChoice({LineOf(10, 10), LineOf(11, 10.1)}, 0, 2);
  EXPECT_EQ(check.chosen, 0u);
  EXPECT_EQ(check.best, 1u);
  const double more = 10 * (1 + planner::kDeviceGainMin);
  EXPECT_EQ(CheckChoice({LineOf(10, 10), LineOf(11, more * 0.999)}, 0, 2).chosen, 0u);
  EXPECT_EQ(CheckChoice({LineOf(10, 10), LineOf(11, more * 1.001)}, 0, 2).chosen, 1u);
}

TEST(CheckChoice, LeavesOutWhatDoesNotKeepTheInterval) {
  // One is promised to be late, the other one was.
  const ChoiceCheck check = CheckChoice(
      {LineOf(10, 10), LineOf(12, 30, true, false), LineOf(30, 11, false), LineOf(11, 12)}, 0, 4);
  EXPECT_EQ(check.chosen, 3u);
  EXPECT_EQ(check.best, 1u);
}

TEST(CheckChoice, LeavesOutWhatWentThroughOneStage) {
  std::vector<TableLine> lines = {LineOf(10, 10), LineOf(12, 12), LineOf(20, 11)};
  lines[2].figures.gets = 100;
  lines[2].figures.behind_queries = 50;
  EXPECT_EQ(CheckChoice(lines, 0, 3).best, 2u);
  lines[2].figures.behind_queries = 51;
  EXPECT_EQ(CheckChoice(lines, 0, 3).best, 1u);
}

TEST(CheckPlanner, HoldsWhatItSettledOnAgainstTheBest) {
  std::vector<TableLine> lines = {LineOf(10, 10), LineOf(14, 12), LineOf(20, 20), LineOf(18, 30)};
  EXPECT_FALSE(CheckPlanner(lines, 0, 4));
  lines[1].estimate.reset();
  lines[1].settled_on = 3;
  const auto check = CheckPlanner(lines, 0, 4);
  ASSERT_TRUE(check);
  EXPECT_EQ(check->chosen, 3u);
  EXPECT_EQ(check->best, 2u);
  EXPECT_NEAR(check->behind, 0.1, 1e-9);
  EXPECT_NEAR(check->over_one_stage, 1.8, 1e-9);
  EXPECT_NEAR(*check->turn_over_one_stage, 1.4, 1e-9) << "its own rate, not that of plan 3";
}

TEST(CheckChoice, LooksAtItsOwnWorkload) {
  const std::vector<TableLine> lines = {LineOf(10, 10), LineOf(5, 20), LineOf(7, 7), LineOf(9, 9)};
  const ChoiceCheck check = CheckChoice(lines, 2, 2);
  EXPECT_EQ(check.chosen, 1u);
  EXPECT_EQ(check.best, 1u);
  EXPECT_EQ(check.behind, 0);
}

}  // namespace
}  // namespace weft::bench
