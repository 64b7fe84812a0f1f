#include "server/heavy_turns.h"

#include <gtest/gtest.h>

#include <array>

namespace weft::server {
namespace {

constexpr uint64_t kLongNs = HeavyTurns::kTurnNsMax;

TEST(HeavyTurns, OneLongCommandEndsTheTurn) {
  HeavyTurns turns;
  HeavyTurns::Mark one, other;
  turns.BeginTurn();
  EXPECT_TRUE(turns.MayRun(one));
  turns.Ran(&one, kLongNs);
  EXPECT_FALSE(turns.MayRun(other));
  turns.EndTurn();
}

TEST(HeavyTurns, ShortOnesShareATurn) {
  HeavyTurns turns;
  HeavyTurns::Mark mark;
  turns.BeginTurn();
  int ran = 0;
  while (turns.MayRun(mark)) {
    turns.Ran(&mark, kLongNs / 10);
    ran++;
  }
  EXPECT_EQ(ran, 10);
}

// Whoever comes first in every turn must not keep the others from ever being served.
TEST(HeavyTurns, AllAreServedWhateverTheOrder) {
  HeavyTurns turns;
  std::array<HeavyTurns::Mark, 5> marks;
  std::array<int, 5> served = {};
  for (int turn = 0; turn < 60; turn++) {
    turns.BeginTurn();
    for (size_t i = 0; i < marks.size(); i++) {
      if (!turns.MayRun(marks[i])) continue;
      turns.Ran(&marks[i], kLongNs);
      served[i]++;
    }
    turns.EndTurn();
  }
  for (const int times : served) EXPECT_EQ(times, 10);
}

TEST(HeavyTurns, OneAloneIsServedAgainAndAgain) {
  HeavyTurns turns;
  HeavyTurns::Mark mark;
  for (int turn = 0; turn < 10; turn++) {
    turns.BeginTurn();
    EXPECT_TRUE(turns.MayRun(mark));
    turns.Ran(&mark, kLongNs);
    turns.EndTurn();
  }
}

}  // namespace
}  // namespace weft::server
