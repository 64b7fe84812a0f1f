// What a batch's records point at stays: keys, values, flags and arguments, whatever comes behind
// them. The address sanitizer sees what these tests alone may not.
#include <gtest/gtest.h>

#include <deque>

#include "processor/cpu_processor.h"
#include "processor/guard.h"
#include "server/worker_test_kit.h"

namespace weft::server {
namespace {

using net::Peer;

constexpr std::string_view kTooLarge = "SERVER_ERROR object too large for cache\r\n";

std::string Long(std::string_view store) {
  return std::string(store) + std::string(5000, 'z') + "\r\n";
}

WorkerOptions SmallItems() {
  WorkerOptions options;
  options.item_bytes_max = 4096;
  return options;
}

TEST(WorkerViews, RefusedStoreDropsItsOwnKeyAlone) {
  WorkerServer server(SmallItems());
  server.Start();
  Peer peer(server.address());
  EXPECT_EQ(Ask(peer, "ms QUFBQQ== 1 b\r\nx\r\nms QkJCQg== 1 b\r\ny\r\nmn\r\n", "MN\r\n"),
            "HD\r\nHD\r\nMN\r\n");
  EXPECT_EQ(
      Ask(peer, Long("ms QUFBQQ== 5000 b\r\n") + "mg QUFBQQ== b v\r\nmg QkJCQg== b v\r\nmn\r\n",
          "MN\r\n"),
      std::string(kTooLarge) + "EN\r\nVA 1\r\ny\r\nMN\r\n");
}

// Many keys share the room for decoded ones, of clients that share the batch.
TEST(WorkerViews, ManyRefusedStoresDropTheirOwnKeys) {
  WorkerServer server(SmallItems());
  std::string stored, refused, asked;
  std::string told_stored, told_refused, told_asked;
  for (char c = 'A'; c <= 'Z'; c++) {
    const std::string key = std::string("QU") + c + "B";
    const std::string kept = std::string("QUF") + c + "QQ==";
    stored += "ms " + key + " 1 b\r\nx\r\nms " + kept + " 1 b\r\ny\r\n";
    told_stored += "HD\r\nHD\r\n";
    refused += Long("ms " + key + " 5000 b\r\n") + "mg " + kept + " b v\r\n";
    told_refused += std::string(kTooLarge) + "VA 1\r\ny\r\n";
    asked += "mg " + key + " b v\r\nmg " + kept + " b v\r\n";
    told_asked += "EN\r\nVA 1\r\ny\r\n";
  }
  server.Start();
  Peer peer(server.address());
  EXPECT_EQ(Ask(peer, stored + "mn\r\n", "MN\r\n"), told_stored + "MN\r\n");
  EXPECT_EQ(Ask(peer, refused + "mn\r\n", "MN\r\n"), told_refused + "MN\r\n");
  EXPECT_EQ(Ask(peer, asked + "mn\r\n", "MN\r\n"), told_asked + "MN\r\n");
}

WorkerOptions SmallItemsWithDevice(processor::Guard* guard) {
  WorkerOptions options = WithDevice(guard);
  options.item_bytes_max = 4096;
  return options;
}

// Short inputs of many clients in one batch: what was copied of the first stays when the last is.
TEST(WorkerViews, ShortInputsStayWhereRecordsPoint) {
  constexpr int kClients = 40;
  processor::Guard guard(processor::NewCpuProcessor());
  WorkerServer server(SmallItemsWithDevice(&guard));
  std::deque<Peer> peers;
  for (int i = 0; i < kClients; i++) {
    peers.emplace_back(server.address());
    const char c = static_cast<char>('A' + i);
    ASSERT_TRUE(peers.back().Send(std::string("ms ") + c + " 1 O" + c + "\r\n" + c + "\r\n"));
  }
  server.Start();
  for (int i = 0; i < kClients; i++) {
    const char c = static_cast<char>('A' + i);
    EXPECT_EQ(peers[static_cast<size_t>(i)].Receive(7), std::string("HD O") + c + "\r\n");
  }
  for (int i = 0; i < kClients; i++) {
    const std::string key(1, static_cast<char>('A' + i));
    EXPECT_EQ(Ask(peers[0], "mg " + key + " v\r\n", key + "\r\n"), "VA 1\r\n" + key + "\r\n");
  }
}

// A refused store changes something: what follows it must not be answered before, by a device.
TEST(WorkerViews, NothingOvertakesARefusedStore) {
  processor::Guard guard(processor::NewCpuProcessor());
  WorkerServer server(SmallItemsWithDevice(&guard));
  server.Start();
  Peer peer(server.address());
  EXPECT_EQ(Ask(peer, "set key 0 0 1\r\nx\r\n", "STORED\r\n"), "STORED\r\n");
  EXPECT_EQ(Ask(peer, "get key\r\n" + Long("set key 0 0 5000\r\n") + "get key\r\nmn\r\n", "MN\r\n"),
            "VALUE key 0 1\r\nx\r\nEND\r\n" + std::string(kTooLarge) + "END\r\nMN\r\n");
}

TEST(WorkerViews, ArgumentsAndOpaquesAreTheirOwn) {
  WorkerServer server(SmallItems());
  server.Start();
  Peer peer(server.address());
  EXPECT_EQ(
      Ask(peer, "mg aaaa Oone k\r\nstats some words\r\nmg QkJCQg== b k Otwo\r\nmn\r\n", "MN\r\n"),
      "EN Oone kaaaa\r\nSTAT arguments some words\r\nEND\r\nEN kQkJCQg== b Otwo\r\nMN\r\n");
}

}  // namespace
}  // namespace weft::server
