#include "base/zipf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace weft::base {
namespace {

// What the generator gives each rank: the share of a fine, even grid of units. No randomness.
std::vector<double> Shares(const Zipf& zipf, int points) {
  std::vector<double> share(zipf.n(), 0);
  for (int i = 0; i < points; ++i) share[zipf.Rank((i + 0.5) / points)] += 1.0 / points;
  return share;
}

TEST(Zipf, ProbabilitiesOfFiveRanksByHand) {
  const Zipf zipf(5, 0.5);
  // 1 + 1/sqrt(2) + 1/sqrt(3) + 1/2 + 1/sqrt(5) = 3.231671
  EXPECT_NEAR(zipf.Probability(0), 1 / 3.231671, 1e-6);
  EXPECT_NEAR(zipf.Probability(3), 0.5 / 3.231671, 1e-6);
  double sum = 0;
  for (uint64_t k = 0; k < 5; ++k) sum += zipf.Probability(k);
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(Zipf, TwoMostPopularRanksAreExact) {
  for (const uint64_t n : {2u, 3u, 10u, 1000u}) {
    const Zipf zipf(n, 0.99);
    const auto share = Shares(zipf, 1'000'000);
    EXPECT_NEAR(share[0], zipf.Probability(0), 2e-6) << n;
    EXPECT_NEAR(share[1], zipf.Probability(1), 2e-6) << n;
  }
}

// The approximation of the rarer ranks: never more than a fifth off in any, and the distribution
// function never more than 2 points.
TEST(Zipf, RarerRanksFollowTheLaw) {
  for (const uint64_t n : {8u, 100u, 5000u}) {
    const Zipf zipf(n, 0.99);
    const auto share = Shares(zipf, 4'000'000);
    double got = 0, law = 0;
    for (uint64_t k = 0; k < n; ++k) {
      got += share[k];
      law += zipf.Probability(k);
      ASSERT_NEAR(got, law, 0.02) << "n " << n << " rank " << k;
      ASSERT_NEAR(share[k] / zipf.Probability(k), 1, 0.2) << "n " << n << " rank " << k;
    }
    EXPECT_NEAR(got, 1, 1e-9);
  }
}

TEST(Zipf, RanksStayBelowN) {
  const Zipf zipf(1000, 0.99);
  EXPECT_EQ(zipf.Rank(0), 0u);
  EXPECT_EQ(zipf.Rank(std::nextafter(1.0, 0.0)), 999u);
}

TEST(Zipf, ScrambleStaysInRangeAndSpreads) {
  const Zipf zipf(100'000, 0.99);
  std::set<uint64_t> keys;
  for (uint64_t rank = 0; rank < 1000; ++rank) {
    const uint64_t key = zipf.Scramble(rank);
    ASSERT_LT(key, zipf.n());
    keys.insert(key);
  }
  EXPECT_GT(keys.size(), 980u);  // a hash: a few ranks may meet
  EXPECT_LT(*keys.begin(), 2000u);
  EXPECT_GT(*keys.rbegin(), 98'000u);
}

}  // namespace
}  // namespace weft::base
