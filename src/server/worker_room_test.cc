// What has to wait where memory for buffers is used up, and what goes on all the same.
#include <gtest/gtest.h>

#include "processor/cpu_processor.h"
#include "processor/guard.h"
#include "server/buffer_rooms.h"
#include "server/worker_test_kit.h"

namespace weft::server {
namespace {

using net::Eventually;
using net::Peer;
using net::Room;

constexpr size_t kRoomBytes = size_t{1} << 20;
constexpr size_t kValueBytes = 100'000;

class WorkerRoom : public ::testing::TestWithParam<net::EventLoop::Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == net::EventLoop::Kind::kUring && !net::EventLoop::UringAvailable().ok())
      GTEST_SKIP();
    server_.Start(GetParam(), &rooms_);
    peer_ = std::make_unique<Peer>(server_.address());
    const std::string set = "set big 0 0 " + std::to_string(kValueBytes) + "\r\n" + value_ + "\r\n";
    ASSERT_EQ(Ask(*peer_, set, "STORED\r\n"), "STORED\r\n");
  }
  void TearDown() override { server_.Stop(); }

  static Room::Options Small() {
    Room::Options options;
    options.bytes = kRoomBytes;
    options.tight_bytes = kRoomBytes / 2;
    return options;
  }

  const std::string value_ = std::string(kValueBytes, 'v');
  net::Rooms rooms_{Room(Small()), Room(Small())};
  Room::Holder other_;  // has what the test leaves to nobody
  WorkerServer server_;
  std::unique_ptr<Peer> peer_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, WorkerRoom,
                         ::testing::Values(net::EventLoop::Kind::kEpoll,
                                           net::EventLoop::Kind::kUring),
                         net::KindName);

TEST_P(WorkerRoom, RepliesOfEveryKindWaitAndComeWhole) {
  const std::string bytes = std::to_string(kValueBytes);
  const std::string long_stats = "stats " + std::string(1900, 'x') + "\r\n";
  const std::string long_report = "STAT arguments " + std::string(1900, 'x') + "\r\nEND\r\n";
  std::string reports;
  for (int i = 0; i < 4; i++) reports += long_report;
  const std::pair<std::string, std::string> cases[] = {
      {"get big\r\n", "VALUE big 0 " + bytes + "\r\n" + value_ + "\r\nEND\r\n"},
      {"gat 0 big\r\n", "VALUE big 0 " + bytes + "\r\n" + value_ + "\r\nEND\r\n"},
      {"mg big v\r\n", "VA " + bytes + "\r\n" + value_ + "\r\n"},
      {"mg big v T0 q\r\nmn\r\n", "VA " + bytes + "\r\n" + value_ + "\r\nMN\r\n"},
      // In one turn: one report fits what everybody has, two don't.
      {long_stats + long_stats + long_stats + long_stats, reports},
  };
  for (const auto& [request, reply] : cases) {
    rooms_.output.Take(other_, kRoomBytes);
    const uint64_t turns = server_.loop().Stats().turns;
    ASSERT_TRUE(peer_->Send(request));
    if (!request.starts_with("stats")) {
      ASSERT_TRUE(Eventually([&] { return rooms_.output.waiting() == 1; })) << request;
    }
    // Small replies need none.
    Peer small(server_.address());
    EXPECT_EQ(Ask(small, "get absent\r\nmn\r\n", "MN\r\n"), "END\r\nMN\r\n");
    EXPECT_LT(server_.loop().Stats().turns - turns, 1000u) << "it waits without a sound";
    rooms_.output.SetTaken(other_, 0);
    EXPECT_TRUE(peer_->Receive(reply.size()) == reply) << request;
  }
  EXPECT_TRUE(Eventually([&] { return rooms_.output.used() == 0; }));
}

TEST_P(WorkerRoom, CommandWhoseReplyWaitsHasNoEffectYet) {
  rooms_.output.Take(other_, kRoomBytes);
  ASSERT_TRUE(peer_->Send("gat -1 big\r\n"));
  ASSERT_TRUE(Eventually([&] { return rooms_.output.waiting() == 1; }));
  Peer small(server_.address());
  EXPECT_EQ(Ask(small, "mg big s\r\n", "\r\n"), "HD s" + std::to_string(kValueBytes) + "\r\n");
  rooms_.output.SetTaken(other_, 0);
  const std::string reply =
      "VALUE big 0 " + std::to_string(kValueBytes) + "\r\n" + value_ + "\r\nEND\r\n";
  EXPECT_TRUE(peer_->Receive(reply.size()) == reply);
  EXPECT_EQ(Ask(small, "mg big s\r\n", "\r\n"), "EN\r\n");
}

TEST_P(WorkerRoom, RepliesWithoutValuesNeedNoRoomForThem) {
  rooms_.output.Take(other_, kRoomBytes);
  EXPECT_EQ(Ask(*peer_, "append big 0 0 1\r\nx\r\nmg big s\r\ntouch big 0\r\n", "TOUCHED\r\n"),
            "STORED\r\nHD s" + std::to_string(kValueBytes + 1) + "\r\nTOUCHED\r\n");
  rooms_.output.SetTaken(other_, 0);
}

TEST_P(WorkerRoom, LongValuesWaitToBeReceived) {
  rooms_.input.Take(other_, kRoomBytes);
  // More than a ring brings unasked and a small request has.
  const std::string value(3 * kValueBytes, 'v');
  const std::string set = "set more 0 0 " + std::to_string(value.size()) + "\r\n" + value + "\r\n";
  ASSERT_TRUE(peer_->Send(set));
  ASSERT_TRUE(Eventually([&] { return rooms_.input.waiting() == 1; }));
  Peer small(server_.address());
  for (int i = 0; i < 50; i++)
    EXPECT_EQ(Ask(small, "set few 0 0 1000\r\n" + value_.substr(0, 1000) + "\r\n", "STORED\r\n"),
              "STORED\r\n");
  rooms_.input.SetTaken(other_, 0);
  EXPECT_EQ(Ask(*peer_, "", "STORED\r\n"), "STORED\r\n");
  EXPECT_TRUE(Eventually([&] { return rooms_.input.used() == 0; }));
}

// Of a plan with a device: whoever finds no room waits for it as others do, and does not come again
// in the turn in which its batch has landed.
TEST_P(WorkerRoom, RepliesOfADeviceWaitWithoutASound) {
  processor::Guard guard(processor::NewCpuProcessor());
  WorkerOptions options;
  options.plan =
      std::move(pipeline::Plan::Parse(
                    "[RV PP MM]cpu → [IN.search KC RD]gpu0 → [IN.insert IN.delete WR SD]cpu")
                    .value());
  options.devices = {&guard};
  options.device_batch_min = 1;
  net::Rooms rooms{Room(Small()), Room(Small())};
  WorkerServer server(options);
  server.Start(GetParam(), &rooms);
  Peer peer(server.address());
  const std::string set = "set big 0 0 " + std::to_string(kValueBytes) + "\r\n" + value_ + "\r\n";
  ASSERT_EQ(Ask(peer, set, "STORED\r\n"), "STORED\r\n");
  ASSERT_TRUE(Eventually([&] { return rooms.output.used() == 0 && rooms.input.used() == 0; }));
  rooms.output.Take(other_, kRoomBytes);
  ASSERT_TRUE(peer.Send("get big\r\n"));
  ASSERT_TRUE(Eventually([&] { return rooms.output.waiting() == 1; }));
  const uint64_t batches = server.loop().Stats().batches;
  Peer small(server.address());
  for (int i = 0; i < 20; i++) EXPECT_EQ(Ask(small, "get absent\r\n", "END\r\n"), "END\r\n");
  EXPECT_LT(server.loop().Stats().batches - batches, 200u);
  EXPECT_EQ(rooms.output.waiting(), 1u);
  rooms.output.SetTaken(other_, 0);
  const std::string reply =
      "VALUE big 0 " + std::to_string(kValueBytes) + "\r\n" + value_ + "\r\nEND\r\n";
  EXPECT_TRUE(peer.Receive(reply.size()) == reply);
  EXPECT_TRUE(Eventually([&] { return rooms.output.used() == 0; }));
}

TEST(BufferRooms, WhatTheOptionsAllowFits) {
  for (const uint64_t memory : {uint64_t{2} << 20, uint64_t{64} << 20, uint64_t{1} << 40}) {
    for (const uint64_t item : {uint64_t{1024}, uint64_t{1} << 20, uint64_t{1} << 30}) {
      ServerOptions options;
      options.memory_bytes = memory;
      options.item_bytes_max = item;
      const Room::Options input = InputRoom(options), output = OutputRoom(options);
      EXPECT_GT(input.bytes - input.tight_bytes, item + 2048);
      EXPECT_GT(output.bytes, item + 2048);
      EXPECT_LE(input.bytes + output.bytes,
                (size_t{3} << 30) + 4 * item + (memory > (uint64_t{1} << 30) ? 0 : 64u << 20));
    }
  }
  // SECURITY.md's promise begins here.
  const ServerOptions usual;
  const Room::Options input = InputRoom(usual), output = OutputRoom(usual);
  EXPECT_LE(input.bytes + input.lane_bytes + input.newcomer_bytes + output.bytes +
                output.lane_bytes + output.newcomer_bytes,
            size_t{26} << 20);
}

}  // namespace
}  // namespace weft::server
