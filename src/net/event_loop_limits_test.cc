// What a loop does when clients are many, slow, greedy or rude, and how it ends.
#include <malloc.h>
#include <sys/resource.h>

#include <cstdio>
#include <random>

#include "base/seed_test_kit.h"
#include "net/peer_test_kit.h"

namespace weft::net {
namespace {

using LoopLimitsTest = LoopTest;
INSTANTIATE_TEST_SUITE_P(Kinds, LoopLimitsTest,
                         ::testing::Values(EventLoop::Kind::kEpoll, EventLoop::Kind::kUring),
                         KindName);

// Raises the descriptor limit; the connections that fit, both ends being in this process.
size_t ConnectionsThatFit(size_t wanted) {
  rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t needed = wanted * 2 + 200;
  if (limit.rlim_cur < needed) {
    const rlimit raised = {needed, std::max(limit.rlim_max, needed)};
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0) {
      limit.rlim_cur = limit.rlim_max;
      setrlimit(RLIMIT_NOFILE, &limit);
    }
    getrlimit(RLIMIT_NOFILE, &limit);
  }
  if (limit.rlim_cur >= needed) return wanted;
  const size_t fit = (static_cast<size_t>(limit.rlim_cur) - 200) / 2;
  std::printf("the descriptor limit %zu leaves %zu of %zu connections\n",
              static_cast<size_t>(limit.rlim_cur), fit, wanted);
  return fit;
}

size_t AllocatedBytes() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

TEST_P(LoopLimitsTest, SlowReaderHoldsBoundedMemory) {
  LoopOptions options;
  options.output_high_bytes = 256 << 10;
  options.output_low_bytes = 64 << 10;
  TestServer server(GetParam(), options);
  Peer slow(server.address(), 8192);
  constexpr size_t kRequests = 3000;
  constexpr size_t kReplyBytes = 20000;
  std::thread writer([&] {
    for (size_t i = 0; i < kRequests; ++i) ASSERT_TRUE(slow.Send("big 20000\n"));
  });
  usleep(300000);  // lets the replies pile up as far as they may
  EXPECT_LT(server.loop().Stats().buffer_bytes, size_t{2} << 20);
  Peer other(server.address());
  ASSERT_TRUE(other.Send("quick\n"));
  EXPECT_EQ(other.Receive(6), "quick\n");
  EXPECT_EQ(slow.Receive(kRequests * kReplyBytes).size(), kRequests * kReplyBytes);
  writer.join();
  EXPECT_LT(server.handler().pending_max, size_t{300} << 10);
}

// The rest of its requests may arrive while the loop has ceased to read from it, for so much output
// waits: with io_uring a receive may still be with the system. No further byte comes as a reminder.
TEST_P(LoopLimitsTest, WhatArrivesWhileOutputPilesUpIsAnsweredOnceItHasDrained) {
  constexpr size_t kPeers = 26;
  constexpr size_t kUploadBytes = 120'000;  // a few short of all buffers that the system fills
  const std::string tail(60'000, 'p');
  for (size_t place = 14; place < 21; ++place) {
    LineHandler handler;
    auto loop = EventLoop::Create(GetParam(), LoopOptions(), &handler);
    ASSERT_TRUE(loop.has_value());
    std::vector<int> ends;
    for (size_t i = 0; i < kPeers; ++i) {
      int pair[2];
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
      const std::string sent =
          i == place ? "big 4000000\n" + tail + "\nlast\n" : std::string(kUploadBytes, 'u');
      ASSERT_EQ(send(pair[0], sent.data(), sent.size(), MSG_DONTWAIT),
                static_cast<ssize_t>(sent.size()));
      ASSERT_TRUE((*loop)->Adopt(pair[1], Transport::kUnix, 0).ok());
      ends.push_back(pair[0]);
    }
    std::thread runner([&] { EXPECT_TRUE((*loop)->Run().ok()); });
    const size_t expected = 4'000'000 + tail.size() + 6;
    const timeval limit = {20, 0};
    setsockopt(ends[place], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    std::string got(expected, '\0');
    size_t got_bytes = 0;
    while (got_bytes < expected) {
      const ssize_t n = recv(ends[place], got.data() + got_bytes, expected - got_bytes, 0);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      got_bytes += static_cast<size_t>(n);
    }
    EXPECT_EQ(got_bytes, expected) << place;
    EXPECT_TRUE(got.ends_with("p\nlast\n"));
    for (const int end : ends) close(end);
    (*loop)->Stop(0);
    runner.join();
  }
}

TEST_P(LoopLimitsTest, PeerThatNeverReadsStopsBeingReadFrom) {
  TestServer server(GetParam());
  Peer peer(server.address(), 8192);
  const std::string line = std::string(1000, 'x') + "\n";
  size_t sent = 0;
  // It must come to a stand: what both sockets and the loop may hold is bounded.
  for (int quiet = 0; quiet < 50;) {
    const ssize_t n = send(peer.fd(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<size_t>(n);
      quiet = 0;
    } else {
      ++quiet;
      usleep(5000);
    }
    ASSERT_LT(sent, size_t{64} << 20);
  }
  EXPECT_LT(server.loop().Stats().buffer_bytes, size_t{4} << 20);
}

TEST_P(LoopLimitsTest, TenThousandConnectionsCostLittleAndAllAnswer) {
  const size_t count = ConnectionsThatFit(10000);
  TestServer server(GetParam());
  {
    Peer warm(server.address());
    ASSERT_TRUE(warm.Send("x\n"));
    ASSERT_EQ(warm.Receive(2), "x\n");
  }
  std::vector<Peer> peers;
  peers.reserve(count);
  const size_t before = AllocatedBytes();
  for (size_t i = 0; i < count; ++i) {
    peers.emplace_back(server.address());
    ASSERT_TRUE(peers.back().connected()) << i;
  }
  ASSERT_TRUE(Eventually([&] { return server.handler().opened == count + 1; }));
  const size_t each = (AllocatedBytes() - before) / count;
  std::printf("%zu idle connections: %zu bytes each (connection object %zu)\n", count, each,
              sizeof(Connection));
#if !defined(WEFT_SANITIZED)
  EXPECT_LT(each, 1024u);
#endif
  EXPECT_EQ(server.loop().Stats().buffer_bytes, 0u);
  for (int round = 0; round < 2; ++round) {
    for (Peer& peer : peers) ASSERT_TRUE(peer.Send("hello\n"));
    for (Peer& peer : peers) ASSERT_EQ(peer.Receive(6), "hello\n");
  }
}

TEST_P(LoopLimitsTest, StormOfConnectionsLeavesNothingBehind) {
  TestServer server(GetParam(), {}, 2);
  constexpr int kThreads = 4;
  constexpr int kEach = 700;
  std::vector<std::thread> clients;
  for (int t = 0; t < kThreads; ++t) {
    clients.emplace_back([&server, t] {
      std::mt19937 random(base::TestSeed(static_cast<unsigned>(t)));
      for (int i = 0; i < kEach; ++i) {
        Peer peer(server.address());
        const unsigned way = random() % 5;
        if (way >= 1) peer.Send("some line\n");
        if (way >= 2) {
          EXPECT_EQ(peer.Receive(10), "some line\n");
        }
        if (way == 3) peer.Send("half");
        if (way == 4) peer.Send("big 1000000\n");
        if (way % 2 == 0) peer.Reset();
      }
    });
  }
  for (auto& client : clients) client.join();
  // The last ones may be gone before they are accepted.
  EXPECT_TRUE(Eventually([&] {
    return server.handler(0).opened + server.handler(1).opened == uint64_t{kThreads * kEach};
  }));
  EXPECT_TRUE(Eventually([&] {
    return server.loop(0).Stats().connections_open + server.loop(1).Stats().connections_open == 0;
  }));
  EXPECT_TRUE(Eventually([&] { return server.loop(0).Stats().buffer_bytes == 0; }));
}

TEST_P(LoopLimitsTest, ConnectionsBeyondTheLimitAreTurnedAway) {
  Admission admission(3);
  LoopOptions options;
  options.admission = &admission;
  TestServer server(GetParam(), options);
  std::vector<Peer> peers;
  for (int i = 0; i < 3; ++i) {
    peers.emplace_back(server.address());
    ASSERT_TRUE(peers.back().Send("in\n"));
    ASSERT_EQ(peers.back().Receive(3), "in\n");
  }
  Peer refused(server.address());
  EXPECT_EQ(refused.Receive(100), "ERROR Too many open connections\r\n");
  EXPECT_EQ(admission.refused(), 1u);
  peers.pop_back();
  ASSERT_TRUE(Eventually([&] { return admission.open() == 2; }));
  Peer again(server.address());
  ASSERT_TRUE(again.Send("in\n"));
  EXPECT_EQ(again.Receive(3), "in\n");
}

// So many come at once that they would use up the descriptors before the first was turned away.
TEST_P(LoopLimitsTest, ThoseWhoAreTurnedAwayHoldFewDescriptors) {
  constexpr uint64_t kPeers = 120;
  Admission admission(1);
  LoopOptions options;
  options.admission = &admission;
  auto opened = Listener::OpenTcp({"127.0.0.1", 0}, TlsMode::kNone, {.backlog = 4096});
  ASSERT_TRUE(opened.has_value());
  std::vector<Peer> peers;
  for (uint64_t i = 0; i < kPeers; ++i) peers.emplace_back((*opened)[0]->address());
  rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  const int next = dup(0);
  close(next);
  const rlimit few = {static_cast<rlim_t>(next) + 90, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  {
    TestServer server(GetParam(), options, 1, std::move(*opened));
    EXPECT_TRUE(Eventually([&] { return admission.refused() == kPeers - 1; }));
    EXPECT_EQ(server.loop().Stats().accept_pauses, 0u);
  }
  setrlimit(RLIMIT_NOFILE, &limit);
}

TEST_P(LoopLimitsTest, RunningOutOfDescriptorsPausesAccepting) {
  rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit few = {100, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  LoopOptions options;
  options.tick_ms = 20;
  TestServer server(GetParam(), options);
  Peer first(server.address());
  ASSERT_TRUE(first.Send("a\n"));
  ASSERT_EQ(first.Receive(2), "a\n");
  Peer waiting(server.address(), 0, Peer::kConnectLater);
  std::vector<int> fillers;
  for (int fd = dup(0); fd >= 0; fd = dup(0)) fillers.push_back(fd);
  ASSERT_TRUE(waiting.Connect(server.address()));
  EXPECT_TRUE(Eventually([&] { return server.loop().Stats().accept_pauses > 0; }));
  EXPECT_TRUE(Eventually([&] { return server.loop().Stats().accept_paused_us > 100'000; }));
  for (int fd : fillers) close(fd);
  ASSERT_TRUE(waiting.Send("b\n"));
  EXPECT_EQ(waiting.Receive(2), "b\n");
  EXPECT_EQ(server.loop().Stats().loops_not_accepting, 0u);
  setrlimit(RLIMIT_NOFILE, &limit);
}

TEST_P(LoopLimitsTest, IdleConnectionsAreClosedAndBusyOnesAreNot) {
  LoopOptions options;
  options.tick_ms = 10;
  options.idle_timeout_ms = 200;
  options.clock_ms = StillClock;
  TestServer server(GetParam(), options);
  Peer idle(server.address());
  Peer busy(server.address());
  for (int i = 0; i < 40; ++i) {
    if (i == 19) {
      EXPECT_EQ(server.loop().Stats().idle_closed, 0u) << "too early";
    }
    ASSERT_TRUE(busy.Send("x\n"));
    ASSERT_EQ(busy.Receive(2), "x\n");
    server.PassTick();
  }
  EXPECT_TRUE(idle.SeesEnd());
  EXPECT_EQ(server.loop().Stats().idle_closed, 1u);
}

TEST_P(LoopLimitsTest, IdleLoopTakesNoTurnsButForTicks) {
  LoopOptions options;
  options.tick_ms = 20;
  TestServer server(GetParam(), options);
  Peer peer(server.address());
  ASSERT_TRUE(Eventually([&] { return server.handler().opened == 1; }));
  // A wait may end before the tick is due; a loop that spins takes thousands of turns a tick.
  const uint64_t ticks = server.handler().ticks;
  const uint64_t turns = server.loop().Stats().turns;
  ASSERT_TRUE(Eventually([&] { return server.handler().ticks - ticks >= 50; }));
  const uint64_t turns_passed = server.loop().Stats().turns - turns;
  EXPECT_LT(turns_passed, 5 * (server.handler().ticks - ticks));
}

// The turns that stopping took, where each takes 1 ms of the grace time. They are counted once the
// loop has been told: before, there may be any number.
uint64_t TurnsOfStop(TestServer& server, uint64_t grace_ms) {
  server.loop().Stop(grace_ms);
  const uint64_t turns = server.loop().Stats().turns;
  server.Stop(grace_ms);
  return server.loop().Stats().turns - turns;
}

LoopOptions WithTurnClock() {
  LoopOptions options;
  options.clock_ms = TurnClock;
  return options;
}

TEST_P(LoopLimitsTest, StopWithoutClientsEndsAtOnce) {
  TestServer server(GetParam(), WithTurnClock());
  EXPECT_LT(TurnsOfStop(server, 2000), 1000u) << "waited for nobody";
}

TEST_P(LoopLimitsTest, StopClosesIdleConnectionsAtOnce) {
  TestServer server(GetParam(), WithTurnClock());
  Peer peer(server.address());
  ASSERT_TRUE(Eventually([&] { return server.handler().opened == 1; }));
  EXPECT_LT(TurnsOfStop(server, 2000), 1000u) << "waited for nobody";
  EXPECT_TRUE(peer.SeesEnd());
  EXPECT_EQ(server.handler().closed, 1u);
}

TEST_P(LoopLimitsTest, GracefulStopLosesNoReply) {
  TestServer server(GetParam(), {}, 2);
  std::vector<Peer> peers;
  constexpr size_t kReplyBytes = 3000000;  // more than the sockets between hold
  for (int i = 0; i < 10; ++i) peers.emplace_back(server.address(), 8192);
  ASSERT_TRUE(
      Eventually([&] { return server.handler(0).opened + server.handler(1).opened == 10; }));
  for (Peer& peer : peers) ASSERT_TRUE(peer.Send("big 3000000\nlast\n"));
  std::thread stopper([&] { server.Stop(30000); });
  for (Peer& peer : peers) {
    const std::string reply = peer.Receive(kReplyBytes + 6);
    EXPECT_EQ(reply.size(), kReplyBytes + 5);
    EXPECT_TRUE(reply.ends_with("last\n"));
  }
  stopper.join();
}

TEST_P(LoopLimitsTest, GracefulStopUnderLoadAnswersWhatWasSentBefore) {
  TestServer server(GetParam(), WithTurnClock());
  std::atomic<uint64_t> cut_short{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      Peer peer(server.address());
      std::string reply = "x\n";
      while (reply == "x\n" && peer.Send("x\n")) reply = peer.Receive(2);
      if (reply.size() == 1) ++cut_short;
    });
  }
  usleep(200000);
  EXPECT_LT(TurnsOfStop(server, 20'000), 10'000u) << "clients with replies were waited for";
  for (auto& client : clients) client.join();
  EXPECT_EQ(cut_short, 0u);
}

TEST_P(LoopLimitsTest, GraceTimeBoundsTheStop) {
  TestServer server(GetParam());
  Peer stuck(server.address(), 8192);
  ASSERT_TRUE(stuck.Send("big 20000000\n"));
  ASSERT_TRUE(Eventually([&] { return server.handler().lines == 1; }));
  server.Stop(300);  // waits for the stuck one no longer than that, or the test would not end
  EXPECT_EQ(server.loop().Stats().buffer_bytes, 0u);
}

}  // namespace
}  // namespace weft::net
