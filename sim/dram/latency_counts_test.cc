#include "sim/dram/latency_counts.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/seed_test_kit.h"

namespace weft::sim {
namespace {

LatencyCounts Of(const std::vector<Clock>& latencies) {
  LatencyCounts counts;
  for (const Clock latency : latencies) counts.Add(latency);
  return counts;
}

// By hand: 15 20 35 40 50; 30 % is place ceil(1.5) = 2, 40 % place 2, 50 % place 3.
TEST(LatencyCounts, PercentilesAreOfNearestRank) {
  const LatencyCounts counts = Of({50, 15, 40, 20, 35});
  EXPECT_EQ(counts.count(), 5);
  EXPECT_EQ(counts.mean(), 32);
  EXPECT_EQ(counts.Percentile(1), 15);
  EXPECT_EQ(counts.Percentile(200), 15);
  EXPECT_EQ(counts.Percentile(201), 20);
  EXPECT_EQ(counts.Percentile(300), 20);
  EXPECT_EQ(counts.Percentile(400), 20);
  EXPECT_EQ(counts.Percentile(500), 35);
  EXPECT_EQ(counts.Percentile(990), 50);
  EXPECT_EQ(counts.Percentile(1000), 50);
}

TEST(LatencyCounts, OneIsEveryPercentile) {
  EXPECT_EQ(Of({25}).Percentile(1), 25);
  EXPECT_EQ(Of({25}).Percentile(999), 25);
  EXPECT_EQ(Of({0}).Percentile(500), 0);
  EXPECT_EQ(LatencyCounts().mean(), 0);
}

// A hundred of 15 and one that a refresh kept: 99 % is place 100, 99.9 % place 101.
TEST(LatencyCounts, TheLongestShowsFromItsPlaceOn) {
  std::vector<Clock> latencies(100, 15);
  latencies.push_back(129);
  EXPECT_EQ(Of(latencies).Percentile(990), 15);
  EXPECT_EQ(Of(latencies).Percentile(999), 129);
}

TEST(LatencyCounts, LongOnesAreExactToo) {
  std::mt19937_64 random(base::TestSeed(1));
  std::vector<Clock> latencies;
  for (int i = 0; i < 5000; ++i) latencies.push_back(static_cast<Clock>(random() % 20'000));
  const LatencyCounts counts = Of(latencies);
  std::sort(latencies.begin(), latencies.end());
  for (const int per_mille : {1, 250, 500, 900, 990, 999, 1000}) {
    EXPECT_EQ(counts.Percentile(per_mille), latencies[static_cast<size_t>(per_mille * 5 - 1)]);
  }
}

}  // namespace
}  // namespace weft::sim
