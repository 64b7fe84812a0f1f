// A request of another protocol, to a whole worker: what came before it is answered, and nothing
// behind it is carried out.
#include <gtest/gtest.h>

#include "server/worker_test_kit.h"

namespace weft::server {
namespace {

using net::Peer;

constexpr std::string_view kInjected = "set inj 0 0 4\r\npwnd\r\nget inj\r\n";

TEST(WorkerForeign, NothingBehindItIsCarriedOut) {
  WorkerServer server;
  server.Start();
  for (const std::string_view head : {
           "POST / HTTP/1.1\r\nHost: x\r\n\r\n",
           "get / HTTP/1.1\r\nHost: x\r\nContent-Length: 29\r\n\r\n",
           "POST /\r\n\r\n",
           "Host: x\r\n\r\n",
           "\x16\x03\x01\x02\r\n",
           "\x80\r\n",
       }) {
    Peer peer(server.address());
    ASSERT_TRUE(peer.Send(std::string("mn\r\n") + std::string(head) + std::string(kInjected)));
    EXPECT_EQ(peer.Receive(4), "MN\r\n") << head;
    const std::string_view answer = head.starts_with("get") ? "END\r\n" : "";
    EXPECT_EQ(peer.Receive(answer.size()), answer);
    EXPECT_TRUE(peer.SeesEnd()) << head;
    Peer next(server.address());
    EXPECT_EQ(Ask(next, "get inj\r\n", "END\r\n"), "END\r\n") << head;
  }
}

TEST(WorkerForeign, LongLineIsToldWhyItEndsTheConnection) {
  WorkerServer server;
  server.Start();
  for (const std::string_view end : {"", "\r\n", "\r\nset inj 0 0 4\r\npwnd\r\n"}) {
    Peer peer(server.address());
    const std::string path = "GET /" + std::string(3000, 'a') + " HTTP/1.1";
    ASSERT_TRUE(peer.Send("mn\r\n" + path + std::string(end)));
    constexpr std::string_view kTold = "MN\r\nCLIENT_ERROR line too long\r\n";
    EXPECT_EQ(peer.Receive(kTold.size()), kTold);
    EXPECT_TRUE(peer.SeesEnd());
  }
  Peer next(server.address());
  EXPECT_EQ(Ask(next, "get inj\r\n", "END\r\n"), "END\r\n");
}

}  // namespace
}  // namespace weft::server
