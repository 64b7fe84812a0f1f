// Who waits for room in a loop: for no more than it needs, and no longer than it must.
#include <algorithm>

#include "net/peer_test_kit.h"

namespace weft::net::waits {
namespace {

using LoopWaitsTest = LoopTest;
INSTANTIATE_TEST_SUITE_P(Kinds, LoopWaitsTest,
                         ::testing::Values(EventLoop::Kind::kEpoll, EventLoop::Kind::kUring),
                         KindName);

constexpr size_t kMiB = size_t{1} << 20;
// A turn may take so much before anybody looks.
constexpr size_t kTurnBytes = 5 * kMiB;

// Nobody is closed for what it does not do.
LoopOptions With(Rooms* rooms) {
  LoopOptions options;
  options.rooms = rooms;
  options.tick_ms = 10;
  options.stuck_ms = 600'000;
  return options;
}

std::string NeedLine(size_t n) { return "need " + std::to_string(n) + "\n"; }

std::string NeedAnswer(size_t n) {
  return std::to_string(n) + " " + std::to_string(n * uint64_t{'x'}) + "\n";
}

bool TicksPass(TestServer& server, uint64_t n) {
  const uint64_t ticks = server.handler().ticks;
  return Eventually([&] { return server.handler().ticks > ticks + n; });
}

std::string LineOf(size_t n) { return std::string(n - 1, 'k') + "\n"; }

Rooms InputRoomWithNewcomersLane(size_t newcomer_bytes) {
  Room::Options input;
  input.bytes = kMiB;
  input.tight_bytes = kMiB / 2;
  input.newcomer_bytes = newcomer_bytes;
  input.newest_too = true;
  return Rooms{Room(input), Room(Room::Options())};
}

// A peer that is connected and known to the loop before all but `left` bytes of the room are taken.
struct FullInputRoom {
  FullInputRoom(EventLoop::Kind kind, size_t left, size_t newcomer_bytes)
      : rooms(InputRoomWithNewcomersLane(newcomer_bytes)) {
    LoopOptions options = With(&rooms);
    options.unknown_bytes_max = 4 * kMiB;
    server = std::make_unique<TestServer>(kind, options);
    peer = std::make_unique<Peer>(server->address());
    EXPECT_TRUE(peer->Send("first\n"));
    EXPECT_EQ(peer->Receive(6), "first\n");
    rooms.input.Take(other, kMiB - left);
    EXPECT_TRUE(TicksPass(*server, 3));  // what the system would receive unasked is cancelled
  }
  ~FullInputRoom() {
    server->Stop(0);
    rooms.input.SetTaken(other, 0);
  }

  Rooms rooms;
  Room::Holder other;
  std::unique_ptr<TestServer> server;
  std::unique_ptr<Peer> peer;
};

TEST_P(LoopWaitsTest, ALineThatIsHereNeedsNoRoomForTheLongest) {
  FullInputRoom full(GetParam(), 150'000, 0);
  for (const size_t n : {4097, 6000, 40'000}) {
    ASSERT_TRUE(full.peer->Send(LineOf(n)));
    EXPECT_EQ(full.peer->Receive(n), LineOf(n));
  }
}

// Whatever others hold, what is here in whole is through at once.
TEST_P(LoopWaitsTest, ASmallRequestThatIsHereWaitsForNobody) {
  FullInputRoom full(GetParam(), 0, 512 << 10);
  Room::Client client([] {});
  Room::Holder slow;
  full.rooms.input.Wait(slow, 100'000, 0, &client);
  ASSERT_EQ(full.rooms.input.Collect(&client).size(), 1u);
  ASSERT_TRUE(slow.in_newcomers_lane());
  for (const size_t n : {4097, 6000, 40'000}) {
    ASSERT_TRUE(full.peer->Send(LineOf(n)));
    EXPECT_EQ(full.peer->Receive(n), LineOf(n));
    ASSERT_TRUE(full.peer->Send(NeedLine(n) + std::string(n, 'x')));
    EXPECT_EQ(full.peer->Receive(NeedAnswer(n).size()), NeedAnswer(n));
  }
  full.rooms.input.SetTaken(slow, 0);
}

// Lines that take piece after piece until nothing is left: one after the other is read, all the
// same.
TEST_P(LoopWaitsTest, LinesThatFillTheRoomInPiecesAllFinish) {
  Rooms rooms = InputRoomWithNewcomersLane(0);
  LoopOptions options = With(&rooms);
  options.unknown_bytes_max = kMiB;
  TestServer server(GetParam(), options);
  constexpr size_t kBytes = 500'000;
  std::vector<Peer> peers;
  std::vector<std::thread> senders;
  for (size_t i = 0; i < 16; ++i) peers.emplace_back(server.address());
  size_t largest = 0;
  for (Peer& peer : peers) {
    senders.emplace_back([&] {
      EXPECT_TRUE(peer.Send(LineOf(kBytes)));
      EXPECT_TRUE(peer.Receive(kBytes) == LineOf(kBytes));
    });
  }
  EXPECT_TRUE(Eventually([&] {
    largest = std::max(largest, rooms.input.used());
    return server.handler().lines == peers.size();
  }));
  for (std::thread& sender : senders) sender.join();
  EXPECT_LT(largest, kMiB + kTurnBytes);
  EXPECT_TRUE(Eventually([&] { return rooms.input.used() == 0; }));
}

Rooms RoomsWithNewcomersLane(size_t output_bytes, size_t newcomer_bytes) {
  Room::Options output;
  output.bytes = output_bytes;
  output.tight_bytes = output_bytes / 2;
  output.newcomer_bytes = newcomer_bytes;
  output.newest_too = output.waiters_drain = true;
  return Rooms{Room(Room::Options()), Room(output)};
}

// Of a Unix socket, which counts what its peer has not read.
std::vector<std::unique_ptr<Listener>> UnixListener() {
  std::vector<std::unique_ptr<Listener>> listeners;
  auto opened = Listener::OpenUnix(
      ::testing::TempDir() + "weft_waits_" + std::to_string(getpid()) + ".sock", {});
  EXPECT_TRUE(opened.has_value());
  listeners.push_back(std::move(*opened));
  return listeners;
}

// The system says how much a peer has not taken as of now: that is no judgement for ever.
TEST_P(LoopWaitsTest, WhoeverHasTakenItsRepliesWhileItWaitedIsANewcomerAgain) {
  Rooms rooms = RoomsWithNewcomersLane(kMiB, 256 << 10);
  TestServer server(GetParam(), With(&rooms), 1, UnixListener());
  Room::Holder other;
  Peer peer(server.address());
  ASSERT_TRUE(peer.Send("big 100000\n"));
  ASSERT_TRUE(Eventually([&] { return server.loop().Stats().bytes_out >= 100'000; }));
  rooms.output.Take(other, kMiB);
  ASSERT_TRUE(peer.Send("big 100001\n"));
  ASSERT_TRUE(Eventually([&] { return rooms.output.waiting() == 1; }));
  ASSERT_TRUE(TicksPass(server, 3));
  EXPECT_EQ(rooms.output.waiting(), 1u);
  EXPECT_EQ(peer.Receive(100'000).size(), 100'000u);
  EXPECT_EQ(peer.Receive(100'001).size(), 100'001u);
  rooms.output.SetTaken(other, 0);
}

// Each reply is on its way while the next one is asked for.
TEST_P(LoopWaitsTest, RepliesOneBehindTheOtherPassThoseWhoWaitLong) {
  Rooms rooms = RoomsWithNewcomersLane(kMiB, 256 << 10);
  TestServer server(GetParam(), With(&rooms));
  Room::Holder other, waits;
  Room::Client client([] {});
  rooms.output.Take(other, kMiB);
  rooms.output.Wait(waits, kMiB, 0, &client, false);
  ASSERT_TRUE(TicksPass(server, 3));
  Peer peer(server.address(), 4096);
  ASSERT_TRUE(peer.Send("big 20000\nbig 20000\nbig 20000\n"));
  ASSERT_TRUE(Eventually([&] { return server.handler().lines == 1; }));
  EXPECT_EQ(peer.Receive(60'000).size(), 60'000u);
  rooms.output.Leave(waits);
  rooms.output.SetTaken(other, 0);
}

TEST_P(LoopWaitsTest, AResetIsSeenWhileItsConnectionWaitsForRoom) {
  FullInputRoom full(GetParam(), 0, 0);
  LineHandler& handler = full.server->handler();
  ASSERT_TRUE(full.peer->Send(std::string(6000, 'k')));
  ASSERT_TRUE(Eventually([&] { return full.rooms.input.waiting() == 1; }));
  full.peer->Reset();
  EXPECT_TRUE(Eventually([&] { return handler.closed == 1; }));
  EXPECT_TRUE(Eventually([&] { return full.rooms.input.waiting() == 0; }));
  // Also where the reset comes with the bytes, before the connection waits.
  for (int i = 0; i < 50; ++i) {
    Peer peer(full.server->address());
    ASSERT_TRUE(peer.Send(std::string(6000, 'k')));
    peer.Reset();
  }
  EXPECT_TRUE(Eventually([&] { return handler.opened == 51 && handler.closed == 51; }));
  EXPECT_TRUE(Eventually([&] { return full.rooms.input.waiting() == 0; }));
}

// Nobody says so: not to a loop that does not read.
TEST_P(LoopWaitsTest, TheRestOfASmallRequestIsSeenWhileItWaits) {
  FullInputRoom full(GetParam(), 0, 512 << 10);
  Room::Client client([] {});
  Room::Holder slow;
  full.rooms.input.Wait(slow, 100'000, 0, &client);
  ASSERT_EQ(full.rooms.input.Collect(&client).size(), 1u);
  ASSERT_TRUE(full.peer->Send(std::string(5999, 'k')));
  ASSERT_TRUE(Eventually([&] { return full.rooms.input.waiting() == 1; }));
  ASSERT_TRUE(full.peer->Send("\n"));
  EXPECT_EQ(full.peer->Receive(6000), LineOf(6000));
  full.rooms.input.SetTaken(slow, 0);
}

TEST_P(LoopWaitsTest, WhatCannotBecomeWholeIsNotWaitedFor) {
  FullInputRoom full(GetParam(), 0, 0);
  ASSERT_TRUE(full.peer->Send(NeedLine(50'000) + std::string(49'999, 'x')));
  ASSERT_TRUE(Eventually([&] { return full.rooms.input.waiting() == 1; }));
  full.peer->Close();
  EXPECT_TRUE(Eventually([&] { return full.server->handler().closed == 1; }));
  EXPECT_TRUE(Eventually([&] { return full.rooms.input.waiting() == 0; }));
}

}  // namespace
}  // namespace weft::net::waits
