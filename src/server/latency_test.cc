// Threads   one.
#include "server/latency.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/seed_test_kit.h"

namespace weft::server {
namespace {

TEST(LatencyCells, HoldEveryValueOnce) {
  for (size_t cell = 0; cell < kLatencyCells; cell++) {
    const uint64_t begin = LatencyCellBegin(cell);
    const uint64_t end = LatencyCellBegin(cell + 1);
    ASSERT_LT(begin, end);
    EXPECT_EQ(LatencyCellOf(begin), cell);
    EXPECT_EQ(LatencyCellOf(end - 1), cell);
    // The middle is near enough to both ends.
    EXPECT_LE(static_cast<double>(end - 1 - begin) / 2, 0.032 * static_cast<double>(begin) + 0.5);
  }
  EXPECT_EQ(LatencyCellBegin(0), 0u);
  EXPECT_EQ(LatencyCellBegin(kLatencyCells), kLatencyMaxNs + 1);
  EXPECT_EQ(LatencyCellOf(UINT64_MAX), kLatencyCells - 1);
}

TEST(LatencySummaries, AreThoseOfSortedValues) {
  base::Random random(base::TestSeed());
  LatencyCells cells = {};
  std::vector<uint64_t> values;
  for (int i = 0; i < 20'000; i++) {
    const uint64_t ns = 50 + (random.Next() >> (random.Next() % 30 + 34));
    values.push_back(ns);
    cells[LatencyCellOf(ns)]++;
  }
  std::ranges::sort(values);
  const LatencySummary summary = Summarize(cells);
  EXPECT_EQ(summary.count, values.size());
  const auto near = [&](uint64_t got, double part) {
    const auto rank = static_cast<size_t>(part * static_cast<double>(values.size())) - 1;
    const auto exact = static_cast<double>(values[rank]);
    EXPECT_NEAR(static_cast<double>(got), exact, 0.035 * exact + 1) << part;
  };
  near(summary.p50_ns, 0.5);
  near(summary.p90_ns, 0.9);
  near(summary.p99_ns, 0.99);
  near(summary.p999_ns, 0.999);
  near(summary.max_ns, 1);
}

TEST(LatencySummaries, OfNothingAreZero) {
  const LatencySummary summary = Summarize({});
  EXPECT_EQ(summary.count, 0u);
  EXPECT_EQ(summary.p999_ns, 0u);
  EXPECT_EQ(summary.mean_ns, 0);
}

TEST(LatencyTotals, SubtractWhatWasThereBefore) {
  LatencyTotals before, now;
  now.Of(LatencyClass::kSet)[3] = 5;
  now.Subtract(before);
  EXPECT_EQ(now.Of(LatencyClass::kSet)[3], 5u);
  before.Of(LatencyClass::kSet)[3] = 2;
  before.Of(LatencyClass::kGet)[1] = 1;  // more than there is, as of another moment
  now.Subtract(before);
  EXPECT_EQ(now.Of(LatencyClass::kSet)[3], 3u);
  EXPECT_EQ(now.Of(LatencyClass::kGet)[1], 0u);
  EXPECT_EQ(now.Sum()[3], 3u);
}

uint64_t CountOf(const TurnLatency& latency, LatencyClass of) {
  LatencyTotals totals;
  latency.AddTo(&totals);
  return Summarize(std::as_const(totals).Of(of)).count;
}

TEST(TurnLatency, CountsEachAnswerOnceAndInItsClass) {
  TurnLatency latency;
  EXPECT_GT(latency.BeginTurn(), 0u);
  const uint64_t first = latency.began_ticks();
  latency.Note(LatencyClass::kGet, 7);
  latency.Note(LatencyClass::kOther, 1);
  EXPECT_EQ(CountOf(latency, LatencyClass::kGet), 0u) << "before the replies have left";
  latency.EndTurn();
  latency.EndTurn();  // of a turn without a request
  EXPECT_EQ(CountOf(latency, LatencyClass::kGet), 7u);
  latency.BeginTurn();
  latency.Note(LatencyClass::kDelete, 2, first);
  latency.Note(LatencyClass::kGet, 3, first);
  latency.Note(LatencyClass::kGet, 4, first + 1);
  latency.Note(LatencyClass::kGet, 5);
  latency.EndTurn();
  EXPECT_EQ(CountOf(latency, LatencyClass::kGet), 19u);
  EXPECT_EQ(CountOf(latency, LatencyClass::kDelete), 2u);
  EXPECT_EQ(CountOf(latency, LatencyClass::kOther), 1u);
  EXPECT_EQ(CountOf(latency, LatencyClass::kTouch), 0u);
}

TEST(TurnLatency, CountsWhatWaitedFromTheTurnThatBroughtIt) {
  TurnLatency latency;
  latency.BeginTurn();
  const uint64_t long_ago = latency.began_ticks() - 4'000'000'000;  // more than half a second
  latency.Note(LatencyClass::kGet, 1, long_ago);
  latency.EndTurn();
  LatencyTotals totals;
  latency.AddTo(&totals);
  EXPECT_GT(Summarize(totals.Sum()).max_ns, 100'000'000u);
}

TEST(TurnLatency, ACounterThatStepsBackCountsNothing) {
  TurnLatency latency;
  latency.BeginTurn(base::ReadTicks() + (uint64_t{1} << 40));
  latency.Note(LatencyClass::kGet, 3);
  latency.EndTurn();
  LatencyTotals totals;
  latency.AddTo(&totals);
  const LatencySummary summary = Summarize(totals.Of(LatencyClass::kGet));
  EXPECT_EQ(summary.count, 3u);
  EXPECT_EQ(summary.max_ns, 0u);
}

}  // namespace
}  // namespace weft::server
