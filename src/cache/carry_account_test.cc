#include "cache/carry_account.h"

#include <gtest/gtest.h>

namespace weft::cache {
namespace {

TEST(CarryAccount, CarriesItsShareInTheMeanAndNoMoreThanIsThere) {
  CarryAccount account(1000, CarryAccount::kCarryPercent);
  uint64_t carried = 0;
  for (int i = 0; i < 1000; i++) {
    const uint64_t granted = account.Draw(1000, 1000);
    ASSERT_LE(granted, 1000u);
    carried += granted;
  }
  const uint64_t share = 1000 * 1000 * CarryAccount::kCarryPercent / 100;
  EXPECT_LE(carried, share + CarryAccount::kVictimsSaved * 1000);
  EXPECT_GE(carried, share);
}

TEST(CarryAccount, WhatOthersDidNotNeedPaysForOneThatWasUsed) {
  CarryAccount account(1000, 85);
  while (account.Draw(1000, 1000) == 1000) continue;
  EXPECT_LT(account.Draw(1000, 1000), 1000u);
  for (int i = 0; i < 4; i++) EXPECT_EQ(account.Draw(1000, 0), 0u);
  for (int i = 0; i < 4; i++) EXPECT_EQ(account.Draw(1000, 1000), 1000u);
}

TEST(CarryAccount, WhatLiesAloneStaysWholeOrNotAtAll) {
  CarryAccount account(1000, 98);
  uint64_t stayed = 0;
  for (int i = 0; i < 1000; i++) stayed += account.DrawWhole(40000);
  EXPECT_GE(stayed, 980u);
  EXPECT_LE(stayed, 980u + CarryAccount::kVictimsSaved);
}

TEST(CarryAccount, WhatWasNotCarriedComesBack) {
  CarryAccount account(1000, 85);
  while (account.Draw(1000, 1000) == 1000) continue;
  EXPECT_EQ(account.Draw(0, 1000), 0u);
  account.Return(600);
  EXPECT_EQ(account.Draw(0, 1000), 600u);
}

}  // namespace
}  // namespace weft::cache
