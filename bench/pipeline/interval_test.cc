#include "bench/pipeline/interval.h"

#include <gtest/gtest.h>

namespace weft::bench {
namespace {

// A machine whose longest stage takes `fixed_us` and then `query_us` a query.
struct Machine {
  double fixed_us = 0;
  double query_us = 0;
  uint32_t stages = 1;

  double StageUs(uint32_t queries) const { return fixed_us + query_us * queries; }
  void Run(IntervalController* interval, int batches) const {
    for (int i = 0; i < batches; ++i) {
      const uint32_t queries = interval->size();
      interval->Note(queries, StageUs(queries), stages * StageUs(queries));
    }
  }
};

TEST(Interval, LongestStageComesToItsPartOfTheInterval) {
  for (const uint32_t stages : {1u, 2u, 3u}) {
    for (const double query_us : {0.005, 0.05, 0.5}) {
      IntervalController interval(1000, stages, 1 << 20);
      const Machine machine{20, query_us, stages};
      machine.Run(&interval, 200);
      const double part_us = 1000.0 / stages;
      EXPECT_LE(machine.StageUs(interval.size()), part_us) << stages << " " << query_us;
      EXPECT_GE(machine.StageUs(interval.size()), 0.7 * part_us) << stages << " " << query_us;
    }
  }
}

TEST(Interval, ASmallBatchThatTakesMostOfItsPartGrowsStill) {
  IntervalController interval(300, 3, 1 << 20);
  const Machine machine{75, 0.002, 3};  // of 100 us
  machine.Run(&interval, 400);
  EXPECT_GE(interval.size(), 4096u);
  EXPECT_LE(machine.StageUs(interval.size()), 100);
}

TEST(Interval, LatencyBoundsTheBatchWhereStagesDoNot) {
  IntervalController interval(1000, 2, 1 << 20);
  for (int i = 0; i < 200; ++i)  // queues: four times the longest stage
    interval.Note(interval.size(), 0.1 * interval.size(), 0.4 * interval.size());
  EXPECT_LE(0.4 * interval.size(), 1000);
  EXPECT_GE(0.4 * interval.size(), 700);
}

TEST(Interval, FollowsAMachineThatSlowsDown) {
  IntervalController interval(1000, 1, 1 << 20);
  Machine{0, 0.02}.Run(&interval, 200);
  const uint32_t before = interval.size();
  Machine{0, 0.2}.Run(&interval, 200);
  EXPECT_NEAR(interval.size(), before / 10.0, 0.15 * before / 10);
}

TEST(Interval, BatchesThatTheSystemHeldUpAreNotBelieved) {
  IntervalController interval(1000, 1, 1 << 20);
  for (int i = 0; i < 400; ++i) {
    const double us = 0.1 * interval.size() + (i % 5 == 0 ? 8000 : 0);
    interval.Note(interval.size(), us, us);
  }
  EXPECT_GE(interval.size(), 7000u);
}

TEST(Interval, StaysWithinItsLimits) {
  IntervalController interval(1000, 1, 1024);
  Machine{0, 0.001}.Run(&interval, 200);
  EXPECT_EQ(interval.size(), 1024u);
  Machine{5000, 1}.Run(&interval, 200);
  EXPECT_EQ(interval.size(), IntervalController::kStep);
}

TEST(Interval, BatchesOfAnotherSizeSayNothing) {
  IntervalController interval(1000, 1, 1024);
  for (int i = 0; i < 100; ++i) interval.Note(interval.size() + 64, 1, 1);
  EXPECT_EQ(interval.size(), IntervalController::kStep);
}

}  // namespace
}  // namespace weft::bench
