// The lane: whoever has proved itself is not kept waiting by strangers who hold all other room, nor
// for long by others in the lane.
#include <algorithm>

#include "net/peer_test_kit.h"

namespace weft::net::lane {
namespace {

using LoopLaneTest = LoopTest;
INSTANTIATE_TEST_SUITE_P(Kinds, LoopLaneTest,
                         ::testing::Values(EventLoop::Kind::kEpoll, EventLoop::Kind::kUring),
                         KindName);

constexpr size_t kMiB = size_t{1} << 20;

std::string NeedLine(size_t n) { return "need " + std::to_string(n) + "\n"; }

std::string NeedAnswer(size_t n) {
  return std::to_string(n) + " " + std::to_string(n * uint64_t{'x'}) + "\n";
}

std::string LineOf(size_t n) { return std::string(n - 1, 'k') + "\n"; }

Room::Options WithLane(size_t lane) {
  Room::Options options;
  options.bytes = kMiB;
  options.tight_bytes = kMiB / 2;
  options.lane_bytes = lane;
  options.newest_too = true;
  return options;
}

// Both rooms are full, and strangers wait for more of each than will ever be free. Two peers have
// moved so much before that they are proven.
class Crowded {
 public:
  Crowded(EventLoop::Kind kind, size_t lane) : rooms{Room(WithLane(lane)), Room(WithLane(lane))} {
    LoopOptions options;
    options.rooms = &rooms;
    options.tick_ms = 10;
    options.stuck_ms = 600'000;
    server = std::make_unique<TestServer>(kind, options);
    for (int i = 0; i < 2; ++i) {
      peers.emplace_back(server->address());
      for (int round = 0; round < 8; ++round) {
        EXPECT_TRUE(peers[i].Send(NeedLine(200'000) + std::string(200'000, 'x') + "big 200000\n"));
        const size_t answer = NeedAnswer(200'000).size() + 200'000;
        EXPECT_EQ(peers[i].Receive(answer).size(), answer);
      }
    }
    for (Room* room : {&rooms.input, &rooms.output}) {
      Of& of = room == &rooms.input ? input : output;
      EXPECT_TRUE(Eventually([&] { return room->used() == 0; }));
      room->Take(of.holds, kMiB);
      room->Wait(of.stranger, kMiB, 0, &client);
      EXPECT_TRUE(of.stranger.waits());
    }
    const uint64_t ticks =
        server->handler().ticks;  // what the system received unasked is cancelled
    EXPECT_TRUE(Eventually([&] { return server->handler().ticks > ticks + 3; }));
  }
  ~Crowded() {
    server->Stop(0);
    for (Room* room : {&rooms.input, &rooms.output}) {
      Of& of = room == &rooms.input ? input : output;
      for (Room::Holder* holder : {&of.stranger, &of.holds, &of.in_lane}) {
        room->Leave(*holder);
        room->SetTaken(*holder, 0);
      }
    }
  }

  struct Of {
    Room::Holder holds;
    Room::Holder stranger;
    Room::Holder in_lane;
  };

  Rooms rooms;
  Room::Client client{[] {}};
  Of input;
  Of output;
  std::unique_ptr<TestServer> server;
  std::vector<Peer> peers;
};

TEST_P(LoopLaneTest, WhoeverFindsTheLaneTakenIsNextInIt) {
  Crowded crowded(GetParam(), 300'000);
  Room& room = crowded.rooms.input;
  ASSERT_TRUE(room.TryTake(crowded.input.in_lane, 300'000, 300'000));
  for (Peer& peer : crowded.peers)
    ASSERT_TRUE(peer.Send(NeedLine(200'000) + std::string(200'000, 'x')));
  ASSERT_TRUE(Eventually([&] { return room.waiting() == 3; }));
  room.SetTaken(crowded.input.in_lane, 0);
  for (Peer& peer : crowded.peers)
    EXPECT_EQ(peer.Receive(NeedAnswer(200'000).size()), NeedAnswer(200'000));
  EXPECT_EQ(room.waiting(), 1u);
}

TEST_P(LoopLaneTest, AReaderThatFindsTheLaneTakenIsNextInIt) {
  Crowded crowded(GetParam(), 300'000);
  Room& room = crowded.rooms.output;
  ASSERT_TRUE(room.TryTake(crowded.output.in_lane, 300'000, 300'000));
  for (Peer& peer : crowded.peers) ASSERT_TRUE(peer.Send("big 200000\n"));
  ASSERT_TRUE(Eventually([&] { return room.waiting() == 3; }));
  room.SetTaken(crowded.output.in_lane, 0);
  for (Peer& peer : crowded.peers) EXPECT_EQ(peer.Receive(200'000).size(), 200'000u);
  EXPECT_EQ(room.waiting(), 1u);
}

// The longest line there may be fits no lane. The end of these is not among the bytes that the loop
// looks at. Two that take the lane by pieces would wait for each other.
TEST_P(LoopLaneTest, LongLinesOfProvenPeersAreGivenTheLane) {
  Crowded crowded(GetParam(), 1'600'000);
  for (const size_t n : {100'000, 300'000, 650'000}) {
    std::vector<std::thread> senders;
    for (Peer& peer : crowded.peers)
      senders.emplace_back([&] { EXPECT_TRUE(peer.Send(LineOf(n))); });
    for (Peer& peer : crowded.peers) EXPECT_TRUE(peer.Receive(n) == LineOf(n)) << n;
    for (std::thread& sender : senders) sender.join();
  }
  EXPECT_EQ(crowded.rooms.input.waiting(), 1u);
}

// It is served all the same, but others have the lane as soon as there is other room.
TEST_P(LoopLaneTest, WhoeverIsSlowLeavesTheLaneToOthers) {
  Crowded crowded(GetParam(), 300'000);
  Room& room = crowded.rooms.input;
  Peer& slow = crowded.peers[0];
  Peer& quick = crowded.peers[1];
  ASSERT_TRUE(slow.Send(NeedLine(200'000) + std::string(199'000, 'x')));
  ASSERT_TRUE(Eventually([&] { return room.used() > kMiB; }));
  ASSERT_TRUE(quick.Send(NeedLine(200'000) + std::string(200'000, 'x')));
  ASSERT_TRUE(Eventually([&] { return room.waiting() == 2; }));
  // So much that the one in the lane can leave it, and nobody else can be served.
  room.GiveBack(crowded.input.holds, 250'000);
  EXPECT_EQ(quick.Receive(NeedAnswer(200'000).size()), NeedAnswer(200'000));
  ASSERT_TRUE(slow.Send(std::string(1000, 'x')));
  EXPECT_EQ(slow.Receive(NeedAnswer(200'000).size()), NeedAnswer(200'000));
  EXPECT_EQ(crowded.server->handler().stuck, 0u);
}

// All that there is has been given out, and more.
TEST_P(LoopLaneTest, ASmallRequestThatIsHereNeedsNeitherRoomNorLane) {
  Crowded crowded(GetParam(), 300'000);
  crowded.rooms.input.Take(crowded.input.holds, 400'000);
  // Together they are more than a loop receives beside the rooms in a turn.
  std::vector<Peer> peers;
  for (int i = 0; i < 30; ++i) peers.emplace_back(crowded.server->address());
  for (const size_t n : {4097, 30'000, 60'000}) {
    for (Peer& peer : peers) ASSERT_TRUE(peer.Send(NeedLine(n) + std::string(n, 'x')));
    for (Peer& peer : peers) EXPECT_EQ(peer.Receive(NeedAnswer(n).size()), NeedAnswer(n));
    for (Peer& peer : peers) ASSERT_TRUE(peer.Send("oops 1 " + LineOf(n)));
    for (Peer& peer : peers) ASSERT_TRUE(peer.Send("here\n"));
    for (Peer& peer : peers) EXPECT_EQ(peer.Receive(5), "here\n");
  }
  EXPECT_EQ(crowded.rooms.input.waiting(), 1u);
}

// What stays since its reply waits is bounded.
TEST_P(LoopLaneTest, SmallRequestsWhoseRepliesWaitTakeNoMoreThanTheirBound) {
  Crowded crowded(GetParam(), 0);
  Room& room = crowded.rooms.input;
  constexpr size_t kBytes = 50'000;
  std::vector<Peer> peers;
  for (int i = 0; i < 120; ++i) {
    peers.emplace_back(crowded.server->address());
    ASSERT_TRUE(peers.back().Send(LineOf(kBytes)));
  }
  const auto others = [&] { return room.waiting() + crowded.rooms.output.waiting() - 2; };
  ASSERT_TRUE(Eventually([&] { return others() == peers.size(); }));
  EXPECT_GT(crowded.rooms.output.waiting(), 2u) << "they have been read";
  // A ring may bring 2 MiB unasked, in blocks of which a part is empty.
  EXPECT_LT(room.used(),
            kMiB + (512 << 10) + (GetParam() == EventLoop::Kind::kUring ? 3 * kMiB : 0));
  for (Crowded::Of* of : {&crowded.output, &crowded.input}) {
    Room& full = of == &crowded.input ? room : crowded.rooms.output;
    full.Leave(of->stranger);
    full.SetTaken(of->holds, 0);
  }
  for (Peer& peer : peers) EXPECT_TRUE(peer.Receive(kBytes) == LineOf(kBytes));
}

}  // namespace
}  // namespace weft::net::lane
