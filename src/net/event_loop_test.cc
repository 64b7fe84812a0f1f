// What a handler and its clients may rely on, for every kind of loop.
#include "net/event_loop.h"

#include <algorithm>
#include <random>

#include "base/seed_test_kit.h"
#include "net/peer_test_kit.h"

namespace weft::net {
namespace {

using EventLoopTest = LoopTest;
INSTANTIATE_TEST_SUITE_P(Kinds, EventLoopTest,
                         ::testing::Values(EventLoop::Kind::kEpoll, EventLoop::Kind::kUring),
                         KindName);

std::string RandomLines(std::mt19937& random, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += std::to_string(i) + std::string(random() % 300, static_cast<char>('A' + i % 26)) + "\n";
  }
  return text;
}

TEST_P(EventLoopTest, EchoesWhateverTheSplits) {
  TestServer server(GetParam());
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(base::TestSeed(seed));
    const std::string text = RandomLines(random, 300);
    Peer peer(server.address());
    std::thread writer([&] {
      for (size_t at = 0; at < text.size();) {
        const size_t n = std::min<size_t>(1 + random() % 2000, text.size() - at);
        ASSERT_TRUE(peer.Send(std::string_view(text).substr(at, n)));
        at += n;
        if (random() % 8 == 0) usleep(200);
      }
    });
    const std::string echo = peer.Receive(text.size());
    writer.join();
    const auto [at, unused] = std::mismatch(echo.begin(), echo.end(), text.begin());
    EXPECT_TRUE(echo == text) << "seed " << seed << ", from byte " << at - echo.begin() << " of "
                              << echo.size() << ", wanted " << text.size();
  }
}

TEST_P(EventLoopTest, PipelinedRequestsAreAnsweredInOrder) {
  TestServer server(GetParam());
  std::mt19937 random(base::TestSeed(3));
  const std::string text = RandomLines(random, 5000);
  Peer peer(server.address());
  std::thread writer([&] { ASSERT_TRUE(peer.Send(text)); });
  EXPECT_TRUE(peer.Receive(text.size()) == text);
  writer.join();
}

TEST_P(EventLoopTest, HalfRequestWaitsForItsRestByteByByte) {
  TestServer server(GetParam());
  Peer peer(server.address());
  for (char c : std::string("slow\nne")) {
    ASSERT_TRUE(peer.Send({&c, 1}));
    usleep(3000);
  }
  EXPECT_EQ(peer.Receive(5), "slow\n");
  ASSERT_TRUE(peer.Send("xt\n"));
  EXPECT_EQ(peer.Receive(5), "next\n");
  EXPECT_TRUE(Eventually([&] { return server.loop().Stats().buffer_bytes == 0; }));
}

TEST_P(EventLoopTest, LastRequestsOfAHalfClosedConnectionAreAnswered) {
  TestServer server(GetParam());
  Peer peer(server.address());
  ASSERT_TRUE(peer.Send("one\ntwo\nrest without end"));
  peer.FinishSending();
  EXPECT_EQ(peer.Receive(8), "one\ntwo\n");
  EXPECT_TRUE(peer.SeesEnd());
  EXPECT_TRUE(Eventually([&] { return server.handler().closed == 1; }));
}

TEST_P(EventLoopTest, HeldConnectionWaitsAndOthersGoOn) {
  TestServer server(GetParam());
  Peer held(server.address());
  Peer other(server.address());
  ASSERT_TRUE(held.Send("before\nhold\nafter\n"));
  EXPECT_EQ(held.Receive(7), "before\n");
  ASSERT_TRUE(Eventually([&] { return server.handler().holds == 1; }));
  ASSERT_TRUE(held.Send("more\n"));
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(other.Send("quick\n"));
    ASSERT_EQ(other.Receive(6), "quick\n");
  }
  EXPECT_EQ(recv(held.fd(), nullptr, 0, MSG_PEEK | MSG_DONTWAIT), -1) << "answered while held";
  server.loop().Wake();
  EXPECT_EQ(held.Receive(16), "hold\nafter\nmore\n");
}

TEST_P(EventLoopTest, HeldConnectionIsAnsweredThoughThePeerHasSentItsLastByte) {
  TestServer server(GetParam());
  Peer peer(server.address());
  ASSERT_TRUE(peer.Send("hold\nafter\n"));
  peer.FinishSending();
  ASSERT_TRUE(Eventually([&] { return server.handler().holds == 1; }));
  usleep(20000);
  server.loop().Wake();
  EXPECT_EQ(peer.Receive(11), "hold\nafter\n");
  EXPECT_TRUE(peer.SeesEnd());
}

TEST_P(EventLoopTest, StopWaitsForHeldConnections) {
  TestServer server(GetParam());
  Peer peer(server.address());
  Peer gone(server.address());
  ASSERT_TRUE(peer.Send("hold\nafter\n"));
  ASSERT_TRUE(gone.Send("hold\n"));
  ASSERT_TRUE(Eventually([&] { return server.handler().holds == 2; }));
  gone.Reset();
  std::thread stopper([&] { server.Stop(10000); });
  usleep(50000);
  server.loop().Wake();
  EXPECT_EQ(peer.Receive(11), "hold\nafter\n");
  EXPECT_TRUE(peer.SeesEnd());
  stopper.join();
}

TEST_P(EventLoopTest, OutputThatIsTakenBackIsNotSent) {
  TestServer server(GetParam());
  for (const size_t before : {0, 10, 70000, 200000}) {
    for (const size_t taken : {1, 100, 70000, 300000}) {
      Peer peer(server.address());
      ASSERT_TRUE(peer.Send("big " + std::to_string(before) + "\noops " + std::to_string(taken) +
                            "\nbig 5\nend\n"));
      EXPECT_TRUE(peer.Receive(before + 9) == std::string(before + 5, 'b') + "end\n")
          << before << " kept, " << taken << " taken back";
    }
  }
}

TEST_P(EventLoopTest, CloseAfterFlushSendsEverythingFirst) {
  TestServer server(GetParam());
  Peer peer(server.address());
  ASSERT_TRUE(peer.Send("big 3000000\nquit\nmore that nobody reads\n"));
  EXPECT_EQ(peer.Receive(4000000).size(), 3000000u);
}

TEST_P(EventLoopTest, SwallowedBytesAreNeverSeen) {
  TestServer server(GetParam());
  Peer peer(server.address());
  const std::string junk(1000000, '\n');
  ASSERT_TRUE(peer.Send("drop 1000000\n" + junk + "after\n"));
  EXPECT_EQ(peer.Receive(6), "after\n");
}

TEST_P(EventLoopTest, LargeReplyArrivesWhole) {
  TestServer server(GetParam());
  Peer peer(server.address());
  constexpr size_t kBytes = size_t{32} << 20;
  ASSERT_TRUE(peer.Send("big " + std::to_string(kBytes) + "\nafter\n"));
  const std::string reply = peer.Receive(kBytes);
  ASSERT_EQ(reply.size(), kBytes);
  EXPECT_EQ(reply.find_first_not_of('b'), std::string::npos);
  EXPECT_EQ(peer.Receive(6), "after\n");
  EXPECT_TRUE(Eventually([&] { return server.loop().Stats().buffer_bytes == 0; }));
}

TEST_P(EventLoopTest, LargeRequestArrivesWhole) {
  TestServer server(GetParam());
  Peer peer(server.address());
  std::string body(size_t{32} << 20, '\0');
  uint64_t sum = 0;
  for (size_t i = 0; i < body.size(); ++i) {
    body[i] = static_cast<char>(i * 31 + i / 4096);
    sum += static_cast<unsigned char>(body[i]);
  }
  ASSERT_TRUE(peer.Send("need " + std::to_string(body.size()) + "\n" + body + "after\n"));
  const std::string expected =
      std::to_string(body.size()) + " " + std::to_string(sum) + "\nafter\n";
  EXPECT_EQ(peer.Receive(expected.size()), expected);
  EXPECT_TRUE(Eventually([&] { return server.loop().Stats().buffer_bytes == 0; }));
}

TEST_P(EventLoopTest, ManyConnectionsMakeOneBatch) {
  TestServer server(GetParam());
  std::vector<Peer> peers;
  for (int i = 0; i < 100; ++i) peers.emplace_back(server.address());
  ASSERT_TRUE(Eventually([&] { return server.handler().opened == 100; }));
  for (int round = 0; round < 50 && server.handler().largest_batch < 2; ++round) {
    for (Peer& peer : peers) ASSERT_TRUE(peer.Send("x\n"));
    for (Peer& peer : peers) ASSERT_EQ(peer.Receive(2), "x\n");
  }
  EXPECT_GT(server.handler().largest_batch, 1u);
}

TEST_P(EventLoopTest, UnixSocketsAreServedBesideTcp) {
  const std::string path = ::testing::TempDir() + "weft_loop_" + std::to_string(getpid()) + ".sock";
  auto listeners = Listener::OpenTcp({"127.0.0.1", 0}, TlsMode::kNone, {});
  auto local = Listener::OpenUnix(path, {.unix_mask = 0700});
  ASSERT_TRUE(listeners.has_value() && local.has_value());
  listeners->push_back(std::move(*local));
  TestServer server(GetParam(), {}, 1, std::move(*listeners));
  Peer tcp(server.address(0));
  Peer unix_peer(*UnixAddress(path));
  ASSERT_TRUE(tcp.Send("t\n") && unix_peer.Send("u\nbig 500000\n"));
  EXPECT_EQ(tcp.Receive(2), "t\n");
  EXPECT_EQ(unix_peer.Receive(500002).size(), 500002u);
  std::vector<ConnectionInfo> seen;
  server.loop().ForEachConnection([&](const ConnectionInfo& info) { seen.push_back(info); });
  ASSERT_EQ(seen.size(), 2u);
  for (const ConnectionInfo& info : seen) {
    EXPECT_EQ(info.transport, info.listener_index == 0 ? Transport::kTcp : Transport::kUnix);
    EXPECT_EQ(info.peer.starts_with("127.0.0.1:"), info.transport == Transport::kTcp) << info.peer;
    EXPECT_GT(info.bytes_in, 0u);
  }
}

// The system says at once that a closed Unix socket is gone in both directions.
TEST_P(EventLoopTest, WhatWasSentBeforeACloseIsCarriedOutThoughItMustWait) {
  const std::string path = ::testing::TempDir() + "weft_loop_" + std::to_string(getpid()) + ".sock";
  std::vector<std::unique_ptr<Listener>> listeners;
  auto local = Listener::OpenUnix(path, {.unix_mask = 0700});
  ASSERT_TRUE(local.has_value());
  listeners.push_back(std::move(*local));
  TestServer server(GetParam(), {}, 1, std::move(listeners));
  std::string quiet;
  for (int i = 0; i < 100; ++i) quiet += "oops 1\n";
  {
    Peer peer(*UnixAddress(path));
    ASSERT_TRUE(peer.Send("hold\n" + quiet));
    ASSERT_TRUE(Eventually([&] { return server.handler().holds == 1; }));
  }
  const uint64_t ticks = server.handler().ticks;
  ASSERT_TRUE(Eventually([&] { return server.handler().ticks > ticks + 2; }));
  server.loop().Wake();
  EXPECT_TRUE(Eventually([&] { return server.handler().closed == 1; }));
  EXPECT_EQ(server.handler().lines, 101u);
}

TEST_P(EventLoopTest, AdoptedSocketIsServed) {
  TestServer server(GetParam());
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  ASSERT_TRUE(server.loop().Adopt(ends[0], Transport::kUnix, 0).ok());
  ASSERT_EQ(send(ends[1], "hi\n", 3, 0), 3);
  char reply[3];
  EXPECT_EQ(recv(ends[1], reply, 3, MSG_WAITALL), 3);
  close(ends[1]);
}

TEST_P(EventLoopTest, EndBehindMoreThanOneTakeIsSeen) {
  LoopOptions options;
  options.take_bytes_max = 4096;
  TestServer server(GetParam(), options);
  // The end is there before the first byte is taken, so the system says so once, with the bytes.
  for (const size_t sent_bytes : {4000u, 4096u, 4097u, 10000u, 12288u}) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const timeval limit = {20, 0};
    setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    const std::string sent(sent_bytes, '\n');
    ASSERT_EQ(send(ends[1], sent.data(), sent.size(), 0), static_cast<ssize_t>(sent.size()));
    shutdown(ends[1], SHUT_WR);
    ASSERT_TRUE(server.loop().Adopt(ends[0], Transport::kUnix, 0).ok());
    // A socket with a time limit is one whose waits a ring's own work may interrupt.
    const auto receive = [&](char* at, size_t bytes) {
      ssize_t got;
      do got = recv(ends[1], at, bytes, 0);
      while (got < 0 && errno == EINTR);
      return got;
    };
    std::string reply(sent_bytes, '\0');
    size_t received = 0;
    for (ssize_t got = 1; received < sent_bytes && got > 0; received += std::max<ssize_t>(got, 0))
      got = receive(&reply[received], sent_bytes - received);
    EXPECT_EQ(received, sent_bytes);
    EXPECT_EQ(receive(reply.data(), 1), 0) << sent_bytes;
    close(ends[1]);
  }
}

TEST_P(EventLoopTest, WakeReachesTheHandler) {
  TestServer server(GetParam());
  server.loop().Wake();
  EXPECT_TRUE(Eventually([&] { return server.handler().wakes > 0; }));
}

TEST_P(EventLoopTest, WhatCanWaitIsDoneBesideTheRequests) {
  LoopOptions options;
  options.tick_ms = 20'000;  // turns come for input, or for work that is left
  TestServer server(GetParam(), options);
  server.handler().spare_turns = 1'000'000'000;
  Peer peer(server.address());
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(peer.Send("x\n"));
    EXPECT_EQ(peer.Receive(2), "x\n");
  }
  const uint64_t left = server.handler().spare_turns;
  EXPECT_LT(left, 1'000'000'000u);
  EXPECT_TRUE(Eventually([&] { return server.handler().spare_turns < left; }));
  server.handler().spare_turns = 100;
  EXPECT_TRUE(Eventually([&] { return server.handler().spare_turns == 0; }));
}

TEST_P(EventLoopTest, ConnectionsAreSharedEvenly) {
  TestServer server(GetParam(), {}, 2);
  std::vector<Peer> peers;
  for (int i = 0; i < 50; ++i) {
    peers.emplace_back(server.address());
    ASSERT_TRUE(peers.back().Send("x\n"));
  }
  for (Peer& peer : peers) EXPECT_EQ(peer.Receive(2), "x\n");
  EXPECT_EQ(server.handler(0).opened, 25u);
  EXPECT_EQ(server.handler(1).opened, 25u);
}

TEST(EventLoop, AutomaticChoiceNamesItself) {
  LineHandler handler;
  auto loop = EventLoop::Create(EventLoop::Kind::kAuto, {}, &handler);
  ASSERT_TRUE(loop.has_value());
  const bool uring = EventLoop::UringAvailable().ok();
  EXPECT_EQ(loop.value()->kind(), uring ? "io_uring" : "epoll");
}

TEST(EventLoop, ContradictingOptionsAreRefused) {
  LineHandler handler;
  LoopOptions options;
  options.output_low_bytes = options.output_high_bytes;
  EXPECT_FALSE(EventLoop::Create(EventLoop::Kind::kEpoll, options, &handler).has_value());
  EXPECT_FALSE(EventLoop::Create(EventLoop::Kind::kEpoll, {}, nullptr).has_value());
}

}  // namespace
}  // namespace weft::net
