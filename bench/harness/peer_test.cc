#include "bench/harness/peer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/folder_test_kit.h"

namespace weft::bench {
namespace {

// A server that listens and says nothing. Python by name or by path.
PeerSpec SilentFor(int seconds, const std::string& python, const base::TestFolder& folder) {
  const std::string script = folder.path() + "/silent.py";
  std::ofstream(script) << "import socket, sys, time\n"
                           "server = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n"
                        << "time.sleep(" << seconds << ")\n";
  return SpecFromPath(python, "{path} " + script + " {port}");
}

TEST(Peer, WithoutLinesIsUpWhenItListens) {
  const base::TestFolder folder;
  PeerSpec spec = SilentFor(3, "/usr/bin/python3", folder);
  const auto silent = Peer::Start(spec, {.patience_s = 600});  // until it has ended
  ASSERT_FALSE(silent.has_value());
  EXPECT_EQ(silent.error().code(), Code::kIoError);
  spec.answers_lines = false;
  auto peer = Peer::Start(spec, {.patience_s = 600});
  ASSERT_TRUE(peer.has_value()) << peer.error().ToString();
  EXPECT_EQ((*peer)->version(), "");
}

TEST(Peer, MayBeNamedWithoutItsFolder) {
  const base::TestFolder folder;
  PeerSpec spec = SilentFor(600, "python3", folder);
  spec.answers_lines = false;
  auto peer = Peer::Start(spec, {.patience_s = 600});
  ASSERT_TRUE(peer.has_value()) << peer.error().ToString();
  EXPECT_EQ((*peer)->name(), "python3");
  EXPECT_THAT((*peer)->command_line(), ::testing::MatchesRegex("/.*/python3 .*"));
}

TEST(Peer, SaysWhatItCannotStart) {
  const base::TestFolder folder;
  const std::string text = folder.path() + "/text";
  std::ofstream(text) << "no program\n";
  for (const std::string& name : {std::string("weft-no-such-server"), folder.path(), text}) {
    const auto peer = Peer::Start(SpecFromPath(name), {});
    ASSERT_FALSE(peer.has_value()) << name;
    EXPECT_EQ(peer.error().code(), Code::kNotFound);
    EXPECT_THAT(peer.error().message(), ::testing::HasSubstr(name));
  }
}

TEST(Peer, IsLikeMemcachedUnlessItIsKnownNotToBe) {
  for (const char* path : {"/usr/bin/memcached", "build/weft", "/opt/their-cache"})
    EXPECT_TRUE(IsLikeMemcached(SpecFromPath(path))) << path;
  EXPECT_FALSE(IsLikeMemcached(SpecFromPath("/opt/pogocache")));
}

}  // namespace
}  // namespace weft::bench
