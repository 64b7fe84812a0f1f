#include "net/listener.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "net/peer_test_kit.h"

namespace weft::net {
namespace {

std::string FreshPath(const char* name) {
  return ::testing::TempDir() + "weft_" + std::to_string(getpid()) + "_" + name + ".sock";
}

TEST(Listener, PortZeroGetsAPortThatAcceptsConnections) {
  auto opened = Listener::OpenTcp({"127.0.0.1", 0}, TlsMode::kNone, {});
  ASSERT_TRUE(opened.has_value());
  EXPECT_NE(opened.value()[0]->address().port(), 0);
  EXPECT_TRUE(Peer(opened.value()[0]->address()).connected());
}

TEST(Listener, WildcardListensOnEveryFamilyAtOnePort) {
  auto opened = Listener::OpenTcp({"", 0}, TlsMode::kNone, {});
  ASSERT_TRUE(opened.has_value());
  for (auto& listener : *opened) {
    EXPECT_EQ(listener->address().port(), opened.value()[0]->address().port());
  }
}

TEST(Listener, TakenPortIsAnError) {
  auto first = Listener::OpenTcp({"127.0.0.1", 0}, TlsMode::kNone, {});
  ASSERT_TRUE(first.has_value());
  auto second =
      Listener::OpenTcp({"127.0.0.1", first.value()[0]->address().port()}, TlsMode::kNone, {});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), Code::kIoError);
}

TEST(Listener, UnixSocketHasItsMaskAndIsRemoved) {
  const std::string path = FreshPath("mask");
  {
    auto opened = Listener::OpenUnix(path, {.unix_mask = 0620});
    ASSERT_TRUE(opened.has_value()) << opened.error().ToString();
    struct stat info;
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0620u);
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(Listener, StaleUnixSocketIsReplacedAndALivingOneIsNot) {
  const std::string path = FreshPath("stale");
  auto address = UnixAddress(path);
  const int dead = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(dead, address->get(), address->bytes), 0);
  close(dead);  // leaves the file
  auto opened = Listener::OpenUnix(path, {});
  ASSERT_TRUE(opened.has_value()) << opened.error().ToString();
  EXPECT_FALSE(Listener::OpenUnix(path, {}).has_value());
  EXPECT_TRUE(Peer(*address).connected());
}

// Its successor may listen at the same path before it is gone.
TEST(Listener, AnotherSocketsFileIsNotRemoved) {
  const std::string path = FreshPath("successor");
  auto first = Listener::OpenUnix(path, {});
  ASSERT_TRUE(first.has_value());
  ASSERT_EQ(unlink(path.c_str()), 0);
  auto second = Listener::OpenUnix(path, {});
  ASSERT_TRUE(second.has_value());
  first->reset();
  struct stat info;
  EXPECT_EQ(lstat(path.c_str(), &info), 0);
  second->reset();
  EXPECT_NE(lstat(path.c_str(), &info), 0);
}

TEST(Listener, OrdinaryFileIsNeverReplaced) {
  const std::string path = FreshPath("file");
  FILE* file = fopen(path.c_str(), "w");
  fclose(file);
  EXPECT_FALSE(Listener::OpenUnix(path, {}).has_value());
  EXPECT_EQ(access(path.c_str(), F_OK), 0);
  unlink(path.c_str());
}

// As a killed server's sockets, which the system closes a moment after its parent saw it end.
TEST(Listener, APortAndAPathThatAreFreedWithinAMomentAreWaitedFor) {
  auto port = Listener::OpenTcp({"127.0.0.1", 0}, TlsMode::kNone, {});
  ASSERT_TRUE(port.has_value());
  const HostPort where = {"127.0.0.1", port.value()[0]->address().port()};
  const std::string path = FreshPath("moment");
  auto address = UnixAddress(path);
  const int dying = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(dying, address->get(), address->bytes), 0);
  ASSERT_EQ(listen(dying, 1), 0);
  // Unlike a listener's end, a closed descriptor leaves the file, as a killed server does.
  const auto after_a_moment = [](auto close_it) {
    return std::thread([close_it] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      close_it();
    });
  };
  std::thread closes_port = after_a_moment([&] { port->clear(); });
  auto tcp = Listener::OpenTcp(where, TlsMode::kNone, {});
  closes_port.join();
  EXPECT_TRUE(tcp.has_value()) << tcp.error().ToString();
  std::thread closes_path = after_a_moment([dying] { close(dying); });
  auto local = Listener::OpenUnix(path, {});
  closes_path.join();
  EXPECT_TRUE(local.has_value()) << local.error().ToString();
}

}  // namespace
}  // namespace weft::net
