// Threads   one.
#include "base/zipf_sampler.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/goodness_of_fit_test_kit.h"
#include "base/seed_test_kit.h"
#include "base/zipf.h"

namespace weft::base {
namespace {

constexpr int kRanksDrawn = 1'000'000;

std::vector<double> ExactShares(uint64_t ranks, double theta) {
  std::vector<double> shares;
  double sum = 0;
  for (uint64_t k = 1; k <= ranks; ++k) {
    shares.push_back(std::pow(static_cast<double>(k), -theta));
    sum += shares.back();
  }
  for (double& share : shares) share /= sum;
  return shares;
}

template <typename Draw>
Fit FitOf(uint64_t ranks, double theta, Draw draw) {
  Random random(TestSeed(1));
  std::vector<uint64_t> counts(ranks);
  for (int i = 0; i < kRanksDrawn; ++i) ++counts[draw(random)];
  return ChiSquare(counts, ExactShares(ranks, theta));
}

TEST(ZipfSampler, FollowsTheLaw) {
  for (const double theta : {0.01, 0.5, 0.99, 0.9999999, 1.0, 1.0000001, 1.2, 3.0})
    for (const uint64_t ranks : {1, 2, 3, 1000, 100'000}) {
      const ZipfSampler zipf(theta, ranks);
      const Fit fit = FitOf(ranks, theta, [&](Random& random) { return zipf.Rank(random); });
      EXPECT_TRUE(fit.ok()) << theta << " " << ranks << ": " << fit.statistic << " above "
                            << fit.critical;
    }
}

// Why there is a sampler beside base/zipf.h; and the check can say no.
TEST(ZipfSampler, TheApproximationOfBaseDoesNotPass) {
  const Zipf approximation(1000, 0.99);
  const Fit fit =
      FitOf(1000, 0.99, [&](Random& random) { return approximation.Rank(random.Unit()); });
  EXPECT_GT(fit.statistic, 2 * fit.critical);
}

TEST(ZipfSampler, ATinyChangeOfThetaDoesNotPass) {
  const ZipfSampler zipf(0.99, 1000);
  EXPECT_FALSE(FitOf(1000, 0.97, [&](Random& random) { return zipf.Rank(random); }).ok());
}

TEST(ZipfSampler, ResizedIsAsNew) {
  ZipfSampler grown(0.99, 10);
  grown.Resize(12345);
  const ZipfSampler fresh(0.99, 12345);
  Random one(TestSeed(7)), other(TestSeed(7));
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(grown.Rank(one), fresh.Rank(other));
}

// Of YCSB's ten thousand million ranks: the first ones, and those up to powers of ten.
TEST(ZipfSampler, FollowsTheLawOverRanksThatCannotBeListed) {
  constexpr uint64_t kRanks = 10'000'000'000;
  const double sum = ZipfSum(kRanks, 0.99);
  std::vector<uint64_t> ends;
  for (uint64_t end = 1; end <= 100; ++end) ends.push_back(end);
  for (uint64_t end = 1000; end <= kRanks; end *= 10) ends.push_back(end);
  std::vector<double> shares;
  double before = 0;
  for (const uint64_t end : ends) {
    shares.push_back((ZipfSum(end, 0.99) - before) / sum);
    before = ZipfSum(end, 0.99);
  }
  const ZipfSampler zipf(0.99, kRanks);
  Random random(TestSeed(3));
  std::vector<uint64_t> counts(ends.size());
  for (int i = 0; i < kRanksDrawn; ++i) {
    const auto end = std::upper_bound(ends.begin(), ends.end(), zipf.Rank(random));
    ++counts[static_cast<size_t>(end - ends.begin())];
  }
  const Fit fit = ChiSquare(counts, shares);
  EXPECT_TRUE(fit.ok()) << fit.statistic << " above " << fit.critical;
}

TEST(ZipfSum, IsTheSum) {
  for (const double theta : {0.01, 0.99, 1.0, 2.0})
    for (const uint64_t n : {1, 999, 1000, 1001, 50'000}) {
      double sum = 0;
      for (uint64_t k = n; k >= 1; --k) sum += std::pow(static_cast<double>(k), -theta);
      EXPECT_NEAR(ZipfSum(n, theta) / sum, 1, 1e-12) << theta << " " << n;
    }
  // What YCSB has as a constant.
  EXPECT_NEAR(ZipfSum(10'000'000'000, 0.99), 26.46902820178302, 1e-6);
}

}  // namespace
}  // namespace weft::base
