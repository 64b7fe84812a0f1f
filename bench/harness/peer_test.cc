#include "bench/harness/peer.h"

#include <gtest/gtest.h>

#include <fstream>

namespace weft::bench {
namespace {

TEST(Peer, WithoutLinesIsUpWhenItListens) {
  const std::string script = testing::TempDir() + "weft_silent_server.py";
  std::ofstream(script) << "import socket, sys, time\n"
                           "server = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n"
                           "time.sleep(3600)\n";
  PeerSpec spec = SpecFromPath("/usr/bin/python3", "{path} " + script + " {port}");
  EXPECT_EQ(Peer::Start(spec, {.patience_s = 0.1}).error().code(), Code::kIoError);
  spec.answers_lines = false;
  auto peer = Peer::Start(spec, {.patience_s = 600});
  ASSERT_TRUE(peer.has_value()) << peer.error().ToString();
  EXPECT_EQ((*peer)->version(), "");
}

}  // namespace
}  // namespace weft::bench
