// What a loop does when half requests or unsent replies would need more memory than there is.
#include <algorithm>

#include "net/peer_test_kit.h"

namespace weft::net {
namespace {

using LoopRoomTest = LoopTest;
INSTANTIATE_TEST_SUITE_P(Kinds, LoopRoomTest,
                         ::testing::Values(EventLoop::Kind::kEpoll, EventLoop::Kind::kUring),
                         KindName);

constexpr size_t kMiB = size_t{1} << 20;
// A turn may take so much before anybody looks, and a block may be a quarter larger than it need
// be.
constexpr size_t kTurnBytes = 5 * kMiB;

Rooms SmallRooms(size_t bytes) {
  Room::Options input, output;
  input.bytes = output.bytes = bytes;
  input.tight_bytes = bytes / 2;
  output.tight_bytes = bytes / 4 * 3;
  output.newest_too = true;
  output.waiters_drain = true;
  return Rooms{Room(input), Room(output)};
}

LoopOptions With(Rooms* rooms, uint64_t stuck_ms) {
  LoopOptions options;
  options.rooms = rooms;
  options.tick_ms = 10;
  options.stuck_ms = stuck_ms;
  options.unknown_bytes_max = 64 << 10;
  return options;
}

// Of a Unix socket, whose buffers do not grow: the system takes little of what nobody reads.
std::vector<std::unique_ptr<Listener>> UnixListener() {
  std::vector<std::unique_ptr<Listener>> listeners;
  auto opened = Listener::OpenUnix(
      ::testing::TempDir() + "weft_room_" + std::to_string(getpid()) + ".sock", {});
  EXPECT_TRUE(opened.has_value());
  listeners.push_back(std::move(*opened));
  return listeners;
}

constexpr uint64_t kNeverStuckMs = 600'000;

// Whoever makes no use of its room for twenty ticks is stuck. No time passes but by PassTick.
LoopOptions SoonStuck(Rooms* rooms, uint64_t stuck_ms = 200) {
  LoopOptions options = With(rooms, stuck_ms);
  options.clock_ms = StillClock;
  return options;
}

// A client that sends and receives as soon as it can, and never blocks.
class Talk {
 public:
  Talk(const SocketAddress& address, std::string text, size_t answer_bytes)
      : peer_(address), text_(std::move(text)), answer_(answer_bytes, '\0') {}

  // False: it could do nothing.
  bool Go() {
    const ssize_t sent =
        send(peer_.fd(), text_.data() + sent_, text_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    const bool fails = sent < 0 && errno != EAGAIN;
    const ssize_t got =
        recv(peer_.fd(), answer_.data() + got_, answer_.size() - got_, MSG_DONTWAIT);
    ended_ |= fails || (got == 0 && got_ < answer_.size()) || (got < 0 && errno != EAGAIN);
    sent_ += static_cast<size_t>(std::max<ssize_t>(sent, 0));
    got_ += static_cast<size_t>(std::max<ssize_t>(got, 0));
    return sent > 0 || got > 0;
  }
  bool ended() const { return ended_; }
  bool all_sent() const { return sent_ == text_.size(); }
  // What it has received. The clock goes on only while it can do nothing: it is never late. Others
  // may do something before each tick.
  std::string Finish(TestServer& server, const std::function<void()>& others = {}) {
    for (int ticks = 0; ticks < 2000 && !ended_ && got_ < answer_.size();) {
      if (Go()) continue;
      if (others) others();
      server.PassTick();
      ++ticks;
    }
    return answer_.substr(0, got_);
  }

 private:
  Peer peer_;
  std::string text_;
  std::string answer_;
  size_t sent_ = 0;
  size_t got_ = 0;
  bool ended_ = false;
};

std::string NeedLine(size_t n) { return "need " + std::to_string(n) + "\n"; }

std::string NeedAnswer(size_t n) {
  return std::to_string(n) + " " + std::to_string(n * uint64_t{'x'}) + "\n";
}

size_t BufferBytes(TestServer& server) { return server.loop().Stats().buffer_bytes; }

TEST_P(LoopRoomTest, UploadsThatDoNotFitTogetherAllFinish) {
  Rooms rooms = SmallRooms(2 * kMiB);
  TestServer server(GetParam(), With(&rooms, kNeverStuckMs));
  constexpr size_t kPeers = 24;
  constexpr size_t kBytes = 600'000;
  const std::string part(kBytes / 40, 'x');
  std::vector<Peer> peers;
  for (size_t i = 0; i < kPeers; ++i) {
    peers.emplace_back(server.address());
    ASSERT_TRUE(peers.back().Send(NeedLine(kBytes)));
  }
  // All go on at one pace, so that all are half done when memory is used up.
  std::vector<size_t> sent(kPeers, 0);
  size_t largest = 0;
  for (bool left = true; left;) {
    left = false;
    for (size_t i = 0; i < kPeers; ++i) {
      if (sent[i] == kBytes) continue;
      left = true;
      const size_t n = std::min(part.size(), kBytes - sent[i]);
      const ssize_t now = send(peers[i].fd(), part.data(), n, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (now > 0) sent[i] += static_cast<size_t>(now);
    }
    largest = std::max(largest, BufferBytes(server));
    usleep(500);
  }
  for (Peer& peer : peers) EXPECT_EQ(peer.Receive(NeedAnswer(kBytes).size()), NeedAnswer(kBytes));
  EXPECT_LT(largest, 2 * kMiB + kTurnBytes);
  EXPECT_EQ(server.loop().Stats().shed_closed, 0u);
  EXPECT_TRUE(Eventually([&] { return rooms.input.used() == 0 && BufferBytes(server) == 0; }));
}

TEST_P(LoopRoomTest, UploadersThatStopStarveNobody) {
  Rooms rooms = SmallRooms(2 * kMiB);
  TestServer server(GetParam(), SoonStuck(&rooms), 1, UnixListener());
  std::vector<Talk> stalled;
  const std::string all_but_one = NeedLine(300'000) + std::string(299'999, 'x');
  for (int i = 0; i < 12; ++i) {
    stalled.emplace_back(server.address(), all_but_one, 1);
    ASSERT_TRUE(stalled.back().Go());
  }
  const auto all_go = [&] {
    for (Talk& peer : stalled) peer.Go();
  };
  constexpr size_t kBytes = 1'000'000;
  for (int round = 0; round < 3; ++round) {
    Talk honest(server.address(), NeedLine(kBytes) + std::string(kBytes, 'x'),
                NeedAnswer(kBytes).size());
    EXPECT_EQ(honest.Finish(server, all_go), NeedAnswer(kBytes));
  }
  EXPECT_LT(BufferBytes(server), 2 * kMiB + kTurnBytes);
  EXPECT_EQ(server.loop().Stats().shed_closed, server.handler().stuck);
}

// Nobody knows how long such a line will be, so each look at it finds the same: more is needed.
// Room for the longest there may be is given once, and stays until the line has come.
TEST_P(LoopRoomTest, LongLinesWithoutAnEndTakeNoMoreThanTheRoom) {
  Rooms rooms = SmallRooms(2 * kMiB);
  LoopOptions options = SoonStuck(&rooms);
  options.unknown_bytes_max = kMiB;
  TestServer server(GetParam(), options, 1, UnixListener());
  constexpr size_t kPeers = 60;
  std::vector<Talk> hostile;
  for (size_t i = 0; i < kPeers; ++i)
    hostile.emplace_back(server.address(), std::string(400'000, 'k'), 1);
  size_t largest = 0;
  // Until all is sent that was taken, or its sender closed.
  const auto all_go = [&] {
    bool left = false;
    for (Talk& peer : hostile) {
      peer.Go();
      left |= !peer.ended() && !peer.all_sent();
    }
    largest = std::max(largest, BufferBytes(server));
    return left;
  };
  for (int ticks = 0; all_go(); ++ticks) {
    ASSERT_LT(ticks, 5000);
    server.PassTick();
  }
  for (int round = 0; round < 3; ++round) {
    Talk honest(server.address(), NeedLine(500'000) + std::string(500'000, 'x'),
                NeedAnswer(500'000).size());
    EXPECT_EQ(honest.Finish(server, all_go), NeedAnswer(500'000));
  }
  EXPECT_LT(largest, 2 * kMiB + kTurnBytes);
  EXPECT_LT(server.handler().stuck, kPeers);
}

TEST_P(LoopRoomTest, NobodyIsClosedForIdlingWhileNobodyWaits) {
  Rooms rooms = SmallRooms(2 * kMiB);
  TestServer server(GetParam(), With(&rooms, 50));
  Peer half(server.address());
  ASSERT_TRUE(half.Send(NeedLine(500'000) + std::string(400'000, 'x')));
  Peer slow(server.address(), 8192);
  ASSERT_TRUE(slow.Send("big 1500000\n"));
  const uint64_t ticks = server.handler().ticks;
  ASSERT_TRUE(Eventually([&] { return server.handler().ticks > ticks + 50; }));
  ASSERT_TRUE(half.Send(std::string(100'000, 'x')));
  EXPECT_EQ(half.Receive(NeedAnswer(500'000).size()), NeedAnswer(500'000));
  EXPECT_EQ(slow.Receive(1'500'000).size(), 1'500'000u);
  EXPECT_EQ(server.handler().stuck, 0u);
}

TEST_P(LoopRoomTest, RepliesThatNobodyReadsTakeNoMoreThanTheRoom) {
  Rooms rooms = SmallRooms(3 * kMiB);
  TestServer server(GetParam(), With(&rooms, kNeverStuckMs), 1, UnixListener());
  std::vector<Peer> hostile;
  for (int i = 0; i < 60; ++i) {
    hostile.emplace_back(server.address());
    ASSERT_TRUE(hostile.back().Send("big 2000000\n"));
  }
  ASSERT_TRUE(Eventually([&] { return rooms.output.waiting() == 59; }));
  EXPECT_LT(BufferBytes(server), 4 * kMiB);
  // Small replies need no room.
  Peer honest(server.address());
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(honest.Send("still here\n"));
    ASSERT_EQ(honest.Receive(11), "still here\n");
  }
  // Those that read after all get theirs, one after the other.
  std::vector<std::thread> readers;
  for (Peer& peer : hostile)
    readers.emplace_back([&] { EXPECT_EQ(peer.Receive(2'000'000).size(), 2'000'000u); });
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(server.loop().Stats().shed_closed, 0u);
  EXPECT_TRUE(Eventually([&] { return rooms.output.used() == 0 && BufferBytes(server) == 0; }));
}

TEST_P(LoopRoomTest, ReadersThatStopStarveNobody) {
  Rooms rooms = SmallRooms(3 * kMiB);
  TestServer server(GetParam(), SoonStuck(&rooms), 1, UnixListener());
  std::vector<Peer> hostile;
  for (int i = 0; i < 40; ++i) {
    hostile.emplace_back(server.address());
    ASSERT_TRUE(hostile.back().Send("big 2000000\n"));
  }
  ASSERT_TRUE(Eventually([&] { return rooms.output.waiting() == 39; }));
  for (int round = 0; round < 3; ++round) {
    Talk honest(server.address(), "big 2000000\n", 2'000'000);
    EXPECT_EQ(honest.Finish(server).size(), 2'000'000u);
  }
  // Not all hostile ones had to be closed before the honest one's turn came.
  EXPECT_GT(server.handler().stuck, 0u);
  EXPECT_LT(server.handler().stuck, 30u);
  EXPECT_LT(BufferBytes(server), 4 * kMiB);
}

// Whoever waits for its second reply still holds part of the first.
TEST_P(LoopRoomTest, SecondRepliesThatNobodyReadsTakeNoMoreThanTheRoom) {
  Rooms rooms = SmallRooms(kMiB);
  TestServer server(GetParam(), SoonStuck(&rooms), 1, UnixListener());
  std::vector<Peer> hostile;
  size_t largest = 0;
  for (int i = 0; i < 60; ++i) {
    hostile.emplace_back(server.address());
    ASSERT_TRUE(hostile.back().Send("big 300000\nbig 300000\n"));
    largest = std::max(largest, rooms.output.used());
  }
  // They are closed, though they wait.
  for (int ticks = 0; server.handler().stuck <= 2; ++ticks) {
    ASSERT_LT(ticks, 500);
    largest = std::max(largest, rooms.output.used());
    server.PassTick();
  }
  Talk honest(server.address(), "big 900000\n", 900'000);
  EXPECT_EQ(honest.Finish(server).size(), 900'000u);
  EXPECT_LT(largest, kMiB + kMiB / 2);
}

TEST_P(LoopRoomTest, WhoeverSendsOnAndReadsNothingIsStuckAllTheSame) {
  Rooms rooms = SmallRooms(kMiB);
  TestServer server(GetParam(), SoonStuck(&rooms), 1, UnixListener());
  Peer hostile(server.address());
  ASSERT_TRUE(hostile.Send("big 900000\ndrop 1000000000000\n"));
  ASSERT_TRUE(Eventually([&] { return rooms.output.used() > 0; }));
  const std::string much(64 << 10, 'x');
  Talk honest(server.address(), "big 900000\n", 900'000);
  const auto sends_on = [&] {
    send(hostile.fd(), much.data(), much.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  };
  EXPECT_EQ(honest.Finish(server, sends_on).size(), 900'000u);
  EXPECT_EQ(server.handler().stuck, 1u);
}

// How long others have waited is nothing to whoever only begins to hold some.
TEST_P(LoopRoomTest, WhoeverBeginsToHoldSomeIsNotClosedAtTheFirstLook) {
  Room::Options output;
  output.bytes = output.lane_bytes = kMiB;
  output.tight_bytes = kMiB / 2;
  Rooms rooms{Room(Room::Options()), Room(output)};
  TestServer server(GetParam(), SoonStuck(&rooms, 1000), 1, UnixListener());
  Peer old(server.address());
  ASSERT_TRUE(old.Send("big 1000000\n"));
  ASSERT_EQ(old.Receive(1'000'000).size(), 1'000'000u);
  Room::Holder other;
  rooms.output.Take(other, kMiB);
  Peer waits(server.address());
  ASSERT_TRUE(waits.Send("big 500000\n"));
  ASSERT_TRUE(Eventually([&] { return rooms.output.waiting() == 1; }));
  for (int i = 0; i < 150; ++i) server.PassTick();
  ASSERT_TRUE(old.Send("big 490000\n"));  // of the lane
  ASSERT_TRUE(Eventually([&] { return rooms.output.used() > kMiB; }));
  for (int i = 0; i < 3; ++i) server.PassTick();
  EXPECT_EQ(old.Receive(490'000).size(), 490'000u);
  EXPECT_EQ(server.handler().stuck, 0u);
  rooms.output.SetTaken(other, 0);
  EXPECT_EQ(waits.Receive(500'000).size(), 500'000u);
}

// However little memory there is: turns come for input alone, as ticks are far apart.
TEST_P(LoopRoomTest, SmallRequestsAreServedAtOnce) {
  Rooms rooms = SmallRooms(kMiB);
  LoopOptions options = With(&rooms, kNeverStuckMs);
  options.tick_ms = 600'000;
  TestServer server(GetParam(), options);
  Peer peer(server.address());
  ASSERT_TRUE(peer.Send("first\n"));
  ASSERT_EQ(peer.Receive(6), "first\n");
  Room::Holder other;
  rooms.input.Take(other, kMiB / 4 * 3);
  ASSERT_TRUE(rooms.input.tight());
  for (int i = 0; i < 20; i++) {
    ASSERT_TRUE(peer.Send("first\n"));
    ASSERT_EQ(peer.Receive(6), "first\n") << i;
  }
  std::string many;
  for (int i = 0; i < 10'000; i++) many += "first\n";
  ASSERT_TRUE(peer.Send(many));
  EXPECT_EQ(peer.Receive(many.size()), many);
  rooms.input.SetTaken(other, 0);
}

// A ring may have received all of it.
TEST(EpollRoomTest, WhatIsWholeIsReadThoughItsSenderLeftWhileItWaited) {
  Rooms rooms = SmallRooms(kMiB);
  TestServer server(EventLoop::Kind::kEpoll, With(&rooms, kNeverStuckMs), 1, UnixListener());
  Room::Holder other;
  rooms.input.Take(other, kMiB);
  const uint64_t closed_before = server.handler().closed;
  Peer peer(server.address());
  ASSERT_TRUE(peer.Send("first\n"));
  ASSERT_EQ(peer.Receive(6), "first\n");
  ASSERT_TRUE(peer.Send(NeedLine(100'000) + std::string(100'000, 'x')));
  ASSERT_TRUE(Eventually([&] { return rooms.input.waiting() == 1; }));
  peer.Close();
  const uint64_t ticks = server.handler().ticks;
  ASSERT_TRUE(Eventually([&] { return server.handler().ticks > ticks + 10; }));
  EXPECT_EQ(server.handler().closed, closed_before);
  rooms.input.SetTaken(other, 0);
  EXPECT_TRUE(Eventually([&] { return server.handler().closed == closed_before + 1; }));
  EXPECT_EQ(server.handler().lines, 2u);
}

TEST_P(LoopRoomTest, WhatIsLargerThanTheRoomIsServedAlone) {
  Rooms rooms = SmallRooms(kMiB);
  TestServer server(GetParam(), With(&rooms, kNeverStuckMs));
  for (int round = 0; round < 2; ++round) {
    Peer reader(server.address());
    ASSERT_TRUE(reader.Send("big 5000000\n"));
    EXPECT_EQ(reader.Receive(5'000'000).size(), 5'000'000u);
    Peer writer(server.address());
    ASSERT_TRUE(writer.Send(NeedLine(5'000'000)));
    ASSERT_TRUE(writer.Send(std::string(5'000'000, 'x')));
    EXPECT_EQ(writer.Receive(NeedAnswer(5'000'000).size()), NeedAnswer(5'000'000));
  }
}

TEST_P(LoopRoomTest, PipelinedRepliesWaitTheirTurnAndKeepTheirOrder) {
  Rooms rooms = SmallRooms(kMiB);
  TestServer server(GetParam(), With(&rooms, kNeverStuckMs), 2);
  constexpr size_t kPeers = 8;
  std::string text, expected;
  for (int i = 0; i < 60; ++i) {
    text += "big 50000\nnumber " + std::to_string(i) + "\n";
    expected += std::string(50'000, 'b') + "number " + std::to_string(i) + "\n";
  }
  std::vector<Peer> peers;
  for (size_t i = 0; i < kPeers; ++i) {
    peers.emplace_back(server.address(), 8192);
    ASSERT_TRUE(peers.back().Send(text));
  }
  std::vector<std::thread> readers;
  for (Peer& peer : peers)
    readers.emplace_back([&] { EXPECT_TRUE(peer.Receive(expected.size()) == expected); });
  for (std::thread& reader : readers) reader.join();
  EXPECT_TRUE(Eventually([&] { return rooms.output.used() == 0; }));
}

TEST_P(LoopRoomTest, ThoseThatLeaveWhileTheyWaitGiveTheirRoomBack) {
  Rooms rooms = SmallRooms(kMiB);
  TestServer server(GetParam(), With(&rooms, kNeverStuckMs), 2);
  for (int round = 0; round < 20; ++round) {
    std::vector<Peer> peers;
    for (int i = 0; i < 12; ++i) {
      peers.emplace_back(server.address(), 8192);
      ASSERT_TRUE(peers.back().Send(i % 2 == 0 ? std::string("big 700000\n")
                                               : NeedLine(700'000) + std::string(300'000, 'x')));
    }
    for (Peer& peer : peers) peer.Reset();
  }
  EXPECT_TRUE(Eventually([&] { return rooms.output.used() == 0 && rooms.input.used() == 0; }));
  EXPECT_EQ(rooms.output.waiting() + rooms.input.waiting(), 0u);
  Peer after(server.address());
  ASSERT_TRUE(after.Send("big 900000\n"));
  EXPECT_EQ(after.Receive(900'000).size(), 900'000u);
}

}  // namespace
}  // namespace weft::net
