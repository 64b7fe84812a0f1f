// A worker over a durable tier, with real sockets and a disk that does as it is told.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "server/worker_test_kit.h"
#include "tier/disk_files_test_kit.h"
#include "tier/lookup_pool.h"

namespace weft::server {
namespace {

using net::Eventually;
using net::Peer;

class WorkerDataTest : public ::testing::TestWithParam<net::EventLoop::Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == net::EventLoop::Kind::kUring && !net::EventLoop::UringAvailable().ok())
      GTEST_SKIP();
    Open();
  }
  void TearDown() override { Close(); }

  void Open() {
    store_ = cache::OpenStore();
    auto tier = tier::DiskTier::Open(
        {.dir = "/data", .file_system = &files_.faulty, .block_cache_bytes = 0}, store_.get());
    ASSERT_TRUE(tier) << tier.error().ToString();
    tier_ = std::move(*tier);
    auto pool = tier::LookupPool::Open(tier_.get(), 2);
    ASSERT_TRUE(pool.has_value()) << pool.error().ToString();
    pool_ = std::move(*pool);
    worker_ = std::move(
        Worker::Create(store_.get(), &front_, OpenToAll(), {tier_.get(), pool_.get()}).value());
    auto listeners = net::Listener::OpenTcp({"127.0.0.1", 0}, net::TlsMode::kNone, {});
    ASSERT_TRUE(listeners);
    listeners_ = std::move(*listeners);
    net::LoopOptions options;
    options.listeners.push_back(listeners_.front().get());
    auto loop = net::EventLoop::Create(GetParam(), options, worker_.get());
    ASSERT_TRUE(loop);
    loop_ = std::move(*loop);
    worker_->RunsOn(loop_.get());
    thread_ = std::thread([this] { EXPECT_TRUE(loop_->Run().ok()); });
  }
  void Close() {
    if (!thread_.joinable()) return;
    loop_->Stop(0);
    thread_.join();
    pool_.reset();
    loop_.reset();
    worker_.reset();
    tier_.reset();
    listeners_.clear();
    store_.reset();
  }

  // Item `cold` is in a table, and memory is empty.
  void StoreColdAndHoldReads() {
    {
      Peer peer(listeners_.front()->address());
      EXPECT_EQ(Ask(peer, "set cold 0 0 4\r\nitem\r\n", "STORED\r\n"), "STORED\r\n");
    }
    Close();
    Open();
    HoldReads();
  }

  // Reads of tables wait until Release.
  void HoldReads() {
    files_.faulty.SetHook([this](const base::FileCall& call) {
      if (call.kind == base::FileCallKind::kReadAt) {
        waiting_++;
        while (holding_) std::this_thread::yield();
      }
      return Status();
    });
  }

  tier::DiskTestFiles files_;
  std::atomic<bool> holding_{true};
  std::atomic<int> waiting_{0};
  PlainFront front_;
  std::unique_ptr<cache::Store> store_;
  std::unique_ptr<tier::DiskTier> tier_;
  std::unique_ptr<tier::LookupPool> pool_;
  std::unique_ptr<Worker> worker_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
  std::unique_ptr<net::EventLoop> loop_;
  std::thread thread_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, WorkerDataTest,
                         ::testing::Values(net::EventLoop::Kind::kEpoll,
                                           net::EventLoop::Kind::kUring),
                         net::KindName);

constexpr std::string_view kStored = "STORED\r\n";
constexpr std::string_view kEnd = "END\r\n";

TEST_P(WorkerDataTest, SlowDiskHoldsUpOnlyWhoAskedIt) {
  {
    Peer peer(listeners_.front()->address());
    EXPECT_EQ(Ask(peer, "set cold 7 0 4\r\nitem\r\n", kStored), kStored);
  }
  Close();
  Open();  // memory is empty, the item in a table
  Peer cold(listeners_.front()->address());
  Peer hot(listeners_.front()->address());
  EXPECT_EQ(Ask(hot, "set hot 0 0 1\r\nx\r\n", kStored), kStored);
  HoldReads();
  ASSERT_TRUE(cold.Send("get hot\r\nget cold\r\nset own 0 0 1\r\ny\r\nget own\r\n"));
  EXPECT_EQ(cold.Receive(23), "VALUE hot 0 1\r\nx\r\nEND\r\n") << "what came before is sent";
  ASSERT_TRUE(Eventually([this] { return waiting_ > 0; }));
  for (int i = 0; i < 200; i++) {
    ASSERT_EQ(Ask(hot, "get hot\r\n", kEnd), "VALUE hot 0 1\r\nx\r\nEND\r\n");
    ASSERT_EQ(Ask(hot, "set hot 0 0 1\r\nx\r\n", kStored), kStored);
  }
  EXPECT_EQ(recv(cold.fd(), nullptr, 0, MSG_PEEK | MSG_DONTWAIT), -1);
  holding_ = false;
  const std::string expected =
      "VALUE cold 7 4\r\nitem\r\nEND\r\nSTORED\r\nVALUE own 0 1\r\ny\r\nEND\r\n";
  EXPECT_EQ(cold.Receive(expected.size()), expected);
}

TEST_P(WorkerDataTest, ConnectionThatGoesWhileItWaitsIsForgotten) {
  StoreColdAndHoldReads();
  {
    Peer cold(listeners_.front()->address());
    ASSERT_TRUE(cold.Send("get cold\r\n"));
    ASSERT_TRUE(Eventually([this] { return waiting_ > 0; }));
    cold.Reset();
  }
  Peer other(listeners_.front()->address());
  EXPECT_EQ(Ask(other, "set hot 0 0 1\r\nx\r\n", kStored), kStored);
  holding_ = false;
  EXPECT_EQ(Ask(other, "get cold\r\n", kEnd), "VALUE cold 0 4\r\nitem\r\nEND\r\n");
}

TEST_P(WorkerDataTest, WhatClosedConnectionsAskedIsNotLookedUp) {
  StoreColdAndHoldReads();
  Peer first(listeners_.front()->address());
  Peer second(listeners_.front()->address());
  for (Peer* peer : {&first, &second}) ASSERT_TRUE(peer->Send("get cold\r\n"));
  ASSERT_TRUE(Eventually([this] { return waiting_ == 2; })) << "both lookup threads are at work";
  for (int i = 0; i < 60; i++) {
    Peer leaving(listeners_.front()->address());
    ASSERT_TRUE(leaving.Send("version\r\nget cold\r\n"));
    ASSERT_NE(leaving.Receive(9), "");
    leaving.Reset();
  }
  ASSERT_TRUE(Eventually([this] { return loop_->Stats().connections_open == 2; }));
  holding_ = false;
  Peer live(listeners_.front()->address());
  for (Peer* peer : {&first, &second}) EXPECT_NE(peer->Receive(25), "");
  EXPECT_EQ(Ask(live, "get other\r\n", kEnd), kEnd);
  EXPECT_EQ(tier_->Stats().lookups, 3u);
}

TEST_P(WorkerDataTest, ChangeThatIsNotWrittenIsNotAcknowledged) {
  Peer peer(listeners_.front()->address());
  EXPECT_EQ(Ask(peer, "set key 0 0 3\r\nold\r\n", kStored), kStored);
  files_.faulty.FillDiskAfter(0);
  constexpr std::string_view kError = "SERVER_ERROR i/o error in the durable store\r\n";
  EXPECT_EQ(Ask(peer, "set other 0 0 1\r\nx\r\nset key 0 0 3\r\nnew\r\nget key\r\n", "\r\n"),
            kError);
  EXPECT_TRUE(peer.SeesEnd());
  Peer next(listeners_.front()->address());
  EXPECT_EQ(Ask(next, "get key other\r\n", kEnd), "VALUE key 0 3\r\nold\r\nEND\r\n");
  EXPECT_EQ(Ask(next, "incr key 1\r\n", "\r\n"), kError);
  EXPECT_EQ(Ask(next, "set key 0 0 3\r\nnew\r\n", "\r\n"), kError);
  EXPECT_EQ(Ask(next, "flush_all\r\n", "\r\n"), kError);
  EXPECT_EQ(Ask(next, "gat 100 key\r\n", "\r\n"), kError);
  EXPECT_EQ(Ask(next, "mg key v\r\n", "old\r\n"), "VA 3\r\nold\r\n");
}

// However much it sent: what its first batch had no room for is not entered, and nothing twice.
TEST_P(WorkerDataTest, FailedBatchIsTheLastOfItsConnection) {
  Peer peer(listeners_.front()->address());
  EXPECT_EQ(Ask(peer, "set key 0 0 3\r\nold\r\n", kStored), kStored);
  files_.faulty.FillDiskAfter(0);
  std::string requests;
  for (int i = 0; i < 1500; i++) requests += "set k 0 0 1\r\nx\r\n";
  peer.Send(requests);
  constexpr std::string_view kError = "SERVER_ERROR i/o error in the durable store\r\n";
  EXPECT_EQ(peer.Receive(kError.size()), kError);
  EXPECT_TRUE(peer.SeesEnd());
}

TEST_P(WorkerDataTest, UnreadableItemIsNoMiss) {
  {
    Peer peer(listeners_.front()->address());
    EXPECT_EQ(Ask(peer, "set cold 0 0 4\r\nitem\r\n", kStored), kStored);
  }
  Close();
  Open();
  files_.faulty.SetHook([](const base::FileCall& call) {
    return call.kind == base::FileCallKind::kReadAt ? Status(Code::kIoError, "injected") : Status();
  });
  Peer peer(listeners_.front()->address());
  constexpr std::string_view kError = "SERVER_ERROR i/o error in the durable store\r\n";
  for (const std::string_view request :
       {"get cold\r\n", "gets cold\r\n", "mg cold v\r\n", "me cold\r\n", "delete cold\r\n",
        "incr cold 1\r\n", "touch cold 9\r\n", "gat 9 cold\r\n", "add cold 0 0 1\r\nx\r\n"}) {
    EXPECT_EQ(Ask(peer, request, "\r\n"), kError) << request;
  }
  files_.faulty.Heal();
  EXPECT_EQ(Ask(peer, "get cold\r\n", kEnd), "VALUE cold 0 4\r\nitem\r\nEND\r\n");
}

// What is brought is what the connection has room for: nothing is looked up to be thrown away.
TEST_P(WorkerDataTest, OneGetOfManyLargeValuesLooksEachUpOnce) {
  constexpr int kValues = 24;
  const std::string value(1'000'000, 'v');
  {
    Peer peer(listeners_.front()->address());
    for (int i = 0; i < kValues; i++) {
      const std::string set = "set k" + std::to_string(i) + " 0 0 1000000\r\n" + value + "\r\n";
      EXPECT_EQ(Ask(peer, set, kStored), kStored);
    }
  }
  Close();
  Open();
  std::string request = "get", expected;
  for (int i = 0; i < kValues; i++) {
    request += " k" + std::to_string(i);
    expected += "VALUE k" + std::to_string(i) + " 0 1000000\r\n" + value + "\r\n";
  }
  Peer peer(listeners_.front()->address());
  ASSERT_TRUE(peer.Send(request + "\r\n"));
  EXPECT_TRUE(peer.Receive(expected.size()) == expected);
  EXPECT_EQ(peer.Receive(kEnd.size()), kEnd);
  EXPECT_EQ(tier_->Stats().lookups, static_cast<uint64_t>(kValues));
}

// Pipelined requests of one connection, answered in their order though most must wait.
TEST_P(WorkerDataTest, PipelinedRequestsKeepTheirOrder) {
  std::string sets, expected;
  for (int i = 0; i < 500; i++) {
    sets += "set k" + std::to_string(i) + " 0 0 3 noreply\r\n" + std::to_string(100 + i) + "\r\n";
  }
  {
    Peer peer(listeners_.front()->address());
    EXPECT_EQ(Ask(peer, sets + "set last 0 0 1\r\nx\r\n", kStored), kStored);
  }
  Close();
  Open();
  std::string requests = "get";
  for (int i = 0; i < 500; i++) requests += " k" + std::to_string(i);
  requests += "\r\n";
  const auto value = [](int i, std::string_view text) {
    return "VALUE k" + std::to_string(i) + " 0 " + std::to_string(text.size()) + "\r\n" +
           std::string(text) + "\r\n";
  };
  for (int i = 0; i < 500; i++) expected += value(i, std::to_string(100 + i));
  expected += "END\r\n";
  for (int i = 0; i < 500; i += 3) {
    const std::string key = "k" + std::to_string(i);
    requests += "incr " + key + " 1\r\ndelete " + key + "\r\nget " + key + "\r\nadd " + key +
                " 0 0 1\r\nz\r\nget " + key + "\r\n";
    expected +=
        std::to_string(101 + i) + "\r\nDELETED\r\nEND\r\nSTORED\r\n" + value(i, "z") + "END\r\n";
  }
  Peer peer(listeners_.front()->address());
  ASSERT_TRUE(peer.Send(requests));
  EXPECT_EQ(peer.Receive(expected.size()), expected);
}

}  // namespace
}  // namespace weft::server
