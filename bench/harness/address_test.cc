#include "bench/harness/address.h"

#include <gtest/gtest.h>

namespace weft::bench {
namespace {

TEST(Address, IsHostAndPortOrAPath) {
  const Address v4 = ParseAddress("127.0.0.1:11211").value();
  EXPECT_EQ(v4.host, "127.0.0.1");
  EXPECT_EQ(v4.port, 11211);
  EXPECT_EQ(v4.ToString(), "127.0.0.1:11211");
  const Address v6 = ParseAddress("[::1]:6379").value();
  EXPECT_EQ(v6.host, "::1");
  EXPECT_EQ(v6.ToString(), "[::1]:6379");
  EXPECT_EQ(ParseAddress("/run/a:b.sock").value().path, "/run/a:b.sock");
}

TEST(Address, RefusesWhatIsNone) {
  for (const char* text : {"", "host", ":1", "host:", "host:0", "host:65536", "host:1x", "host:-1"})
    EXPECT_FALSE(ParseAddress(text)) << text;
}

TEST(Address, NobodyListensAtAClosedPort) {
  const Address closed{"127.0.0.1", 1, ""};
  EXPECT_TRUE(ProcessesAt(closed).empty());
  const auto fd = Connect(closed);
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().ToString(), "i/o error: connect 127.0.0.1:1: Connection refused");
  EXPECT_FALSE(Connect({"", 0, "/no/such.sock"}));
  EXPECT_FALSE(Connect({"", 0, "/" + std::string(200, 'x')}));
}

}  // namespace
}  // namespace weft::bench
