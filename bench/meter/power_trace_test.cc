#include "bench/meter/power_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace weft::bench {
namespace {

using testing::HasSubstr;

PowerTrace Ramp() {
  PowerTrace trace;
  for (int i = 0; i <= 10; ++i) EXPECT_TRUE(trace.Add(Seconds(i), Watts(10.0 * i)).ok());
  return trace;
}

double Energy(const PowerTrace& trace, double from, double to, double gap_max) {
  auto energy = trace.Between(Seconds(from), Seconds(to), Seconds(gap_max));
  EXPECT_TRUE(energy) << energy.error().ToString();
  return energy ? energy->value() : -1;
}

TEST(PowerTrace, TheAreaUnderARamp) {
  EXPECT_DOUBLE_EQ(500, Energy(Ramp(), 0, 10, 1));
  EXPECT_DOUBLE_EQ(5 * (4.5 * 4.5 - 2.25 * 2.25), Energy(Ramp(), 2.25, 4.5, 1));
  EXPECT_DOUBLE_EQ(5 * (3.75 * 3.75 - 3.25 * 3.25), Energy(Ramp(), 3.25, 3.75, 1));
}

TEST(PowerTrace, BeyondItsEndsThePowerIsHeld) {
  EXPECT_DOUBLE_EQ(500 + 50, Energy(Ramp(), -0.5, 10.5, 1));
  EXPECT_DOUBLE_EQ(0.25 * 100, Energy(Ramp(), 10.25, 10.5, 1));
  PowerTrace one;
  ASSERT_TRUE(one.Add(Seconds(1), Watts(7)).ok());
  EXPECT_DOUBLE_EQ(14, Energy(one, 0, 2, 1));
}

TEST(PowerTrace, TooLittleIsAnError) {
  EXPECT_THAT(Ramp().Between(Seconds(0), Seconds(11.5), Seconds(1)).error().ToString(),
              HasSubstr("readings from 0.000 s to 10.000 s do not cover 0.000 s to 11.500 s"));
  EXPECT_FALSE(Ramp().Between(Seconds(-2), Seconds(3), Seconds(1)));
  EXPECT_FALSE(Ramp().Between(Seconds(3), Seconds(2), Seconds(1)));
  EXPECT_FALSE(PowerTrace().Between(Seconds(0), Seconds(1), Seconds(1)));
}

TEST(PowerTrace, AGapWithinIsAnErrorOutsideItIsNot) {
  PowerTrace trace = Ramp();
  ASSERT_TRUE(trace.Add(Seconds(20), Watts(1)).ok());
  ASSERT_TRUE(trace.Add(Seconds(21), Watts(1)).ok());
  EXPECT_THAT(trace.Between(Seconds(5), Seconds(21), Seconds(2)).error().ToString(),
              HasSubstr("no reading for 10.000 s from 10.000 s on"));
  EXPECT_TRUE(trace.Between(Seconds(5), Seconds(10), Seconds(2)));
}

TEST(PowerTrace, WhatIsNoReadingIsRefused) {
  PowerTrace trace = Ramp();
  EXPECT_THAT(trace.Add(Seconds(10), Watts(1)).ToString(), HasSubstr("out of order"));
  EXPECT_FALSE(trace.Add(Seconds(11), Watts(-1)).ok());
  EXPECT_FALSE(trace.Add(Seconds(11), Watts(std::numeric_limits<double>::quiet_NaN())).ok());
  EXPECT_EQ(11u, trace.size());
}

}  // namespace
}  // namespace weft::bench
