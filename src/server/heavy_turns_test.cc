#include "server/heavy_turns.h"

#include <gtest/gtest.h>

#include <array>

namespace weft::server {
namespace {

constexpr uint64_t kTurnMax = 1000;

TEST(HeavyTurns, OneLongCommandEndsTheTurn) {
  HeavyTurns turns(kTurnMax);
  HeavyTurns::Mark one, other;
  turns.BeginTurn();
  EXPECT_TRUE(turns.MayRun(one));
  turns.Ran(&one, kTurnMax);
  EXPECT_FALSE(turns.MayRun(other));
  turns.EndTurn();
}

TEST(HeavyTurns, ShortOnesShareATurn) {
  HeavyTurns turns(kTurnMax);
  HeavyTurns::Mark mark;
  turns.BeginTurn();
  int ran = 0;
  while (turns.MayRun(mark)) {
    turns.Ran(&mark, kTurnMax / 10);
    ran++;
  }
  EXPECT_EQ(ran, 10);
}

// Whoever comes first in every turn must not keep the others from ever being served.
TEST(HeavyTurns, AllAreServedWhateverTheOrder) {
  HeavyTurns turns(kTurnMax);
  std::array<HeavyTurns::Mark, 5> marks;
  std::array<int, 5> served = {};
  for (int turn = 0; turn < 60; turn++) {
    turns.BeginTurn();
    for (size_t i = 0; i < marks.size(); i++) {
      if (!turns.MayRun(marks[i])) continue;
      turns.Ran(&marks[i], kTurnMax);
      served[i]++;
    }
    turns.EndTurn();
  }
  for (const int times : served) EXPECT_EQ(times, 10);
}

// What one has in a turn is its part, however many commands that is.
TEST(HeavyTurns, APartIsAllThatOneHasInATurn) {
  HeavyTurns turns(kTurnMax);
  std::array<HeavyTurns::Mark, 3> marks;
  std::array<int, 3> served = {};
  for (int turn = 0; turn < 40; turn++) {
    turns.BeginTurn();
    for (size_t i = 0; i < marks.size(); i++) {
      for (int command = 0; command < 5 && turns.MayRun(marks[i]); command++) {
        turns.Ran(&marks[i], kTurnMax / 5);
        served[i]++;
      }
    }
    turns.EndTurn();
  }
  for (const int times : served) EXPECT_EQ(times, 50);
}

TEST(HeavyTurns, OneAloneIsServedAgainAndAgain) {
  HeavyTurns turns(kTurnMax);
  HeavyTurns::Mark mark;
  for (int turn = 0; turn < 10; turn++) {
    turns.BeginTurn();
    EXPECT_TRUE(turns.MayRun(mark));
    turns.Ran(&mark, kTurnMax);
    turns.EndTurn();
  }
}

}  // namespace
}  // namespace weft::server
