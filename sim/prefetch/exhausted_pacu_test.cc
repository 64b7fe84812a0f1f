#include "sim/prefetch/exhausted_pacu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/prefetch/prefetch_test_kit.h"

namespace weft::sim {
namespace {

using testing::ElementsAre;

TEST(ExhaustedPacu, TakesValidEntriesInOrder) {
  UnitDriver driver({.pacu = "exhausted"}, SmallShape(), 6);
  driver.table.At(9, 1) = {};
  driver.table.At(9, 4).is_chain = true;
  driver.ReadBucket(9, 7 * kNs);
  auto expected = driver.Whole(9, 0, 7 * kNs);
  for (const int slot : {2, 3, 5}) {
    for (const auto& each : driver.Whole(9, slot, 7 * kNs)) expected.push_back(each);
  }
  EXPECT_EQ(driver.TakeAsked(), expected);
  EXPECT_EQ(driver.counts().objects, 4);
  EXPECT_EQ(driver.counts().lines_asked, 16);
  EXPECT_EQ(driver.counts().lines_missing, 0);
  EXPECT_EQ(driver.counts().lines_excess, 0);
}

TEST(ExhaustedPacu, TakesNoMoreThanItMay) {
  for (int most = 1; most <= 8; ++most) {
    UnitDriver driver({.pacu = "exhausted", .exhausted_max = most}, SmallShape(), 6);
    driver.table.At(2, 0) = {};
    driver.ReadBucket(2, 0);
    const std::vector<int> slots = driver.TakeSlots(2);
    ASSERT_EQ(slots.size(), static_cast<size_t>(std::min(most, 5)));
    for (size_t i = 0; i < slots.size(); ++i) EXPECT_EQ(slots[i], static_cast<int>(i) + 1);
  }
}

TEST(ExhaustedPacu, AnEmptyBucketAsksForNothing) {
  UnitDriver driver({.pacu = "exhausted"}, SmallShape(), 0);
  driver.ReadBucket(2, 0);
  EXPECT_TRUE(driver.TakeAsked().empty());
  EXPECT_EQ(driver.counts().triggers_nothing, 1);
}

}  // namespace
}  // namespace weft::sim
