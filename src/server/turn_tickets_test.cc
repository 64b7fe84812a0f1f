#include "server/turn_tickets.h"

#include <gtest/gtest.h>

#include <vector>

namespace weft::server {
namespace {

constexpr uint64_t kMax = 1'000'000;
constexpr uint64_t kAskedMin = kMax / 10'000;

// Connections that ask in their order, each for so many commands of such a cost a turn; a turn is a
// millisecond.
class Asking {
 public:
  explicit Asking(size_t count) : marks_(count), ran_(count) {}

  void BeginTurn(uint64_t ns = 1'000'000) { turns_.BeginTurn(now_ns_ += ns); }
  void Turn(int commands, uint64_t cost) {
    BeginTurn();
    for (size_t i = 0; i < marks_.size(); i++) Ask(i, commands, cost);
  }
  // Returns how many ran.
  int Ask(size_t i, int commands, uint64_t cost) {
    bool begins_to_wait = false;
    int ran = 0;
    for (; ran < commands && turns_.MayRun(&marks_[i], &begins_to_wait); ran++)
      turns_.Ran(&marks_[i], cost);
    began_ += begins_to_wait;
    ran_[i] += ran;
    return ran;
  }
  // So little that it does not ask.
  void RunLittle(size_t i) { turns_.Ran(&marks_[i], kAskedMin - 1); }
  void RunUnasked(size_t i, uint64_t cost) { turns_.Ran(&marks_[i], cost); }
  void Replace(size_t i) {
    turns_.Forget(&marks_[i]);
    marks_[i] = {};
  }
  int began() const { return began_; }
  const std::vector<int>& ran() const { return ran_; }

 private:
  TurnTickets turns_{kMax, kAskedMin};
  uint64_t now_ns_ = 0;
  std::vector<TurnTickets::Mark> marks_;
  std::vector<int> ran_;
  int began_ = 0;  // to wait
};

TEST(TurnTickets, WhatIsLittleIsNeverRefused) {
  Asking asking(100);
  for (int turn = 0; turn < 10; turn++) asking.Turn(100, kAskedMin);
  for (const int ran : asking.ran()) EXPECT_EQ(ran, 1000);
}

TEST(TurnTickets, OneAloneHasEveryTurn) {
  Asking asking(1);
  for (int turn = 0; turn < 10; turn++) asking.Turn(100, kMax / 4);
  EXPECT_EQ(asking.ran()[0], 40);
}

// Whoever comes first in every turn must not keep the others from ever being served.
TEST(TurnTickets, AllHaveTheirPartWhateverTheOrder) {
  Asking asking(10);
  for (int turn = 0; turn < 50; turn++) asking.Turn(4, kMax / 8);
  for (const int ran : asking.ran()) EXPECT_NEAR(ran, 40, 20);
}

// Nor must those who come anew.
TEST(TurnTickets, NewOnesWaitBehindThoseWhoWaitAlready) {
  Asking asking(21);
  for (int turn = 0; turn < 100; turn++) {
    asking.BeginTurn();
    for (size_t i = 0; i < 20; i++) {
      asking.Replace(i);
      asking.Ask(i, 5, kMax / 10);
    }
    asking.Ask(20, 1, 2000);
  }
  EXPECT_GE(asking.ran()[20], 25);
}

// Between turns of those that wait there are others, as where devices have them.
TEST(TurnTickets, TurnsOfOthersEndNoRound) {
  Asking asking(10);
  for (int turn = 0; turn < 50; turn++) {
    asking.Turn(4, kMax / 8);
    asking.BeginTurn();
  }
  for (const int ran : asking.ran()) EXPECT_NEAR(ran, 40, 20);
}

// Who has a ticket and does not come, for it does not read its answers, holds nobody up.
TEST(TurnTickets, WhoeverDoesNotComeIsNotWaitedFor) {
  Asking asking(4);
  asking.Turn(2, kMax / 2);  // the first alone runs
  EXPECT_EQ(asking.ran(), (std::vector<int>{2, 0, 0, 0}));
  for (int turn = 0; turn < 200; turn++) {
    asking.BeginTurn();
    for (const size_t i : {0, 1}) asking.Ask(i, 2, kMax / 2);
  }
  EXPECT_GE(asking.ran()[0], 100);
  EXPECT_GE(asking.ran()[1], 100);
  // It runs at once where there is room.
  asking.BeginTurn();
  asking.Ask(3, 1, 1);
  EXPECT_EQ(asking.ran()[3], 1);
}

TEST(TurnTickets, WhoeverIsClosedIsNotWaitedFor) {
  Asking asking(3);
  asking.Turn(2, kMax / 2);
  asking.Replace(1);
  asking.Replace(2);
  asking.Turn(2, kMax / 2);
  EXPECT_EQ(asking.ran(), (std::vector<int>{4, 0, 0}));
}

TEST(TurnTickets, OneThatTakesLongEndsTheTurn) {
  Asking asking(2);
  asking.BeginTurn();
  EXPECT_EQ(asking.Ask(0, 1, kMax), 1);
  EXPECT_EQ(asking.Ask(1, 1, kMax), 0);
  EXPECT_EQ(asking.Ask(1, 1, kMax), 0);
  EXPECT_EQ(asking.began(), 1) << "it waits once";
}

// Many of them take nothing from who waits.
TEST(TurnTickets, WhatIsNotAskedForIsNoPart) {
  Asking asking(2);
  asking.Turn(1, kMax);
  ASSERT_EQ(asking.ran(), (std::vector<int>{1, 0}));
  asking.BeginTurn();
  for (int i = 0; i < 20'000; i++) asking.RunLittle(0);
  EXPECT_EQ(asking.Ask(1, 1, kMax), 1);
}

// They run before a long one in every turn, and one that waits comes last in every turn.
TEST(TurnTickets, WhatDidNotAskGivesNoPart) {
  constexpr size_t kOthers = 8;
  Asking asking(kOthers + 1);
  for (int turn = 0; turn < 100; turn++) {
    asking.BeginTurn();
    for (size_t i = 0; i < kOthers; i++) {
      asking.RunUnasked(i, kMax / 4);
      asking.Ask(i, 4, kMax / 4);
    }
    asking.Ask(kOthers, 1, kAskedMin);
  }
  EXPECT_GE(asking.ran()[kOthers], 30);
}

// What it waited for has become short meanwhile: what follows that is its part.
TEST(TurnTickets, WhoeverIsDueRunsThoughTheFirstIsShort) {
  Asking asking(3);
  asking.Turn(1, kMax);
  ASSERT_EQ(asking.ran(), (std::vector<int>{1, 0, 0}));
  asking.BeginTurn();
  asking.RunLittle(1);
  EXPECT_EQ(asking.Ask(1, 1, kMax / 10), 1);
}

// They come one by one, each before the others are given up, and fill no turn.
// Each turn is full before it comes, and each round has its holders.
TEST(TurnTickets, WhoeverWasAwayForARoundIsWaitedForInAnother) {
  constexpr size_t kOthers = 16, kAway = kOthers;
  Asking asking(kOthers + 1);
  for (int turn = 0; turn < 1000; turn++) {
    asking.BeginTurn(10'000'000);
    for (size_t i = 0; i < kOthers; i++) asking.Ask(i, 1, kMax / 8);
    if (turn == 5 || turn > 60) asking.Ask(kAway, 1, kMax / 8);
  }
  EXPECT_GT(asking.ran()[kAway], 100);
  for (const int ran : asking.ran()) EXPECT_GT(ran, 100);
}

// They ask late, are away for a while, and come first then, with old tickets: as many as fill the
// turn. One asks behind them in each turn: it comes, so its round is not given up.
TEST(TurnTickets, WhoeverComesEachTurnKeepsItsRound) {
  constexpr size_t kOthers = 50, kOne = kOthers;
  constexpr int kAwayTurns = 22, kFull = 4;
  Asking asking(kOthers + 1);
  std::vector<int> back(kOthers, 0);  // the turn in which it is, where it is away
  std::vector<bool> is_away(kOthers, false);
  for (int turn = 0; turn < 20'000; turn++) {
    asking.BeginTurn(5'000'000);
    int ran = 0;
    for (const bool were_away : {true, false}) {
      for (size_t i = 0; i < kOthers && ran < kFull; i++) {
        if (is_away[i] != were_away || (were_away && back[i] > turn)) continue;
        const int one = asking.Ask(i, 1, kMax / kFull);
        ran += one;
        if (one == 1) is_away[i] = false;
        if (one == 0 && were_away) back[i] = turn + 4;
      }
    }
    asking.Ask(kOne, 1, kMax / kFull);
    for (size_t i = 0; i < kOthers; i++) {
      if (is_away[i] || asking.Ask(i, 1, kMax / kFull) == 1) continue;
      is_away[i] = true;
      back[i] = turn + kAwayTurns;
    }
  }
  EXPECT_GT(asking.ran()[kOne], 300);
}

TEST(TurnTickets, HoldersThatTrickleInKeepNobodyForLong) {
  constexpr size_t kHolders = 100;
  Asking asking(kHolders + 2);
  asking.BeginTurn();
  ASSERT_EQ(asking.Ask(0, 1, kMax), 1);
  for (size_t i = 1; i <= kHolders; i++) ASSERT_EQ(asking.Ask(i, 1, kMax), 0);
  const size_t honest = kHolders + 1;
  int turns = 0;
  for (size_t i = 1; asking.ran()[honest] == 0 && i <= kHolders; i++, turns++) {
    asking.BeginTurn(TurnTickets::kAwaitedNsMax / 10 * 9);
    asking.Ask(i, 1, 1000);
    asking.Ask(honest, 1, 1000);
  }
  EXPECT_LE(turns, 5);
}

// Whoever comes anew in every turn keeps no round open.
TEST(TurnTickets, NewcomersKeepNobodyWaiting) {
  Asking asking(2);
  for (int turn = 0; turn < 100; turn++) {
    asking.BeginTurn();
    asking.Replace(0);
    asking.Ask(0, 5, kMax);
    asking.Ask(1, 5, kMax);
  }
  EXPECT_GE(asking.ran()[1], 30);
}

}  // namespace
}  // namespace weft::server
