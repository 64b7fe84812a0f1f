#include "cache/room_wait.h"

#include <gtest/gtest.h>

namespace weft::cache {
namespace {

constexpr uint64_t kNapNs = 100'000;

TEST(RoomWait, EndsAfterATwentiethOfASecondInWhichNothingComes) {
  RoomWait wait(7);
  uint64_t ns = 0;
  for (; !wait.is_over(); ns += kNapNs) wait.Note(kNapNs, 7);
  EXPECT_EQ(ns, 50'000'000u);
}

TEST(RoomWait, GoesOnWhileOthersDoButForASecondAtMost) {
  RoomWait wait(0);
  uint64_t ns = 0;
  // Something moves every 40 ms.
  for (; !wait.is_over(); ns += kNapNs) wait.Note(kNapNs, ns / 40'000'000);
  EXPECT_EQ(ns, 1'000'000'000u);
}

}  // namespace
}  // namespace weft::cache
