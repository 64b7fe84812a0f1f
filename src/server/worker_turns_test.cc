// Who gets a turn: a connection with much to do lets others go between its batches.
#include <gtest/gtest.h>

#include "server/worker_test_kit.h"

namespace weft::server {
namespace {

using net::Peer;

class WorkerTurns : public ::testing::TestWithParam<net::EventLoop::Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == net::EventLoop::Kind::kUring && !net::EventLoop::UringAvailable().ok())
      GTEST_SKIP();
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, WorkerTurns,
                         ::testing::Values(net::EventLoop::Kind::kEpoll,
                                           net::EventLoop::Kind::kUring),
                         net::KindName);

TEST_P(WorkerTurns, LongLineOfKeysIsAnsweredInManyTurns) {
  constexpr uint64_t kKeys = 1'500'000;
  WorkerServer server;
  server.Start(GetParam());
  Peer peer(server.address());
  EXPECT_EQ(Ask(peer, "set x 0 0 1\r\ny\r\n", "STORED\r\n"), "STORED\r\n");
  const uint64_t turns = server.loop().Stats().turns;
  std::string line = "get x";
  for (uint64_t i = 2; i < kKeys; i++) line += " z";
  EXPECT_EQ(Ask(peer, line + " x\r\nmn\r\n", "MN\r\n"),
            "VALUE x 0 1\r\ny\r\nVALUE x 0 1\r\ny\r\nEND\r\nMN\r\n");
  server.Stop();
  // As many as it takes where nobody fills more than a few batches in a turn.
  const uint64_t batches = kKeys / pipeline::Batch::kQueriesMax;
  EXPECT_GE(server.worker().yields().value(), batches / 8);
  EXPECT_GE(server.loop().Stats().turns - turns, batches / 8);
  EXPECT_EQ(server.worker().counters().cmd_get.value(), kKeys);
}

constexpr size_t kLargeBytes = 1'000'000;  // two are less than the bound of a batch, five are more

std::string SetOfLarge(const char* key) {
  return "set " + std::string(key) + " 0 0 " + std::to_string(kLargeBytes) + "\r\n" +
         std::string(kLargeBytes, 'x') + "\r\n";
}

// A touch writes all of its item again.
TEST_P(WorkerTurns, RequestsThatWriteMuchAreCarriedOutInManyTurns) {
  constexpr int kTouches = 100;
  WorkerServer server;
  server.Start(GetParam());
  Peer peer(server.address());
  ASSERT_EQ(Ask(peer, SetOfLarge("large"), "STORED\r\n"), "STORED\r\n");
  ASSERT_EQ(Ask(peer, "set n 0 0 1\r\n0\r\n", "STORED\r\n"), "STORED\r\n");
  const uint64_t turns = server.loop().Stats().turns;
  std::string requests, expected;
  for (int i = 1; i <= kTouches; i++) {
    requests += "touch large 100\r\nincr n 1\r\nmn\r\nget n n\r\nset n 0 0 3\r\n" +
                std::to_string(100 + i) + "\r\n";
    const std::string value = std::to_string(i == 1 ? 1 : 100 + i);
    const std::string hit = "VALUE n 0 " + std::to_string(value.size()) + "\r\n" + value + "\r\n";
    expected += "TOUCHED\r\n" + value + "\r\nMN\r\n" + hit + hit + "END\r\nSTORED\r\n";
  }
  ASSERT_TRUE(peer.Send(requests));
  EXPECT_EQ(peer.Receive(expected.size()), expected);
  server.Stop();
  EXPECT_GE(server.loop().Stats().turns - turns, kTouches / 5);
  EXPECT_GE(server.worker().yields().value(), kTouches / 5 - 1);
}

// Others in the batch go on, and what a set brought itself is not counted.
TEST_P(WorkerTurns, NobodyIsEndedForWhatOthersHadWritten) {
  WorkerServer server;
  Peer one(server.address()), other(server.address());
  std::string requests, touched;
  for (int i = 0; i < 200; i++) {
    requests += "touch large 100\r\n";
    touched += "TOUCHED\r\n";
  }
  std::string gets, values;
  for (int i = 0; i < 200; i++) {
    gets += "mg small v\r\nset small 0 0 1\r\nz\r\n";
    values += "VA 1\r\nz\r\nSTORED\r\n";
  }
  ASSERT_TRUE(one.Send(SetOfLarge("large") + requests));
  ASSERT_TRUE(other.Send("set small 0 0 1\r\nz\r\n" + gets + SetOfLarge("a") + SetOfLarge("b")));
  server.Start(GetParam());
  values = "STORED\r\n" + values + "STORED\r\nSTORED\r\n";
  EXPECT_EQ(other.Receive(values.size()), values);
  touched = "STORED\r\n" + touched;
  EXPECT_EQ(one.Receive(touched.size()), touched);
  server.Stop();
  EXPECT_GE(server.worker().yields().value(), 200u / 5 - 1);
}

// Nor is a turn as long as many of them together make it.
TEST_P(WorkerTurns, ManyWhoHaveLittleWrittenShareTurns) {
  constexpr int kPeers = 100;
  constexpr int kTouches = 3;
  WorkerServer server;
  cache::Client(&server.store()).Set("large", std::string(kLargeBytes, 'x'));
  std::vector<Peer> peers;
  std::string requests, expected;
  for (int i = 0; i < kTouches; i++) {
    requests += "touch large 100\r\n";
    expected += "TOUCHED\r\n";
  }
  for (int i = 0; i < kPeers; i++) {
    peers.emplace_back(server.address());
    ASSERT_TRUE(peers.back().Send(requests));
  }
  server.Start(GetParam());
  for (Peer& peer : peers) EXPECT_EQ(peer.Receive(expected.size()), expected);
  server.Stop();
  EXPECT_GE(server.worker().yields().value(), kPeers / 2u) << "ten or eleven have their part";
}

// A number may have much behind its digits.
TEST_P(WorkerTurns, LongNumbersAreWrittenAgainToo) {
  constexpr int kPeers = 100;
  WorkerServer server;
  cache::Client(&server.store()).Set("large", "5 " + std::string(kLargeBytes, 'x'));
  std::vector<Peer> peers;
  for (int i = 0; i < kPeers; i++) {
    peers.emplace_back(server.address());
    ASSERT_TRUE(peers.back().Send("incr large 0\r\nincr large 0\r\nincr large 0\r\n"));
  }
  server.Start(GetParam());
  for (Peer& peer : peers) EXPECT_EQ(peer.Receive(9), "5\r\n5\r\n5\r\n");
  server.Stop();
  EXPECT_GE(server.worker().yields().value(), kPeers / 2u) << "ten or eleven have their part";
}

// Or be none for its last byte.
std::string SetOfNoNumber(char letter) {
  return "set none 0 0 " + std::to_string(kLargeBytes) + "\r\n" +
         std::string(kLargeBytes - 1, letter) + "x\r\n";
}
constexpr std::string_view kNoNumber =
    "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";

TEST_P(WorkerTurns, LongValuesThatAreNoNumbersAreReadInManyTurns) {
  constexpr int kCounts = 100;
  WorkerServer server;
  server.Start(GetParam());
  for (const char letter : {'0', ' ', 'x'}) {
    Peer peer(server.address());
    ASSERT_EQ(Ask(peer, SetOfNoNumber(letter), "STORED\r\n"), "STORED\r\n");
    const uint64_t yields = server.worker().yields().value();
    std::string requests, expected;
    for (int i = 0; i < kCounts; i++) {
      for (const char* request : {"incr none 1\r\n", "decr none 1\r\n", "ma none\r\n"}) {
        requests += request;
        expected += kNoNumber;
      }
    }
    EXPECT_EQ(Ask(peer, requests + "mn\r\n", "MN\r\n"), expected + "MN\r\n");
    const uint64_t stops = server.worker().yields().value() - yields;
    if (letter == 'x') {
      EXPECT_EQ(stops, 0u) << "it is known from the first byte";
    } else {
      EXPECT_GE(stops, 3u * kCounts / 5 - 1) << letter;
    }
  }
  server.Stop();
}

TEST_P(WorkerTurns, ManyWhoReadLongValuesInVainShareTurns) {
  constexpr int kPeers = 100;
  WorkerServer server;
  cache::Client(&server.store()).Set("none", std::string(kLargeBytes - 1, '0') + "x");
  std::vector<Peer> peers;
  for (int i = 0; i < kPeers; i++) {
    peers.emplace_back(server.address());
    ASSERT_TRUE(peers.back().Send("incr none 0\r\nincr none 0\r\nincr none 0\r\n"));
  }
  server.Start(GetParam());
  for (Peer& peer : peers) {
    for (int i = 0; i < 3; i++) EXPECT_EQ(peer.Receive(kNoNumber.size()), kNoNumber);
  }
  server.Stop();
  EXPECT_GE(server.worker().yields().value(), kPeers / 2u) << "ten or eleven have their part";
}

// Nor does a turn have more of it where it brings so much input that epoll hands it over in parts.
TEST_P(WorkerTurns, PartsOfATurnShareIt) {
  constexpr int kPeers = 60;
  WorkerServer server;
  cache::Client(&server.store()).Set("large", std::string(kLargeBytes, 'x'));
  const std::string value(50'000, 'y');
  const std::string request = "set pad 0 0 " + std::to_string(value.size()) + "\r\n" + value +
                              "\r\ntouch large 0\r\ntouch large 0\r\n";
  std::vector<Peer> peers;
  for (int i = 0; i < kPeers; i++) {
    peers.emplace_back(server.address());
    ASSERT_TRUE(peers.back().Send(request));
  }
  server.Start(GetParam());
  const std::string expected = "STORED\r\nTOUCHED\r\nTOUCHED\r\n";
  for (Peer& peer : peers) EXPECT_EQ(peer.Receive(expected.size()), expected);
  server.Stop();
  EXPECT_GE(server.worker().yields().value(), kPeers / 4u) << "some thirty have their part";
}

// What a device has stored must be answered, and so must what was asked for before it.
TEST_P(WorkerTurns, ReadsInFrontOfWhatADeviceChangedAreAnswered) {
  processor::Guard guard(processor::NewCpuProcessor());
  WorkerOptions options;
  options.plan =
      std::move(pipeline::Plan::Parse(
                    "[RV PP MM]cpu → [IN.search KC RD IN.insert IN.delete]gpu0 → [WR SD]cpu")
                    .value());
  options.devices = {&guard};
  options.device_batch_min = 1;
  WorkerServer server(options);
  server.Start(GetParam());
  Peer peer(server.address());
  ASSERT_EQ(Ask(peer, SetOfLarge("large"), "STORED\r\n"), "STORED\r\n");
  ASSERT_EQ(Ask(peer, "set n 0 0 1\r\n0\r\n", "STORED\r\n"), "STORED\r\n");
  std::string requests, expected;
  for (int i = 0; i < 30; i++) {
    requests += "touch large 0\r\n";
    expected += "TOUCHED\r\n";
  }
  requests += "mg n v\r\nget n\r\nmg none v\r\nset z 0 0 1\r\nz\r\nmn\r\n";
  expected += "VA 1\r\n0\r\nVALUE n 0 1\r\n0\r\nEND\r\nEN\r\nSTORED\r\nMN\r\n";
  for (int round = 0; round < 5; round++) EXPECT_EQ(Ask(peer, requests, "MN\r\n"), expected);
}

TEST_P(WorkerTurns, LongLineOfHitsGoesOnWhereTheOutputStoppedIt) {
  constexpr int kKeys = 3000;
  WorkerServer server;
  server.Start(GetParam());
  Peer peer(server.address());
  std::string line = "gets", expected;
  for (int i = 0; i < kKeys; i++) {
    const std::string key = "k" + std::to_string(i % 10);
    if (i < 10) {
      const std::string value(3000, static_cast<char>('a' + i));
      EXPECT_EQ(Ask(peer, "set " + key + " 0 0 3000\r\n" + value + "\r\n", "STORED\r\n"),
                "STORED\r\n");
    }
    line += " " + key;
  }
  ASSERT_TRUE(peer.Send(line + "\r\nmn\r\n"));
  // A reply is "VALUE kN 0 3000 VERSION", the value, and their line ends.
  for (int i = 0; i < kKeys; i++) {
    std::string head = peer.Receive(16);
    ASSERT_EQ(head, "VALUE k" + std::to_string(i % 10) + " 0 3000 ");
    while (!head.ends_with("\r\n")) head += peer.Receive(1);
    ASSERT_EQ(peer.Receive(3002), std::string(3000, static_cast<char>('a' + i % 10)) + "\r\n");
  }
  EXPECT_EQ(peer.Receive(9), "END\r\nMN\r\n");
}

}  // namespace
}  // namespace weft::server
