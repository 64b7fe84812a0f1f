#include "server/server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

#include "base/folder_test_kit.h"
#include "weft/file_system.h"

namespace weft::server {
namespace {

// The descriptor of the epoll instance that was made last.
int LastEpoll() {
  int last = -1;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
    if (target == "anon_inode:[eventpoll]")
      last = std::max(last, std::stoi(entry.path().filename().string()));
  }
  return last;
}

// Otherwise the first loop would go on giving clients to one that nobody runs.
TEST(Server, ALoopThatFailsEndsTheServerAndSaysWhy) {
  ServerOptions options;
  options.tcp = {{"127.0.0.1", 0}};
  options.threads = 3;
  options.net_kind = net::EventLoop::Kind::kEpoll;
  auto server = Server::Create(options);
  ASSERT_TRUE(server.has_value()) << server.error().ToString();
  const int of_last_loop = LastEpoll();
  ASSERT_GE(of_last_loop, 0);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  ASSERT_EQ(dup2(null, of_last_loop), of_last_loop);
  close(null);
  const Status status = (*server)->Run();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(std::string(status.message()).find("epoll_wait"), std::string::npos)
      << status.ToString();
}

// Its holder may have been killed just now, and a killed process gives its locks up last.
TEST(Server, ALockThatIsGivenUpWithinAMomentIsWaitedFor) {
  const base::TestFolder dir;
  auto lock = PosixFileSystem()->LockFile(dir / "LOCK");
  ASSERT_TRUE(lock.has_value()) << lock.error().ToString();
  std::thread gives_up([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    lock->reset();
  });
  ServerOptions options;
  options.tcp = {{"127.0.0.1", 0}};
  options.threads = 1;
  options.data_dir = dir.path();
  auto server = Server::Create(options);
  gives_up.join();
  EXPECT_TRUE(server.has_value()) << server.error().ToString();
}

}  // namespace
}  // namespace weft::server
