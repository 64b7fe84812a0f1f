// Whoever must log in: nothing else is carried out before, and guesses are slow and few.
#include <gtest/gtest.h>

#include <algorithm>

#include "server/worker_test_kit.h"

namespace weft::server {
namespace {

const std::string kRight = "set k 0 0 10\r\nuser right\r\n";
const std::string kWrong = "set k 0 0 10\r\nuser wrong\r\n";
constexpr std::string_view kFailure = "CLIENT_ERROR authentication failure\r\n";

WorkerOptions WithToken() {
  WorkerOptions options;
  options.terms = {{protocol::Dialect::kAny, protocol::Gate::kToken}};
  return options;
}

class WorkerLoginTest : public net::LoopTest {
 protected:
  void SetUp() override {
    net::LoopTest::SetUp();
    if (!IsSkipped()) server_.Start(GetParam(), nullptr, net::StillClock);
  }
  // Lets the clock go on by less than a failed login costs, or by more.
  void Pass(uint64_t ms) {
    net::test_clock_ms += ms;
    server_.loop().Wake();
  }
  uint64_t Failures() { return server_.worker().counters().auth_errors.value(); }
  // Fails to log in once more. The answer comes when the clock goes on.
  std::string Fail(net::Peer& peer) {
    const uint64_t before = Failures();
    EXPECT_TRUE(peer.Send(kWrong));
    EXPECT_TRUE(net::Eventually([&] { return Failures() == before + 1; }));
    Pass(50);
    net::Peer other(server_.address());  // is served meanwhile
    EXPECT_EQ(Ask(other, kRight, "\r\n"), "STORED\r\n");
    pollfd wait{peer.fd(), POLLIN, 0};
    EXPECT_EQ(poll(&wait, 1, 0), 0) << "answered at once";
    Pass(200);
    return peer.Receive(kFailure.size());
  }
  WorkerServer server_{WithToken()};
};
INSTANTIATE_TEST_SUITE_P(Kinds, WorkerLoginTest,
                         testing::Values(net::EventLoop::Kind::kEpoll,
                                         net::EventLoop::Kind::kUring),
                         net::KindName);

TEST_P(WorkerLoginTest, CommandsRunOnceTheClientHasEntered) {
  net::Peer peer(server_.address());
  EXPECT_EQ(Ask(peer, "get a\r\n" + kRight + "set a 0 0 1\r\n1\r\nget a\r\n", "END\r\n"),
            "CLIENT_ERROR unauthenticated\r\nSTORED\r\nSTORED\r\nVALUE a 0 1\r\n1\r\nEND\r\n");
  EXPECT_EQ(server_.worker().counters().auth_cmds.value(), 1u);
  EXPECT_EQ(server_.worker().counters().auth_errors.value(), 0u);
  EXPECT_EQ(server_.worker().counters().cmd_set.value(), 1u);
  net::Peer other(server_.address());  // each connection for itself
  EXPECT_EQ(Ask(other, "get a\r\n", "\r\n"), "CLIENT_ERROR unauthenticated\r\n");
}

TEST_P(WorkerLoginTest, ATokenMayComeInPieces) {
  net::Peer peer(server_.address());
  for (const char byte : kRight.substr(0, kRight.size() - 1)) {
    ASSERT_TRUE(peer.Send({&byte, 1}));
    usleep(100);
  }
  EXPECT_EQ(Ask(peer, "\n", "\r\n"), "STORED\r\n");
}

TEST_P(WorkerLoginTest, AThirdFailureEndsTheConnection) {
  net::Peer peer(server_.address());
  EXPECT_EQ(Fail(peer), kFailure);
  EXPECT_EQ(Ask(peer, "get a\r\n", "\r\n"), "CLIENT_ERROR unauthenticated\r\n");
  EXPECT_EQ(Fail(peer), kFailure);
  // What lies behind a wrong token waits for the answer, and then it is too late.
  EXPECT_TRUE(peer.Send(kWrong + kRight));
  EXPECT_TRUE(net::Eventually([&] { return Failures() == 3; }));
  Pass(200);
  EXPECT_EQ(peer.Receive(10'000), kFailure);
  EXPECT_EQ(server_.worker().counters().auth_cmds.value(), 5u);
}

TEST_P(WorkerLoginTest, WhoeverWaitsForAnAnswerMayLeave) {
  for (int i = 0; i < 20; ++i) {
    net::Peer peer(server_.address());
    ASSERT_TRUE(peer.Send(kWrong));
    if (i % 2 == 0) peer.Reset();
  }
  Pass(200);
  net::Peer peer(server_.address());
  EXPECT_EQ(Ask(peer, kRight, "\r\n"), "STORED\r\n");
}

// Batches that land on devices bring their connections back in the midst of a turn.
TEST(WorkerLoginOnDevices, GuessesAreSlowAndFewThereToo) {
  processor::Guard guard(processor::NewCpuProcessor());
  WorkerOptions options = WithDevice(&guard);
  options.terms = WithToken().terms;
  WorkerServer server(options);
  server.Start(net::EventLoop::Kind::kEpoll, nullptr, net::StillClock);
  net::Peer peer(server.address());
  net::Peer other(server.address());
  ASSERT_TRUE(peer.Send(kWrong + kWrong + kWrong + kRight + "get a\r\n"));
  for (uint64_t failures = 1; failures <= 3; ++failures) {
    const auto failed = [&] { return server.worker().counters().auth_errors.value(); };
    EXPECT_TRUE(net::Eventually([&] { return failed() == failures; }));
    for (int i = 0; i < 30; ++i) {
      std::string junk = "version\r\n";
      for (int j = 0; j < i % 4 * 50; ++j) junk += "get a\r\n";
      ASSERT_TRUE(peer.Send("junk\r\n"));
      EXPECT_TRUE(Ask(other, junk + "set a 0 0 1\r\n1\r\n", "format\r\n").ends_with("format\r\n"));
    }
    EXPECT_EQ(failed(), failures);
    net::test_clock_ms += 200;
    server.loop().Wake();
    EXPECT_EQ(peer.Receive(kFailure.size()), kFailure);
  }
  EXPECT_TRUE(peer.Receive(1).empty());
  EXPECT_EQ(server.worker().counters().auth_cmds.value(), 3u);
}

// Whoever takes nothing of a list keeps others from theirs, but not for ever.
TEST(WorkerDump, OneThatIsNotReadEnds) {
  CacheOptions store;
  store.memory_bytes = uint64_t{256} << 20;
  WorkerServer server({}, store);
  server.Start(net::EventLoop::Kind::kEpoll, nullptr, net::StillClock);
  net::Peer other(server.address());
  std::string stores;
  for (int i = 0; i < 300'000; ++i)
    stores += "set key" + std::to_string(i) + " 0 0 1 noreply\r\n1\r\n";
  EXPECT_EQ(Ask(other, stores + "mn\r\n", "MN\r\n"), "MN\r\n");
  net::Peer slow(server.address(), 4096);
  ASSERT_TRUE(slow.Send("lru_crawler metadump all\r\n"));
  EXPECT_EQ(slow.Receive(4), "key=");
  const std::string ask = "lru_crawler mgdump 2\r\n";
  const std::string busy = "BUSY currently processing crawler request\r\n";
  const auto said = [&] { return Ask(other, ask, "\r\n"); };
  const auto pass = [&](uint64_t ms) {
    net::test_clock_ms += ms;
    server.loop().Wake();
    (void)said();  // a turn has passed
  };
  // Until the system takes no more of it, and nothing goes out but what is said here.
  const auto sent = [&] { return server.loop().Stats().bytes_out; };
  EXPECT_TRUE(net::Eventually([&] {
    const uint64_t before = sent();
    for (int i = 0; i < 50; ++i) EXPECT_EQ(said(), busy);
    return sent() == before + 50 * busy.size();
  }));
  for (int i = 0; i < 20; ++i) pass(1000);
  EXPECT_EQ(said(), busy);
  for (int i = 0; i < 15; ++i) pass(1000);
  EXPECT_TRUE(net::Eventually([&] { return said() == "EN\r\n"; }));
}

TEST(WorkerDumpOnDevices, AListIsWholeAndInItsPlace) {
  processor::Guard guard(processor::NewCpuProcessor());
  WorkerServer server(WithDevice(&guard));
  server.Start();
  net::Peer peer(server.address());
  std::string stores;
  for (int i = 0; i < 3000; ++i)
    stores += "set key" + std::to_string(i) + " 0 0 1 noreply\r\n1\r\n";
  EXPECT_EQ(Ask(peer, stores + "mn\r\n", "MN\r\n"), "MN\r\n");
  for (int round = 0; round < 10; ++round) {
    const std::string said =
        Ask(peer, "get key1\r\nlru_crawler mgdump all\r\nget key2\r\nmn\r\n", "MN\r\n");
    EXPECT_TRUE(said.starts_with("VALUE key1 0 1\r\n1\r\nEND\r\nmg key")) << said.substr(0, 100);
    EXPECT_TRUE(said.ends_with("\r\nEN\r\nVALUE key2 0 1\r\n1\r\nEND\r\nMN\r\n"));
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 3000 + 8);
    EXPECT_EQ(said.find("ERROR"), said.npos);
  }
}

}  // namespace
}  // namespace weft::server
