#include "planner/yields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace weft::planner {
namespace {

Profile Workload(const char* name) { return *ProfileOfWorkload(name); }

constexpr double kPromise = 1e6;  // of each plan
constexpr size_t kPlans = 4;

struct TestYields : Yields {
  TestYields() : Yields(kPlans) {}
  void NoteRatio(const Profile& profile, size_t candidate, double ratio, double part,
                 bool is_fresh = false) {
    Visit(profile, ++now_ns);
    Note(candidate, is_fresh, ratio * kPromise, part);
  }
  Yield Of(const Profile& profile, size_t candidate, bool is_fresh = false) {
    Visit(profile, ++now_ns);
    return Yields::Of(std::vector<double>(kPlans, kPromise), is_fresh)[candidate];
  }
  uint64_t now_ns = 0;
};

double RatioOf(TestYields& yields, const Profile& profile, size_t candidate) {
  return yields.Of(profile, candidate).ratio;
}

TEST(Yields, WhatWasNeverTriedIsAsPromised) {
  TestYields yields;
  yields.NoteRatio(Workload("K16-G95-S"), 1, 0.5, 1);
  for (size_t i = 0; i < kPlans; i++) {
    EXPECT_EQ(RatioOf(yields, Workload("K8-G50-U"), i), 1);
    EXPECT_FALSE(yields.Of(Workload("K8-G50-U"), i).is_known);
  }
  EXPECT_EQ(RatioOf(yields, Workload("K16-G95-S"), 0), 1);
  EXPECT_NEAR(RatioOf(yields, Workload("K16-G95-S"), 1), 0.5, 1e-9);
}

// The first few are the mean of all, of logarithms; later ones move it by a part.
TEST(Yields, TrialsAreWeighed) {
  TestYields yields;
  const Profile profile = Workload("K16-G95-S");
  yields.NoteRatio(profile, 0, 0.25, 0.25);
  EXPECT_NEAR(RatioOf(yields, profile, 0), 0.25, 1e-9);
  yields.NoteRatio(profile, 0, 1, 0.25);
  EXPECT_NEAR(RatioOf(yields, profile, 0), 0.5, 1e-3);
  for (int i = 0; i < 4; i++) yields.NoteRatio(profile, 0, 0.5, 1);
  EXPECT_NEAR(RatioOf(yields, profile, 0), 0.5, 1e-2);
  yields.NoteRatio(profile, 0, 1, 1);
  EXPECT_NEAR(RatioOf(yields, profile, 0), std::pow(0.5, 1 - Yields::kPart), 1e-2);
  EXPECT_FALSE(yields.Of(profile, 0).is_known);
  for (int i = 0; i < Yields::kTrials; i++) yields.NoteRatio(profile, 0, 1, 1);
  EXPECT_NEAR(RatioOf(yields, profile, 0), 1, 1e-2) << "the machine may have changed";
  EXPECT_TRUE(yields.Of(profile, 0).is_known);
}

// What makes one stage slower than was calibrated does so to all; beyond that, plans with the
// device that were not tried are likely to have something of what others have.
TEST(Yields, OthersTellALittle) {
  TestYields yields;
  const Profile profile = Workload("K16-G95-S");
  yields.NoteRatio(profile, 1, 0.5, 1);
  EXPECT_EQ(RatioOf(yields, profile, 0), 1) << "of one stage they say nothing";
  EXPECT_NEAR(RatioOf(yields, profile, 3), std::pow(0.5, 1 / (1 + Yields::kOthers)), 1e-3);
  EXPECT_FALSE(yields.Of(profile, 3).is_known);
  yields.NoteRatio(profile, 2, 0.5, 1);
  EXPECT_NEAR(RatioOf(yields, profile, 3), std::pow(0.5, 2 / (2 + Yields::kOthers)), 1e-3);
  yields.NoteRatio(profile, 0, 0.5, 1);
  EXPECT_NEAR(RatioOf(yields, profile, 3), 0.5, 1e-3) << "all are slower, by as much";
  yields.NoteRatio(profile, 3, 1, 0.1);
  EXPECT_NEAR(RatioOf(yields, profile, 3), 1, 1e-3);
}

TEST(Yields, AreBounded) {
  TestYields yields;
  const Profile profile = Workload("K16-G95-S");
  yields.NoteRatio(profile, 0, 1e9, 1);
  yields.NoteRatio(profile, 1, 1e-9, 1);
  EXPECT_NEAR(RatioOf(yields, profile, 0), Yields::kMax, 1e-2);
  EXPECT_NEAR(RatioOf(yields, profile, 1), Yields::kMin, 1e-2);
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()})
    yields.NoteRatio(Workload("K8-G50-U"), 0, bad, 1);
  EXPECT_EQ(RatioOf(yields, Workload("K8-G50-U"), 0), 1);
}

// What few queries tell badly is no other workload; what they tell well is one.
TEST(Yields, AreOfAWorkload) {
  TestYields yields;
  const Profile profile = Workload("K16-G95-S");
  yields.NoteRatio(profile, 0, 0.5, 1);
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

// The first window says 5.8 % of stores, ten thousand of them 5.0: that is one workload.
TEST(Yields, WhatFewQueriesSayIsNotTakenForTrue) {
  Profile few = Workload("K16-G95-S");
  few.get_share = 0.942;
  few.counted = 2048;
  Profile many = Workload("K16-G95-S");
  many.counted = 2048 * 64;
  TestYields yields;
  yields.NoteRatio(few, 1, 0.5, 1);
  const uint64_t number = yields.number();
  EXPECT_NEAR(RatioOf(yields, many, 1), 0.5, 1e-9);
  EXPECT_EQ(number, yields.number());
  // Now that it is known well, 5.8 % of as many are another one.
  few.counted = many.counted;
  EXPECT_TRUE(yields.Visit(few, ++yields.now_ns));
  EXPECT_NE(number, yields.number());
  // What few say of it does not take the place of what many said.
  Profile later = many;
  later.get_share = 0.958;
  later.counted = 2048;
  yields.Visit(many, ++yields.now_ns);
  yields.Visit(later, ++yields.now_ns);
  EXPECT_EQ(number, yields.number());
  EXPECT_FALSE(yields.Visit(many, ++yields.now_ns));
}

TEST(Yields, TheOldestWorkloadMakesRoom) {
  TestYields yields;
  Profile profile = Workload("K16-G100-U");
  const auto at = [&profile](size_t i) {
    profile.value_bytes = std::pow(2.0, static_cast<double>(i));
    return profile;
  };
  for (size_t i = 0; i < Yields::kWorkloads; i++) yields.NoteRatio(at(i), 0, 0.5, 1);
  yields.NoteRatio(at(0), 0, 0.5, 1);  // used again
  yields.NoteRatio(at(Yields::kWorkloads), 0, 0.5, 1);
  EXPECT_NEAR(RatioOf(yields, at(0), 0), 0.5, 1e-3);
  for (size_t i = 2; i <= Yields::kWorkloads; i++)
    EXPECT_NEAR(RatioOf(yields, at(i), 0), 0.5, 1e-3) << i;
  EXPECT_EQ(RatioOf(yields, at(1), 0), 1);
}

// What the model promises may be corrected: what was measured stays what it was.
TEST(Yields, AreOfWhatIsPromisedByNow) {
  TestYields yields;
  const Profile profile = Workload("K16-G95-S");
  yields.NoteRatio(profile, 0, 0.5, 1);
  EXPECT_NEAR(yields.OfTried(0, 0.8 * kPromise, false).ratio, 0.5 / 0.8, 1e-9);
  EXPECT_EQ(yields.OfTried(1, 0.8 * kPromise, false).ratio, 1);
  const std::vector<double> corrected(kPlans, 0.5 * kPromise);
  EXPECT_NEAR(yields.Yields::Of(corrected, false)[0].ratio, 1, 1e-9);
  EXPECT_NEAR(yields.Yields::Of(corrected, false)[2].ratio, 1, 1e-9);
}

// What a plan yields in its first milliseconds says nothing of later, nor that of them.
TEST(Yields, FreshAndSettledOnesAreKeptApart) {
  TestYields yields;
  const Profile profile = Workload("K16-G95-S");
  yields.NoteRatio(profile, 1, 0.25, 1, true);
  EXPECT_EQ(yields.Of(profile, 1).ratio, 1);
  EXPECT_NEAR(yields.Of(profile, 1, true).ratio, 0.25, 1e-9);
  yields.NoteRatio(profile, 1, 0.75, 1, false);
  EXPECT_NEAR(yields.Of(profile, 1).ratio, 0.75, 1e-9);
  EXPECT_NEAR(yields.Of(profile, 1, true).ratio, 0.25, 1e-3);
  EXPECT_EQ(yields.OfTried(1, kPromise, true).ratio, yields.Of(profile, 1, true).ratio);
}

TEST(Yields, VisitsHaveNumbersThatStay) {
  TestYields yields;
  EXPECT_EQ(yields.number(), 0u);
  EXPECT_TRUE(yields.Visit(Workload("K16-G95-S"), 1));
  const uint64_t first = yields.number();
  EXPECT_FALSE(yields.Visit(Workload("K16-G95-S"), 2));
  EXPECT_EQ(yields.number(), first);
  EXPECT_TRUE(yields.Visit(Workload("K8-G50-U"), 3));
  EXPECT_NE(yields.number(), first);
  EXPECT_NE(yields.number(), 0u);
  EXPECT_TRUE(yields.Visit(Workload("K16-G95-S"), 4));
  EXPECT_EQ(yields.number(), first);
}

// A workload that came for moments before is likely to go soon; one that has stayed is not.
TEST(Yields, StaysAreAsLongAsTheyWere) {
  constexpr uint64_t kMs = 1'000'000;
  Yields yields(kPlans);
  EXPECT_TRUE(yields.IsLong(0));
  uint64_t now = 0;
  yields.Visit(Workload("K16-G95-S"), now);
  EXPECT_TRUE(yields.IsLong(now)) << "nothing is known";
  yields.Visit(Workload("K8-G50-U"), now += 3 * kMs);
  EXPECT_TRUE(yields.IsLong(now));
  yields.Visit(Workload("K16-G95-S"), now += 3 * kMs);
  EXPECT_FALSE(yields.IsLong(now));
  EXPECT_FALSE(yields.IsLong(now + Yields::kLongNs - 1));
  EXPECT_TRUE(yields.IsLong(now + Yields::kLongNs));
  yields.Visit(Workload("K16-G95-S"), now += 1 * kMs);
  EXPECT_FALSE(yields.IsLong(now + Yields::kLongNs - 2 * kMs)) << "it is the same stay";
  EXPECT_TRUE(yields.IsLong(now + Yields::kLongNs - 1 * kMs));
  // The mean follows.
  for (int i = 0; i < 4; i++) {
    yields.Visit(Workload("K8-G50-U"), now += 1000 * kMs);
    yields.Visit(Workload("K16-G95-S"), now += 3 * kMs);
  }
  EXPECT_TRUE(yields.IsLong(now));
  yields.Visit(Workload("K8-G50-U"), now += 1 * kMs);
  EXPECT_FALSE(yields.IsLong(now));
}

// The skew that few queries seem to have is another workload's yield, and no end of a stay.
TEST(Yields, AStayGoesOnWhereTheSkewSeemsAnother) {
  constexpr uint64_t kMs = 1'000'000;
  Yields yields(kPlans);
  const Profile profile = Workload("K16-G95-U");
  Profile skewed = profile;
  skewed.zipf = 0.5;
  EXPECT_TRUE(yields.Visit(profile, 0));
  EXPECT_TRUE(yields.Visit(skewed, 3 * kMs));
  EXPECT_TRUE(yields.IsLong(3 * kMs));
  EXPECT_TRUE(yields.Visit(profile, 6 * kMs));
  EXPECT_TRUE(yields.IsLong(6 * kMs)) << "it came for a moment only, or so it seemed";
}

// What a plan in force is held for counts for those that were never tried, too.
TEST(Yields, OneThatIsNotKnownIsHeld) {
  TestYields yields;
  const Profile profile = Workload("K16-G95-S");
  const std::vector<double> promises(kPlans, kPromise);
  yields.NoteRatio(profile, 0, 0.5, 1);
  EXPECT_NEAR(yields.Yields::Of(promises, false)[3].ratio, 0.5, 1e-3);
  const auto held = yields.Yields::Of(promises, false, Yields::Held{0, 1});
  EXPECT_EQ(held[0].ratio, 1);
  EXPECT_EQ(held[3].ratio, 1);
  EXPECT_EQ(yields.Yields::Of(promises, false, Yields::Held{2, 0.75})[2].ratio, 0.75);
  for (int i = 0; i < Yields::kTrials; i++) yields.NoteRatio(profile, 0, 0.5, 1);
  EXPECT_NEAR(yields.Yields::Of(promises, false, Yields::Held{0, 1})[0].ratio, 0.5, 1e-2);
}

// One that was disturbed is tried again, in time.
TEST(Yields, ArePartlyForgotten) {
  TestYields yields;
  const Profile profile = Workload("K16-G95-S");
  yields.NoteRatio(profile, 1, 0.5, 1);
  for (int i = 0; i < 100; i++) yields.NoteRatio(profile, 0, 1, 1);
  EXPECT_LT(RatioOf(yields, profile, 1), 0.52);
  for (int i = 0; i < 80'000; i++) yields.NoteRatio(profile, 0, 1, 1);
  EXPECT_GT(RatioOf(yields, profile, 1), 0.98);
}

}  // namespace
}  // namespace weft::planner
