#include "processor/mirror/mirror_places.h"

#include "processor/mirror/mirror_test_kit.h"

namespace weft::processor {
namespace {

using Claim = MirrorPlaces::Claim;

constexpr uint32_t kSegments = 40;

class Places : public testing::Test {
 protected:
  // With room for eight, of which 1 to 8 have memory.
  void SetUp() override {
    ASSERT_TRUE(memory_.NewLog(kSegments, 4096).ok());
    places_.Open(kSegments);
    for (uint32_t i = 1; i <= 8; i++) EXPECT_TRUE(Fill(i, 1, Claim::kIdle)) << i;
  }
  bool Fill(uint32_t first, uint32_t count, Claim claim) {
    places_.Note(first, true, false);
    EXPECT_TRUE(places_.Begin(first, count).ok());
    return places_.Holds(first) || Hold(first, count, claim);
  }
  bool Hold(uint32_t first, uint32_t count, Claim claim) {
    Result<bool> held = places_.Hold(first, count, claim);
    EXPECT_TRUE(held.has_value());
    EXPECT_EQ(memory_.held, places_.held());
    return held.has_value() && *held;
  }
  // A round in which these are used.
  void Round(const std::vector<uint32_t>& used) {
    tick_++;
    for (const uint32_t segment : used) uses_[segment] = tick_;
    places_.Age(uses_);
  }
  std::vector<uint32_t> Held() const {
    std::vector<uint32_t> held;
    for (uint32_t i = 1; i < kSegments; i++)
      if (places_.Holds(i)) held.push_back(i);
    return held;
  }

  StrictMemory memory_{8};
  MirrorPlaces places_{&memory_};
  std::vector<uint32_t> uses_ = std::vector<uint32_t>(kSegments, 0);
  uint32_t tick_ = 0;
};

using Numbers = std::vector<uint32_t>;

TEST_F(Places, WhatIsWantedTakesThePlaceOfWhatRests) {
  EXPECT_FALSE(Fill(20, 1, Claim::kIdle));
  for (uint32_t i = 0; i < 4; i++) {
    EXPECT_FALSE(Hold(20, 1, Claim::kWanted)) << i;
    Round({1, 2, 4, 5, 6, 7, 8, 20});
  }
  EXPECT_TRUE(places_.IsWanted(20));
  EXPECT_TRUE(Hold(20, 1, Claim::kWanted));
  EXPECT_EQ(Held(), (Numbers{1, 2, 4, 5, 6, 7, 8, 20}));
  EXPECT_FALSE(Fill(21, 1, Claim::kWanted)) << "nobody rests";
}

TEST_F(Places, WhatIsNewTakesThePlaceOfTheLeastRecentlyUsed) {
  Round({1, 2, 3, 4, 5, 6, 7, 8});
  Round({1, 2, 3, 6, 7, 8});
  Round({1, 2, 3, 4, 6, 7, 8});
  EXPECT_TRUE(Fill(20, 1, Claim::kNew));
  EXPECT_EQ(Held(), (Numbers{1, 2, 3, 4, 6, 7, 8, 20}));
  EXPECT_TRUE(Fill(21, 1, Claim::kNew));
  EXPECT_EQ(Held(), (Numbers{1, 2, 3, 6, 7, 8, 20, 21}));
}

TEST_F(Places, WhatGrowsIsNotSentAway) {
  for (uint32_t i = 1; i <= 8; i++) places_.Note(i, true, true);
  EXPECT_FALSE(Fill(20, 1, Claim::kNew));
  places_.Note(5, true, false);
  EXPECT_TRUE(Hold(20, 1, Claim::kNew));
  EXPECT_FALSE(places_.Holds(5));
}

TEST_F(Places, WhatCountsNoLongerGoesFirst) {
  places_.Note(7, false, false);
  Round({1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_TRUE(Fill(20, 1, Claim::kIdle));
  EXPECT_FALSE(places_.Holds(7));
  EXPECT_FALSE(Fill(21, 1, Claim::kIdle));
}

TEST_F(Places, ARunHasMemoryWholeOrNot) {
  for (uint32_t i = 0; i < 4; i++) Round({1, 2, 3, 4, 5, 6, 20});
  EXPECT_FALSE(Fill(20, 3, Claim::kWanted)) << "two rest, and it needs three";
  EXPECT_EQ(places_.held(), 8u);
  for (uint32_t i = 0; i < 4; i++) Round({1, 2, 3, 4, 5, 20});
  EXPECT_TRUE(Hold(20, 3, Claim::kWanted));
  EXPECT_EQ(Held(), (Numbers{1, 2, 3, 4, 5, 20}));
  // Segments 20 and 21 become segments of their own; 21 begins first.
  EXPECT_TRUE(Fill(21, 1, Claim::kIdle));
  EXPECT_EQ(Held(), (Numbers{1, 2, 3, 4, 5, 21}));
  EXPECT_TRUE(Fill(20, 1, Claim::kIdle));
  EXPECT_EQ(places_.held(), 7u);
  // And a run again: it takes the memory of those in its way.
  EXPECT_TRUE(Fill(20, 3, Claim::kIdle));
  EXPECT_EQ(Held(), (Numbers{1, 2, 3, 4, 5, 20}));
  EXPECT_EQ(places_.held(), 8u);
  EXPECT_FALSE(Fill(30, 9, Claim::kNew)) << "more than there is";
}

TEST_F(Places, ARunThatFindsMemoryForAPartGivesItBack) {
  for (uint32_t i = 0; i < 4; i++) Round({1, 2, 3, 4});
  memory_.room = 6;
  EXPECT_FALSE(Fill(20, 3, Claim::kWanted));
  EXPECT_EQ(memory_.refused, 1u);
  EXPECT_EQ(places_.limit(), 5u);
  EXPECT_TRUE(Fill(21, 1, Claim::kWanted)) << "in the place of one that rests";
  EXPECT_EQ(places_.held(), 5u);
  Round({1});
  EXPECT_EQ(places_.limit(), 8u);
}

TEST_F(Places, KeepsItsMemoryWhereItIsFilledAnew) {
  EXPECT_TRUE(memory_.SetResident(3, 10, 1).ok());
  EXPECT_TRUE(Fill(3, 1, Claim::kIdle));
  EXPECT_EQ(places_.sent_away(), 0u);
  EXPECT_FALSE(Fill(20, 7, Claim::kIdle));
  // Which counts as use.
  for (uint32_t i = 0; i < 3; i++) Round({20});
  EXPECT_TRUE(places_.Begin(3, 1).ok());
  Round({20});
  EXPECT_TRUE(Hold(20, 7, Claim::kWanted));
  EXPECT_EQ(Held(), (Numbers{3, 20}));
}

TEST_F(Places, ARoundWithoutUseIsNone) {
  Round({1});
  EXPECT_FALSE(places_.Age(uses_));
  EXPECT_TRUE(places_.recency(1) > places_.recency(2));
}

}  // namespace
}  // namespace weft::processor
