#include "planner/popularity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <unordered_map>

#include "base/seed_test_kit.h"
#include "base/zipf.h"

namespace weft::planner {
namespace {

double SumOneByOne(uint64_t n, double s) {
  double sum = 0;
  for (uint64_t i = n; i >= 1; i--) sum += std::pow(static_cast<double>(i), -s);
  return sum;
}

TEST(PowerSum, IsWhatAddingUpGives) {
  for (const double s : {0.0, 0.3, 0.5, 0.99, 1.0, 1.2, 1.98, 3.0}) {
    for (const uint64_t n : {1u, 2u, 15u, 16u, 17u, 100u, 100'000u}) {
      const double sum = SumOneByOne(n, s);
      EXPECT_NEAR(PowerSum(static_cast<double>(n), s), sum, sum * 1e-6) << n << " " << s;
    }
  }
}

TEST(PowerSum, GrowsWithPartsOfARank) {
  EXPECT_DOUBLE_EQ(PowerSum(0, 0.99), 0);
  EXPECT_DOUBLE_EQ(PowerSum(0.5, 0.99), 0.5);
  EXPECT_NEAR(PowerSum(1.5, 1), 1.25, 1e-12);
  EXPECT_GT(PowerSum(16.5, 0.99), PowerSum(16, 0.99));
}

TEST(HeadShare, OfUniformKeysIsTheirPart) {
  EXPECT_DOUBLE_EQ(HeadShare(25, 100, 0), 0.25);
  EXPECT_DOUBLE_EQ(HeadShare(0, 100, 0.99), 0);
  EXPECT_DOUBLE_EQ(HeadShare(200, 100, 0.99), 1);
}

// H(10) = 2.9289682..., H(1000) = 7.4854708...
TEST(HeadShare, OfExponentOneIsAQuotientOfHarmonicNumbers) {
  EXPECT_NEAR(HeadShare(10, 1000, 1), 2.9289682 / 7.4854708, 1e-5);
}

// 1 + 1/4 + 1/9 over (1 + 1/2 + 1/3)^2 = 1.3611 / 3.3611
TEST(CollisionShare, OfThreeKeys) {
  EXPECT_NEAR(CollisionShare(3, 1), 1.361111 / 3.361111, 1e-5);
  EXPECT_DOUBLE_EQ(CollisionShare(50, 0), 0.02);
}

TEST(ZipfOfCollisions, IsTheInverse) {
  for (const double s : {0.5, 0.7, 0.99, 1.2}) {
    const double pairs = 1e9, n = 1e6;
    EXPECT_NEAR(ZipfOfCollisions(pairs * CollisionShare(n, s), pairs, n), s, 1e-4) << s;
  }
  EXPECT_EQ(ZipfOfCollisions(10, 1e6, 1e5), 0);  // what uniform keys give
  EXPECT_EQ(ZipfOfCollisions(2, 1e6, 1e9), 0);   // no sign of anything
  EXPECT_EQ(ZipfOfCollisions(0, 0, 1e9), 0);
  EXPECT_EQ(ZipfOfCollisions(1e6, 1e6, 1e9), 3);  // one key alone
}

TEST(ZipfOfCollisions, OfAThousandDrawsIsNear) {
  const base::Zipf zipf(1'000'000, 0.99);
  std::mt19937_64 random(base::TestSeed(7));
  std::uniform_real_distribution<double> unit(0, 1);
  for (int round = 0; round < 20; round++) {
    std::unordered_map<uint64_t, uint32_t> counts;
    double collisions = 0;
    for (int i = 0; i < 1024; i++) collisions += counts[zipf.Rank(unit(random))]++;
    EXPECT_NEAR(ZipfOfCollisions(collisions, 1024.0 * 1023 / 2, 1e6), 0.99, 0.12);
  }
}

TEST(WrittenShare, OfUniformKeysIsTheirPart) {
  EXPECT_NEAR(WrittenShare(1000, 1e6, 0), -std::expm1(-1e-3), 1e-9);
  EXPECT_EQ(WrittenShare(0, 1e6, 0.99), 0);
}

TEST(WrittenShare, IsWhatAddingUpGives) {
  const uint64_t n = 100'000;
  for (const double s : {0.5, 0.99, 1.2}) {
    const double sum = SumOneByOne(n, s);
    for (const double writes : {1.0, 100.0, 10'000.0}) {
      double share = 0;
      for (uint64_t i = 1; i <= n; i++) {
        const double frequency = std::pow(static_cast<double>(i), -s) / sum;
        share += frequency * -std::expm1(-writes * frequency);
      }
      EXPECT_NEAR(WrittenShare(writes, static_cast<double>(n), s), share, share * 0.01)
          << s << " " << writes;
    }
  }
}

}  // namespace
}  // namespace weft::planner
