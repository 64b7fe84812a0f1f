#include "processor/set_share.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace weft::processor {
namespace {

TEST(SetShare, GoesFromBothEndsUntilTheyMeet) {
  SetShare share;
  EXPECT_TRUE(share.empty());
  share.Open(7, true);
  uint32_t set = 0;
  ASSERT_TRUE(share.TakeBack(&set));
  EXPECT_EQ(set, 6u);
  SetShare::Range front = share.TakeFront(4);
  EXPECT_EQ(front.begin, 0u);
  EXPECT_EQ(front.end, 4u);
  ASSERT_TRUE(share.TakeBack(&set));
  EXPECT_EQ(set, 5u);
  front = share.TakeFront(4);
  EXPECT_EQ(front.begin, 4u);
  EXPECT_EQ(front.end, 5u);
  EXPECT_TRUE(share.empty());
  EXPECT_TRUE(share.TakeFront(1).empty());
  EXPECT_FALSE(share.TakeBack(&set));
}

TEST(SetShare, GivesNothingFromTheBackWhereItIsNotShared) {
  SetShare share;
  share.Open(3, false);
  uint32_t set = 0;
  EXPECT_FALSE(share.TakeBack(&set));
  EXPECT_EQ(share.TakeFront(UINT32_MAX).end, 3u);
}

TEST(SetShare, GivesEachSetToOne) {
  constexpr uint32_t kSets = 200'000;
  SetShare share;
  share.Open(kSets, true);
  std::vector<uint8_t> front(kSets), back(kSets);
  std::thread owner([&] {
    for (uint32_t set; share.TakeBack(&set);) back[set]++;
  });
  while (!share.empty()) {
    const SetShare::Range range = share.TakeFront(3);
    for (uint32_t set = range.begin; set < range.end; set++) front[set]++;
  }
  owner.join();
  for (uint32_t set = 0; set < kSets; set++) ASSERT_EQ(front[set] + back[set], 1) << set;
}

}  // namespace
}  // namespace weft::processor
