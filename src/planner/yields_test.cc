#include "planner/yields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace weft::planner {
namespace {

Profile Workload(const char* name) { return *ProfileOfWorkload(name); }

double RatioOf(const Yields& yields, const Profile& profile, size_t candidate) {
  return yields.Of(profile)[candidate].ratio;
}

TEST(Yields, WhatWasNeverTriedIsAsPromised) {
  Yields yields(3);
  yields.Note(Workload("K16-G95-S"), 1, 0.5, 1);
  for (const Yields::Yield& yield : yields.Of(Workload("K8-G50-U"))) {
    EXPECT_EQ(yield.ratio, 1);
    EXPECT_FALSE(yield.is_known());
  }
  EXPECT_EQ(RatioOf(yields, Workload("K16-G95-S"), 0), 1);
  EXPECT_NEAR(RatioOf(yields, Workload("K16-G95-S"), 1), 0.5, 1e-9);
}

// The first few are the mean of all, of logarithms; later ones move it by a part.
TEST(Yields, TrialsAreWeighed) {
  Yields yields(1);
  const Profile profile = Workload("K16-G95-S");
  yields.Note(profile, 0, 0.25, 0.25);
  EXPECT_NEAR(RatioOf(yields, profile, 0), 0.25, 1e-9);
  yields.Note(profile, 0, 1, 0.25);
  EXPECT_NEAR(RatioOf(yields, profile, 0), 0.5, 1e-3);
  for (int i = 0; i < 4; i++) yields.Note(profile, 0, 0.5, 1);
  EXPECT_NEAR(RatioOf(yields, profile, 0), 0.5, 1e-2);
  yields.Note(profile, 0, 1, 1);
  EXPECT_NEAR(RatioOf(yields, profile, 0), std::pow(0.5, 1 - Yields::kPart), 1e-2);
  EXPECT_FALSE(yields.Of(profile)[0].is_known());
  for (int i = 0; i < Yields::kTrials; i++) yields.Note(profile, 0, 1, 1);
  EXPECT_NEAR(RatioOf(yields, profile, 0), 1, 1e-2) << "the machine may have changed";
  EXPECT_TRUE(yields.Of(profile)[0].is_known());
}

// Plans with the device that were not tried are likely to have something of what others have.
TEST(Yields, OthersTellALittle) {
  Yields yields(4);
  const Profile profile = Workload("K16-G95-S");
  yields.Note(profile, 0, 0.5, 1);
  EXPECT_EQ(RatioOf(yields, profile, 3), 1) << "one stage says nothing of it";
  yields.Note(profile, 1, 0.5, 1);
  EXPECT_NEAR(RatioOf(yields, profile, 3), std::pow(0.5, 1 / (1 + Yields::kOthers)), 1e-3);
  EXPECT_FALSE(yields.Of(profile)[3].is_known());
  yields.Note(profile, 2, 0.5, 1);
  EXPECT_NEAR(RatioOf(yields, profile, 3), std::pow(0.5, 2 / (2 + Yields::kOthers)), 1e-3);
  yields.Note(profile, 3, 1, 0.1);
  EXPECT_NEAR(RatioOf(yields, profile, 3), 1, 1e-3);
}

TEST(Yields, AreBounded) {
  Yields yields(2);
  const Profile profile = Workload("K16-G95-S");
  yields.Note(profile, 0, 1e9, 1);
  yields.Note(profile, 1, 1e-9, 1);
  EXPECT_NEAR(RatioOf(yields, profile, 0), Yields::kMax, 1e-2);
  EXPECT_NEAR(RatioOf(yields, profile, 1), Yields::kMin, 1e-2);
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()})
    yields.Note(Workload("K8-G50-U"), 0, bad, 1);
  EXPECT_EQ(RatioOf(yields, Workload("K8-G50-U"), 0), 1);
}

// What few queries tell badly is no other workload; what they tell well is one.
TEST(Yields, AreOfAWorkload) {
  Yields yields(1);
  const Profile profile = Workload("K16-G95-S");
  yields.Note(profile, 0, 0.5, 1);
  Profile near = profile;
  near.zipf -= 0.2;
  near.objects *= 1.9;
  near.looks_per_store = 5;
  EXPECT_NEAR(RatioOf(yields, near, 0), 0.5, 1e-9);
  for (const char* other : {"K16-G95-U", "K16-G50-S", "K32-G95-S"})
    EXPECT_EQ(RatioOf(yields, Workload(other), 0), 1) << other;
  Profile larger = profile;
  larger.objects *= 2.1;
  EXPECT_EQ(RatioOf(yields, larger, 0), 1);
}

TEST(Yields, TheOldestWorkloadMakesRoom) {
  Yields yields(1);
  Profile profile = Workload("K16-G100-U");
  const auto at = [&profile](size_t i) {
    profile.value_bytes = std::pow(2.0, static_cast<double>(i));
    return profile;
  };
  for (size_t i = 0; i < Yields::kWorkloads; i++) yields.Note(at(i), 0, 0.5, 1);
  yields.Note(at(0), 0, 0.5, 1);  // used again
  yields.Note(at(Yields::kWorkloads), 0, 0.5, 1);
  EXPECT_NEAR(RatioOf(yields, at(0), 0), 0.5, 1e-3);
  EXPECT_EQ(RatioOf(yields, at(1), 0), 1);
  for (size_t i = 2; i <= Yields::kWorkloads; i++)
    EXPECT_NEAR(RatioOf(yields, at(i), 0), 0.5, 1e-3) << i;
}

// One that was disturbed is tried again, in time.
TEST(Yields, ArePartlyForgotten) {
  Yields yields(2);
  const Profile profile = Workload("K16-G95-S");
  yields.Note(profile, 1, 0.5, 1);
  for (int i = 0; i < 100; i++) yields.Note(profile, 0, 1, 1);
  EXPECT_LT(RatioOf(yields, profile, 1), 0.52);
  for (int i = 0; i < 10'000; i++) yields.Note(profile, 0, 1, 1);
  EXPECT_GT(RatioOf(yields, profile, 1), 0.98);
}

}  // namespace
}  // namespace weft::planner
