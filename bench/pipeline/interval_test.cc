#include "bench/pipeline/interval.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "base/seed_test_kit.h"

namespace weft::bench {
namespace {

// A machine where a batch takes `fixed_us`, and `query_us` for each of its queries.
struct Machine {
  double fixed_us = 0;
  double query_us = 0;

  double LatencyUs(uint32_t queries) const { return fixed_us + query_us * queries; }
  void Run(IntervalController* interval, int batches) const {
    for (int i = 0; i < batches; ++i) interval->Note(interval->size(), LatencyUs(interval->size()));
  }
};

TEST(Interval, LatencyComesToTheInterval) {
  for (const double query_us : {0.005, 0.05, 0.5}) {
    IntervalController interval(1000, 1 << 20);
    const Machine machine{20, query_us};
    machine.Run(&interval, 200);
    EXPECT_LE(machine.LatencyUs(interval.size()), 1000) << query_us;
    EXPECT_GE(machine.LatencyUs(interval.size()), 700) << query_us;
  }
}

TEST(Interval, ASmallBatchThatTakesMostOfTheIntervalGrowsStill) {
  IntervalController interval(300, 1 << 20);
  const Machine machine{225, 0.006};
  machine.Run(&interval, 400);
  EXPECT_GE(interval.size(), 4096u);
  EXPECT_LE(machine.LatencyUs(interval.size()), 300);
}

TEST(Interval, BeginsWhereItIsTold) {
  EXPECT_EQ(IntervalController(300, 1 << 14).size(), IntervalController::kStep);
  EXPECT_EQ(IntervalController(300, 1 << 14, 1000).size(), 960u);
  EXPECT_EQ(IntervalController(300, 1 << 14, 1).size(), IntervalController::kStep);
  EXPECT_EQ(IntervalController(300, 1 << 14, 1 << 20).size(), 1u << 14);
  // Too large, and it comes down.
  IntervalController interval(300, 1 << 14, 1 << 14);
  const Machine machine{20, 0.5};
  machine.Run(&interval, 100);
  EXPECT_LE(machine.LatencyUs(interval.size()), 300);
}

// As on a device that many small jobs keep busy: 8 times the queries cost a third more.
TEST(Interval, GrowsInAFewRoundsWhereSizeHardlyCosts) {
  IntervalController interval(1000, 1 << 14, 512);
  const Machine machine{600, 0.06};
  machine.Run(&interval, 8 * IntervalController::kNotes);
  EXPECT_GE(interval.size(), 4000u);
  EXPECT_LE(machine.LatencyUs(interval.size()), 1000);
  machine.Run(&interval, 20 * IntervalController::kNotes);
  EXPECT_NEAR(machine.LatencyUs(interval.size()), 900, 20);
}

// Each batch's latency is up to 10 % off: the size stays near the right one.
TEST(Interval, ChanceMovesLittle) {
  base::Random random(base::TestSeed(20260701));
  IntervalController interval(1000, 1 << 14, 512);
  const Machine machine{600, 0.06};
  uint32_t least = UINT32_MAX, most = 0;
  for (int i = 0; i < 2000; ++i) {
    interval.Note(interval.size(),
                  machine.LatencyUs(interval.size()) * (0.9 + 0.2 * random.Unit()));
    if (i < 200) continue;
    least = std::min(least, interval.size());
    most = std::max(most, interval.size());
  }
  EXPECT_GE(least, 4000u);
  EXPECT_LE(most, 6200u);
}

// One in eight takes twice as long.
TEST(Interval, TheMeanCountsNotTheMedian) {
  IntervalController interval(1000, 1 << 20);
  for (int i = 0; i < 400; ++i)
    interval.Note(interval.size(), (i % 8 == 0 ? 0.2 : 0.1) * interval.size());
  EXPECT_NEAR(0.1 * 9 / 8 * interval.size(), 900, 20);
}

TEST(Interval, FollowsAMachineThatSlowsDown) {
  IntervalController interval(1000, 1 << 20);
  Machine{0, 0.02}.Run(&interval, 200);
  const uint32_t before = interval.size();
  Machine{0, 0.2}.Run(&interval, 200);
  EXPECT_NEAR(interval.size(), before / 10.0, 0.15 * before / 10);
}

// As a plan whose device, or a store whose segments, now and then keep a batch for milliseconds.
TEST(Interval, TheMeanIsKeptWithBatchesThatAreHeldUp) {
  base::Random random(base::TestSeed(20260701));
  IntervalController interval(1000, 1 << 20);
  double sum = 0;
  for (int i = 0; i < 8000; ++i) {
    const double us = 0.1 * interval.size() + (random.Below(16) == 0 ? 4000 : 0);
    interval.Note(interval.size(), us);
    if (i >= 4000) sum += us;
  }
  EXPECT_LE(sum / 4000, 1000);
  EXPECT_GE(sum / 4000, 800);
}

TEST(Interval, OneStallIsForgotten) {
  IntervalController interval(1000, 1 << 20);
  const Machine machine{0, 0.1};
  machine.Run(&interval, 400);
  interval.Note(interval.size(), 1e6);
  for (int rounds = 0; rounds < 200; ++rounds) {
    machine.Run(&interval, IntervalController::kNotes);
    EXPECT_GE(interval.size(), rounds < 4 ? 6000u : 7500u) << rounds;
  }
  EXPECT_GE(interval.size(), 8800u);
}

// No size would bring the mean into the interval: 1,600 us of it are the system's.
TEST(Interval, BatchesThatTheSystemHeldUpAreNotBelievedForMoreThanAThird) {
  IntervalController interval(1000, 1 << 20);
  for (int i = 0; i < 4000; ++i) {
    const double us = 0.1 * interval.size() + (i % 5 == 0 ? 8000 : 0);
    interval.Note(interval.size(), us);
    if (i >= 400) {
      ASSERT_GE(interval.size(), 3500u) << i;
    }
  }
}

TEST(Interval, StaysWithinItsLimits) {
  IntervalController interval(1000, 1024);
  Machine{0, 0.001}.Run(&interval, 200);
  EXPECT_EQ(interval.size(), 1024u);
  Machine{5000, 1}.Run(&interval, 200);
  EXPECT_EQ(interval.size(), IntervalController::kStep);
}

TEST(Interval, BatchesOfAnotherSizeSayNothing) {
  IntervalController interval(1000, 1024);
  for (int i = 0; i < 100; ++i) interval.Note(interval.size() + 64, 1);
  EXPECT_EQ(interval.size(), IntervalController::kStep);
}

}  // namespace
}  // namespace weft::bench
