#include "net/room.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <thread>

#include "base/seed_test_kit.h"

namespace weft::net {
namespace {

Room::Options Of(size_t bytes, size_t lane = 0, bool newest_too = false) {
  Room::Options options;
  options.bytes = bytes;
  options.lane_bytes = lane;
  options.tight_bytes = bytes / 2;
  options.newest_too = newest_too;
  return options;
}

class RoomTest : public ::testing::Test {
 protected:
  // The places in holders_ of those that were served, in their order.
  std::vector<size_t> Served(Room& room) {
    std::vector<size_t> places;
    for (const Room::Holder* holder : room.Collect(&client_))
      places.push_back(static_cast<size_t>(holder - holders_.data()));
    return places;
  }

  int rings_ = 0;
  Room::Client client_{[this] { ++rings_; }};
  std::array<Room::Holder, 6> holders_;
};

TEST_F(RoomTest, TakesWhatIsFreeAndNoMore) {
  Room room(Of(100));
  EXPECT_TRUE(room.TryTake(holders_[0], 60, 0));
  EXPECT_FALSE(room.TryTake(holders_[1], 60, 0));
  EXPECT_TRUE(room.TryTake(holders_[1], 40, 0));
  EXPECT_EQ(room.used(), 100u);
  room.SetTaken(holders_[0], 10);
  EXPECT_EQ(room.used(), 50u);
}

TEST_F(RoomTest, WhoeverNeedsLeastIsServedFirstAndNobodyPassesThem) {
  Room room(Of(100));
  room.Take(holders_[0], 100);
  room.Wait(holders_[1], 80, 80, &client_);
  room.Wait(holders_[2], 30, 30, &client_);
  EXPECT_EQ(room.waiting(), 2u);
  room.GiveBack(holders_[0], 40);
  EXPECT_EQ(Served(room), std::vector<size_t>{2});
  EXPECT_EQ(rings_, 1);
  EXPECT_EQ(holders_[2].taken(), 30u);
  // Ten are free, but they are kept for the one that waits.
  EXPECT_FALSE(room.TryTake(holders_[3], 10, 0));
  room.SetTaken(holders_[0], 0);
  EXPECT_EQ(Served(room), std::vector<size_t>{});
  room.SetTaken(holders_[2], 0);
  EXPECT_EQ(Served(room), std::vector<size_t>{1});
}

TEST_F(RoomTest, OneThatNeedsMoreThanThereIsIsServedAlone) {
  Room room(Of(100));
  room.Take(holders_[0], 1);
  EXPECT_FALSE(room.TryTake(holders_[1], 1000, 0));
  room.Wait(holders_[1], 1000, 0, &client_);
  room.SetTaken(holders_[0], 0);
  EXPECT_EQ(Served(room), std::vector<size_t>{1});
  EXPECT_FALSE(room.TryTake(holders_[0], 1, 0));
}

TEST_F(RoomTest, WhereOnlyThoseWhoWaitHoldAnyOneGoesOnAllTheSame) {
  Room room(Of(100));
  room.Take(holders_[0], 50);
  room.Take(holders_[1], 50);
  room.Wait(holders_[0], 30, 30, &client_);
  EXPECT_EQ(Served(room), std::vector<size_t>{});
  room.Wait(holders_[1], 20, 20, &client_);
  EXPECT_EQ(Served(room), std::vector<size_t>{1});
  EXPECT_EQ(holders_[1].taken(), 70u);
  room.SetTaken(holders_[1], 0);
  EXPECT_EQ(Served(room), std::vector<size_t>{0});
}

TEST_F(RoomTest, WhereThoseWhoWaitCanDrainTheyDrainFirst) {
  Room::Options options = Of(100);
  options.waiters_drain = true;
  Room room(options);
  room.Take(holders_[0], 50);
  room.Take(holders_[1], 50);
  room.Wait(holders_[0], 30, 30, &client_);
  room.Wait(holders_[1], 200, 200, &client_);
  EXPECT_EQ(Served(room), std::vector<size_t>{});
  room.GiveBack(holders_[1], 30);
  EXPECT_EQ(Served(room), std::vector<size_t>{0});
  room.SetTaken(holders_[0], 0);
  EXPECT_EQ(Served(room), std::vector<size_t>{});
  room.SetTaken(holders_[1], 0);
  EXPECT_EQ(Served(room), std::vector<size_t>{1});
}

TEST_F(RoomTest, EverySecondGrantMayGoToTheNewest) {
  Room room(Of(10, 0, true));
  room.Take(holders_[0], 10);
  for (size_t i = 1; i < 6; ++i) room.Wait(holders_[i], 10, i, &client_);
  std::vector<size_t> order;
  size_t last = 0;
  for (int i = 0; i < 5; ++i) {
    room.SetTaken(holders_[last], 0);
    const std::vector<size_t> served = Served(room);
    ASSERT_EQ(served.size(), 1u);
    last = served[0];
    order.push_back(last);
  }
  EXPECT_EQ(order, (std::vector<size_t>{1, 5, 2, 4, 3}));
}

// Whoever needs more has a later rank, and came before all the same.
TEST_F(RoomTest, TheNewestIsTheOneThatCameLast) {
  Room room(Of(10, 0, true));
  room.Take(holders_[0], 10);
  room.Wait(holders_[1], 10, 50, &client_);
  room.Wait(holders_[2], 10, 100, &client_);
  room.Wait(holders_[3], 10, 60, &client_);
  std::vector<size_t> order;
  for (size_t last = 0; last != 2; last = order.back()) {
    room.SetTaken(holders_[last], 0);
    for (const size_t place : Served(room)) order.push_back(place);
  }
  EXPECT_EQ(order, (std::vector<size_t>{1, 3, 2}));
}

TEST_F(RoomTest, WhoComesBackIsNoNewcomer) {
  Room room(Of(10, 0, true));
  room.Take(holders_[0], 10);
  room.Wait(holders_[1], 10, 1, &client_);
  room.Wait(holders_[2], 10, 2, &client_);
  room.Wait(holders_[3], 10, 100, &client_, false);
  room.Wait(holders_[4], 10, 3, &client_);
  std::vector<size_t> order;
  for (size_t last = 0; last != 3; last = order.back()) {
    room.SetTaken(holders_[last], 0);
    for (const size_t place : Served(room)) order.push_back(place);
  }
  EXPECT_EQ(order, (std::vector<size_t>{1, 4, 2, 3}));
}

TEST_F(RoomTest, LaneIsForTheProvenWhileOthersWait) {
  Room room(Of(100, 30));
  room.Take(holders_[0], 100);
  room.Wait(holders_[1], 10, 0, &client_);
  EXPECT_TRUE(room.TryTake(holders_[2], 30, 30));
  EXPECT_FALSE(room.TryTake(holders_[3], 1, 1));
  EXPECT_EQ(room.used(), 130u);
  room.SetTaken(holders_[2], 0);
  EXPECT_TRUE(room.TryTake(holders_[3], 1, 1));
  EXPECT_EQ(Served(room), std::vector<size_t>{});
}

TEST_F(RoomTest, LargeOnesLeaveAFifthOfTheLaneToSmallOnes) {
  Room room(Of(100, 80));
  room.Take(holders_[0], 100);
  EXPECT_TRUE(room.TryTake(holders_[1], 50, 50));
  EXPECT_FALSE(room.TryTake(holders_[2], 15, 15));
  EXPECT_TRUE(room.TryTake(holders_[2], 14, 14));
  EXPECT_TRUE(room.TryTake(holders_[3], 10, 10));
  EXPECT_FALSE(room.TryTake(holders_[4], 7, 7));
  EXPECT_TRUE(room.TryTake(holders_[4], 6, 6));
}

TEST_F(RoomTest, WhoeverIsProvenIsGivenTheLaneWhenItComesBack) {
  Room room(Of(100, 30));
  room.Take(holders_[0], 100);
  room.Wait(holders_[1], 10, 0, &client_);
  ASSERT_TRUE(room.TryTake(holders_[2], 30, 30));
  EXPECT_FALSE(room.TryTake(holders_[3], 20, 20));
  room.Wait(holders_[3], 20, 20, &client_, true, {20, 20});
  room.Wait(holders_[4], 90, 90, &client_, true, {15, 15});  // less of the lane than of the rest
  EXPECT_EQ(Served(room), std::vector<size_t>{});
  room.SetTaken(holders_[2], 0);
  EXPECT_EQ(Served(room), std::vector<size_t>{4});
  EXPECT_EQ(holders_[4].taken(), 15u);
  EXPECT_TRUE(holders_[4].in_lane());
  room.SetTaken(holders_[4], 0);
  EXPECT_EQ(Served(room), std::vector<size_t>{3});
  room.SetTaken(holders_[0], 0);
  EXPECT_EQ(Served(room), std::vector<size_t>{1});
  room.Leave(holders_[1]);
  EXPECT_EQ(room.used(), 30u);
}

TEST_F(RoomTest, TheLaneIsKeptForWhoeverWaitsForMuchOfIt) {
  Room room(Of(100, 80));
  room.Take(holders_[0], 100);
  ASSERT_TRUE(room.TryTake(holders_[1], 20, 20));
  room.Wait(holders_[2], 60, 60, &client_, true, {60, 60});
  EXPECT_EQ(Served(room), std::vector<size_t>{});
  EXPECT_FALSE(room.TryTake(holders_[3], 20, 20)) << "it waits behind the other";
  EXPECT_TRUE(room.TryTake(holders_[3], 10, 10)) << "a fifth is for those who need few";
  EXPECT_FALSE(room.TryTake(holders_[4], 7, 7)) << "and no more than that";
  room.Wait(holders_[4], 7, 7, &client_, true, {7, 7});
  EXPECT_EQ(Served(room), std::vector<size_t>{});
  room.SetTaken(holders_[1], 0);
  EXPECT_EQ(Served(room), (std::vector<size_t>{2, 4}));
  // One that leaves before it has seen that it was served gives its part back.
  room.SetTaken(holders_[2], 0);
  room.Wait(holders_[5], 70, 70, &client_, true, {70, 70});
  room.SetTaken(holders_[4], 0);
  room.Leave(holders_[5]);
  room.SetTaken(holders_[3], 0);
  EXPECT_EQ(room.used(), 100u);
  EXPECT_TRUE(room.TryTake(holders_[5], 80, 80));
}

TEST_F(RoomTest, WhoeverLeavesTheLaneWhileItWaitsKeepsNobodyOutOfIt) {
  Room room(Of(100, 80));
  room.Take(holders_[0], 100);
  ASSERT_TRUE(room.TryTake(holders_[1], 60, 60));
  room.Wait(holders_[2], 70, 70, &client_, true, {70, 70});
  room.Wait(holders_[3], 75, 75, &client_, true, {75, 75});
  room.LeaveLane(holders_[2]);
  room.SetTaken(holders_[1], 0);
  EXPECT_EQ(Served(room), std::vector<size_t>{3});
  EXPECT_TRUE(holders_[2].waits()) << "for room of the others";
  // It may leave, or be served, like any other; and leaving is what is granted at once.
  room.Wait(holders_[4], 76, 76, &client_, true, {76, 76});
  room.Wait(holders_[5], 3, 3, &client_, true, {3, 3});
  room.LeaveLane(holders_[4]);
  EXPECT_EQ(Served(room), std::vector<size_t>{5});
  room.GiveBack(holders_[0], 100);
  EXPECT_EQ(Served(room), std::vector<size_t>{2});
  room.Leave(holders_[4]);
}

TEST_F(RoomTest, WhatNeverFitsTheLaneDoesNotShutIt) {
  Room room(Of(100, 80));
  room.Take(holders_[0], 100);
  room.Wait(holders_[1], 90, 90, &client_, true, {90, 90});
  EXPECT_TRUE(room.TryTake(holders_[2], 30, 30));
  room.Wait(holders_[3], 31, 31, &client_, true, {31, 31});
  EXPECT_EQ(Served(room), std::vector<size_t>{3});
  room.Leave(holders_[1]);
}

TEST_F(RoomTest, WhoeverLeavesTheLaneHasWhatBecomesFreeFirst) {
  Room room(Of(100, 40));
  room.Take(holders_[0], 100);
  ASSERT_TRUE(room.TryTake(holders_[1], 40, 40));
  room.Wait(holders_[2], 20, 0, &client_);
  room.Wait(holders_[3], 40, 40, &client_, true, {40, 40});
  room.LeaveLane(holders_[1]);
  EXPECT_EQ(Served(room), std::vector<size_t>{});
  room.GiveBack(holders_[0], 30);
  EXPECT_EQ(Served(room), std::vector<size_t>{}) << "ten are left";
  EXPECT_EQ(holders_[1].taken(), 40u);
  EXPECT_EQ(room.used(), 110u);
  room.GiveBack(holders_[0], 10);
  EXPECT_EQ(Served(room), std::vector<size_t>{3});
  room.GiveBack(holders_[0], 20);
  EXPECT_EQ(Served(room), std::vector<size_t>{2});
  room.LeaveLane(holders_[1]);
  EXPECT_FALSE(holders_[1].in_lane());
  room.SetTaken(holders_[1], 0);
  room.LeaveLane(holders_[3]);
  room.SetTaken(holders_[3], 0);  // before it has left
  EXPECT_EQ(room.used(), 60u);
}

TEST_F(RoomTest, ANewcomerHasALaneWhereTheRoomIsHeldByOthers) {
  Room::Options options = Of(100, 0, true);
  options.newcomer_bytes = 40;
  Room room(options);
  room.Take(holders_[0], 100);
  room.Wait(holders_[1], 30, 1, &client_, false);
  room.Wait(holders_[2], 50, 2, &client_);  // more than the lane has
  EXPECT_EQ(Served(room), std::vector<size_t>{});
  room.Wait(holders_[3], 40, 3, &client_);
  EXPECT_EQ(Served(room), std::vector<size_t>{3});
  EXPECT_TRUE(holders_[3].in_newcomers_lane());
  EXPECT_EQ(room.used(), 140u);
  room.Wait(holders_[4], 10, 4, &client_);
  EXPECT_EQ(Served(room), std::vector<size_t>{}) << "one at a time";
  room.SetTaken(holders_[3], 20);
  EXPECT_EQ(Served(room), std::vector<size_t>{});
  room.SetTaken(holders_[3], 0);
  EXPECT_EQ(Served(room), std::vector<size_t>{4});
  room.Leave(holders_[1]);
  room.Leave(holders_[2]);
  room.Wait(holders_[5], 10, 5, &client_);
  room.SetTaken(holders_[4], 0);
  room.Leave(holders_[5]);  // before it has seen that it was served
  EXPECT_EQ(room.used(), 100u);
}

TEST_F(RoomTest, TheNewcomersLaneIsForTheNewestWhoseNeedFitsIt) {
  Room::Options options = Of(100, 0, true);
  options.newcomer_bytes = 40;
  Room room(options);
  room.Take(holders_[0], 100);
  room.Wait(holders_[1], 40, 1, &client_);
  EXPECT_EQ(Served(room), std::vector<size_t>{1});
  room.Wait(holders_[2], 20, 2, &client_);
  room.Wait(holders_[3], 25, 3, &client_);
  room.Wait(holders_[4], 50, 4, &client_);  // more than the lane has
  room.SetTaken(holders_[1], 0);
  EXPECT_EQ(Served(room), std::vector<size_t>{3});
  // Whoever is in the lane goes on in it, before others.
  room.Wait(holders_[3], 15, 100, &client_, false);
  EXPECT_EQ(Served(room), std::vector<size_t>{3});
  EXPECT_EQ(holders_[3].taken(), 40u);
  room.Wait(holders_[3], 1, 101, &client_);
  EXPECT_EQ(Served(room), std::vector<size_t>{}) << "the lane has no more";
  room.Leave(holders_[3]);
  room.SetTaken(holders_[3], 0);
  EXPECT_EQ(Served(room), std::vector<size_t>{2});
}

TEST_F(RoomTest, WhoLeavesGivesBackWhatWasGranted) {
  Room room(Of(100));
  room.Take(holders_[0], 100);
  room.Wait(holders_[1], 60, 1, &client_);
  room.Wait(holders_[2], 60, 2, &client_);
  room.SetTaken(holders_[0], 0);
  room.Leave(holders_[1]);
  EXPECT_EQ(Served(room), std::vector<size_t>{2});
  EXPECT_EQ(room.used(), 60u);
  room.Wait(holders_[3], 60, 3, &client_);
  room.Leave(holders_[3]);
  EXPECT_EQ(room.waiting(), 0u);
  EXPECT_FALSE(holders_[3].waits());
}

TEST_F(RoomTest, IsTightFromOneMarkToAnother) {
  Room room(Of(100));
  room.Take(holders_[0], 50);
  EXPECT_FALSE(room.tight());
  room.Take(holders_[0], 1);
  EXPECT_TRUE(room.tight());
  room.SetTaken(holders_[0], 40);
  EXPECT_TRUE(room.tight());
  room.SetTaken(holders_[0], 30);
  EXPECT_FALSE(room.tight());
}

TEST(RoomThreads, NothingIsLostAmongThreads) {
  Room room(Of(1000, 100));
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&room, t] {
      std::mt19937 random(base::TestSeed(t));
      Room::Client client([] {});
      std::array<Room::Holder, 20> holders;
      for (int round = 0; round < 20000; ++round) {
        Room::Holder& holder = holders[random() % holders.size()];
        const size_t n = 1 + random() % 400;
        if (holder.waits()) {
          if (random() % 8 == 0) room.Leave(holder);
        } else if (random() % 3 == 0) {
          room.SetTaken(holder, 0);
        } else if (holder.in_lane() && random() % 2 == 0) {
          room.LeaveLane(holder);
        } else {
          const size_t of_lane = random() % 4 == 0 ? n / 4 : 0;
          if (!room.TryTake(holder, n, of_lane))
            room.Wait(holder, n, n, &client, random() % 2 == 0, {of_lane, n});
        }
        for (Room::Holder* served : room.Collect(&client))
          if (served->taken() > 600) room.SetTaken(*served, 0);
      }
      for (Room::Holder& holder : holders) {
        room.Leave(holder);
        room.SetTaken(holder, 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(room.used(), 0u);
  EXPECT_EQ(room.waiting(), 0u);
  Room::Holder all;
  EXPECT_TRUE(room.TryTake(all, 1000, 0));
  EXPECT_TRUE(room.TryTake(all, 100, 100)) << "so is the lane";
  room.SetTaken(all, 0);
}

}  // namespace
}  // namespace weft::net
