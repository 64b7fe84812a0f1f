#include "server/rewrite_turns.h"

#include <gtest/gtest.h>

#include <vector>

namespace weft::server {
namespace {

constexpr uint64_t kMax = RewriteTurns::kTurnBytesMax;

// Connections that ask in their order, each for so many commands of so many bytes a turn; a turn is
// a millisecond.
class Asking {
 public:
  explicit Asking(size_t count) : marks_(count), ran_(count) {}

  void BeginTurn() { turns_.BeginTurn(now_ns_ += 1'000'000); }
  void Turn(int commands, uint64_t bytes) {
    BeginTurn();
    for (size_t i = 0; i < marks_.size(); i++) Ask(i, commands, bytes);
    turns_.EndTurn();
  }
  void Ask(size_t i, int commands, uint64_t bytes) {
    for (int command = 0; command < commands && turns_.MayRun(&marks_[i]); command++) {
      turns_.Ran(&marks_[i], bytes);
      ran_[i]++;
    }
  }
  void Replace(size_t i) {
    turns_.Forget(&marks_[i]);
    marks_[i] = {};
  }
  RewriteTurns& turns() { return turns_; }
  const std::vector<int>& ran() const { return ran_; }

 private:
  RewriteTurns turns_;
  uint64_t now_ns_ = 0;
  std::vector<RewriteTurns::Mark> marks_;
  std::vector<int> ran_;
};

TEST(RewriteTurns, WhatIsLittleIsNeverRefused) {
  Asking asking(100);
  for (int turn = 0; turn < 10; turn++) asking.Turn(100, 1000);
  for (const int ran : asking.ran()) EXPECT_EQ(ran, 1000);
}

TEST(RewriteTurns, OneAloneHasEveryTurn) {
  Asking asking(1);
  for (int turn = 0; turn < 10; turn++) asking.Turn(100, kMax / 4);
  EXPECT_EQ(asking.ran()[0], 40);
}

// Whoever comes first in every turn must not keep the others from ever being served.
TEST(RewriteTurns, AllHaveTheirPartWhateverTheOrder) {
  Asking asking(10);
  for (int turn = 0; turn < 50; turn++) asking.Turn(4, kMax / 8);
  for (const int ran : asking.ran()) EXPECT_NEAR(ran, 40, 20);
}

// Nor must those who come anew.
TEST(RewriteTurns, NewOnesWaitBehindThoseWhoWaitAlready) {
  Asking asking(21);
  for (int turn = 0; turn < 100; turn++) {
    asking.BeginTurn();
    for (size_t i = 0; i < 20; i++) {
      asking.Replace(i);
      asking.Ask(i, 5, kMax / 10);
    }
    asking.Ask(20, 1, 2000);
    asking.turns().EndTurn();
  }
  EXPECT_GE(asking.ran()[20], 25);
}

// Between turns of those that wait there are others, as where devices have them.
TEST(RewriteTurns, TurnsOfOthersEndNoRound) {
  Asking asking(10);
  for (int turn = 0; turn < 50; turn++) {
    asking.Turn(4, kMax / 8);
    asking.BeginTurn();
    asking.turns().EndTurn();
  }
  for (const int ran : asking.ran()) EXPECT_NEAR(ran, 40, 20);
}

// Who has a ticket and does not come, for it does not read its answers, holds nobody up.
TEST(RewriteTurns, WhoeverDoesNotComeIsNotWaitedFor) {
  Asking asking(4);
  asking.Turn(2, kMax / 2);  // the first alone runs
  EXPECT_EQ(asking.ran(), (std::vector<int>{2, 0, 0, 0}));
  for (int turn = 0; turn < 200; turn++) {
    asking.BeginTurn();
    for (const size_t i : {0, 1}) asking.Ask(i, 2, kMax / 2);
    asking.turns().EndTurn();
  }
  EXPECT_GE(asking.ran()[0], 100);
  EXPECT_GE(asking.ran()[1], 100);
  // It runs at once where there is room.
  asking.BeginTurn();
  asking.Ask(3, 1, 1);
  EXPECT_EQ(asking.ran()[3], 1);
  asking.turns().EndTurn();
}

TEST(RewriteTurns, WhoeverIsClosedIsNotWaitedFor) {
  Asking asking(3);
  asking.Turn(2, kMax / 2);
  asking.Replace(1);
  asking.Replace(2);
  asking.Turn(2, kMax / 2);
  EXPECT_EQ(asking.ran(), (std::vector<int>{4, 0, 0}));
}

}  // namespace
}  // namespace weft::server
