#include "net/address.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/folder_test_kit.h"

namespace weft::net {
namespace {

TEST(Address, HostAndPortAreSplitInEveryForm) {
  const struct {
    const char* text;
    const char* host;
    uint16_t port;
  } cases[] = {
      {"127.0.0.1", "127.0.0.1", 11211},
      {"127.0.0.1:80", "127.0.0.1", 80},
      {":81", "", 81},
      {"", "", 11211},
      {"[::1]:82", "::1", 82},
      {"[::1]", "::1", 11211},
      {"::1", "::1", 11211},
      {"localhost:0", "localhost", 0},
  };
  for (const auto& c : cases) {
    auto where = ParseHostPort(c.text, 11211);
    ASSERT_TRUE(where.has_value()) << c.text;
    EXPECT_EQ(where->host, c.host) << c.text;
    EXPECT_EQ(where->port, c.port) << c.text;
  }
}

TEST(Address, BadPortsAndBracketsAreRefused) {
  for (const char* text :
       {"host:", "host:x", "host:65536", "host:-1", "[::1", "[::1]x", "[::1]:"}) {
    auto where = ParseHostPort(text, 1);
    ASSERT_FALSE(where.has_value()) << text;
    EXPECT_EQ(where.error().code(), Code::kInvalidArgument) << text;
  }
}

TEST(Address, TextNamesFamilyAndPort) {
  auto v4 = ResolveForListening({"127.0.0.1", 7});
  ASSERT_TRUE(v4.has_value());
  EXPECT_EQ(v4.value()[0].ToString(), "127.0.0.1:7");
  auto v6 = ResolveForListening({"::1", 8});
  ASSERT_TRUE(v6.has_value());
  EXPECT_EQ(v6.value()[0].ToString(), "[::1]:8");
  auto local = UnixAddress("/tmp/a");
  ASSERT_TRUE(local.has_value());
  EXPECT_EQ(local->ToString(), "/tmp/a");
}

TEST(Address, UnixPathThatDoesNotFitIsRefused) {
  EXPECT_FALSE(UnixAddress(std::string(200, 'a')).has_value());
  EXPECT_FALSE(UnixAddress("").has_value());
}

TEST(Address, PathThatAPeerHasChosenIsOneLine) {
  base::TestFolder folder;
  auto here = UnixAddress(folder / "here");
  auto there = UnixAddress(folder / "a\r\nEND\x7f");
  ASSERT_TRUE(here && there);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(listener, here->get(), here->bytes), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  const int client = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(client, there->get(), there->bytes), 0);
  ASSERT_EQ(connect(client, here->get(), here->bytes), 0);
  const int accepted = accept(listener, nullptr, nullptr);
  EXPECT_EQ(PeerText(accepted), folder / "a??END?");
  for (const int fd : {accepted, client, listener}) close(fd);
}

TEST(Address, PeerOfNoSocketIsUnknown) { EXPECT_EQ(PeerText(-1), "unknown"); }

}  // namespace
}  // namespace weft::net
