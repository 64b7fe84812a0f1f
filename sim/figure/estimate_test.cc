#include "sim/figure/estimate.h"

#include <cmath>

#include <gtest/gtest.h>

namespace weft::sim {
namespace {

using Values = std::vector<double>;

// By hand: mean 3, variance 2.5, of the mean 0.5; t(4) = 2.776.
TEST(Estimate, IsStudents) {
  const Estimate estimate = EstimateOf({1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(estimate.mean, 3);
  EXPECT_NEAR(estimate.half_width, 1.9629, 0.0001);
  EXPECT_NEAR(estimate.low(), 1.0371, 0.0001);
  EXPECT_NEAR(estimate.high(), 4.9629, 0.0001);
}

TEST(Estimate, OfOneRunSaysNothingOfItsError) {
  EXPECT_DOUBLE_EQ(EstimateOf({7}).mean, 7);
  EXPECT_FALSE(EstimateOf({7}).has_half_width);
  EXPECT_DOUBLE_EQ(EstimateOf({7}).low(), 7);
  EXPECT_TRUE(EstimateOf({7, 7}).has_half_width);
}

TEST(Estimate, OfManyUsesTheLastQuantile) {
  // 60 of +-1: variance 60 / 59, of the mean 1 / 59.
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(i % 2 == 0 ? 1 : -1);
  EXPECT_NEAR(EstimateOf(values).half_width, 2.086 / std::sqrt(59.0), 1e-9);
}

// What is common to the runs of a pair doesn't count.
TEST(Estimate, IsAboveComparesPairs) {
  EXPECT_TRUE(IsAbove({1.1, 2.1, 3.1}, {1.0, 2.0, 3.0}));
  EXPECT_FALSE(IsAbove({1.0, 2.0, 3.0}, {1.1, 2.1, 3.1}));
  EXPECT_FALSE(IsAbove({1.2, 1.9, 3.1}, {1.0, 2.0, 3.0}));  // their mean is above
  EXPECT_FALSE(IsAbove(Values{1.0}, Values{1.0}));
  EXPECT_TRUE(IsAbove(Values{1.0}, Values{0.9}));
  EXPECT_TRUE(IsAbove({0.1, 0.11, 0.12}, 0.0));
  EXPECT_FALSE(IsAbove({0.1, -0.1, 0.12}, 0.0));
}

TEST(Estimate, SpearmanIsOfRanks) {
  EXPECT_DOUBLE_EQ(SpearmanCorrelation({1, 2, 3, 4}, {10, 11, 1000, 1001}), 1);
  EXPECT_DOUBLE_EQ(SpearmanCorrelation({1, 2, 3, 4}, {4, 3, 2, 1}), -1);
  // 1 - 6 * (1 + 1) / (5 * 24)
  EXPECT_NEAR(SpearmanCorrelation({1, 2, 3, 4, 5}, {2, 1, 3, 4, 5}), 0.9, 1e-12);
  // Ranks 0.5 0.5 2 against 0 1 2: by hand 1.5 / sqrt(1.5 * 2).
  EXPECT_NEAR(SpearmanCorrelation({3, 3, 5}, {1, 2, 3}), 0.8660254, 1e-6);
  EXPECT_DOUBLE_EQ(SpearmanCorrelation({1, 1}, {1, 2}), 0);
  EXPECT_DOUBLE_EQ(SpearmanCorrelation({}, {}), 0);
}

}  // namespace
}  // namespace weft::sim
