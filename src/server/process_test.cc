#include "server/process.h"

#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include <gtest/gtest.h>

namespace weft::server {
namespace {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Runs `body` in a child and returns its exit status.
template <typename Body>
int InChild(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#ifndef WEFT_SANITIZED  // which has an allocator of its own
// The system's, piece by piece: what was freed before changes nothing.
TEST(Process, LargePiecesAreTheSystems) {
  GiveBackLargePieces();
  std::atomic<void*> freed = std::malloc(16 << 20);
  std::free(freed);  // raises a threshold that grows

  // What the tests before this one freed holds that many pieces at most: one more is the system's.
  constexpr size_t kPiece = 1 << 20;
  std::vector<void*> pieces(mallinfo2().fordblks / kPiece + 1);
  const size_t before = mallinfo2().hblks;
  for (void*& piece : pieces) piece = std::malloc(kPiece);
  EXPECT_GT(mallinfo2().hblks, before);
  for (void* piece : pieces) std::free(piece);
  EXPECT_EQ(mallinfo2().hblks, before);
}
#endif

TEST(PidFile, HoldsTheProcessIdWhileItLives) {
  TempFolder folder;
  const std::string path = folder.path() / "weft.pid";
  {
    auto file = PidFile::Write(path);
    ASSERT_TRUE(file.has_value()) << file.error().ToString();
    pid_t pid = 0;
    std::ifstream(path) >> pid;
    EXPECT_EQ(pid, getpid());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(PidFile, ReplacesAnOldOne) {
  TempFolder folder;
  const std::string path = folder.path() / "weft.pid";
  std::ofstream(path) << getppid() << '\n';
  auto file = PidFile::Write(path);
  ASSERT_TRUE(file.has_value());
  pid_t pid = 0;
  std::ifstream(path) >> pid;
  EXPECT_EQ(pid, getpid());
}

TEST(PidFile, AFolderThatIsNotThereIsAnError) {
  TempFolder folder;
  auto file = PidFile::Write(folder.path() / "none" / "weft.pid");
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code(), Code::kIoError);
}

// Somebody who may write to the folder has put links there, to a file that is not theirs to write.
TEST(PidFile, LinksAreNotFollowed) {
  TempFolder folder;
  const std::filesystem::path victim = folder.path() / "victim";
  const std::filesystem::path path = folder.path() / "weft.pid";
  std::ofstream(victim) << "precious";
  for (const char* name : {"weft.pid", "weft.pid.tmp"})
    std::filesystem::create_symlink(victim, folder.path() / name);
  for (int i = 0; i < 3; i++) {
    std::filesystem::create_symlink(
        victim, path.string() + "." + std::to_string(getpid()) + "-" + std::to_string(i) + ".tmp");
  }
  {
    auto file = PidFile::Write(path);
    ASSERT_TRUE(file.has_value()) << file.error().ToString();
    EXPECT_FALSE(std::filesystem::is_symlink(path));
    pid_t pid = 0;
    std::ifstream(path) >> pid;
    EXPECT_EQ(pid, getpid());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  std::string text;
  std::ifstream(victim) >> text;
  EXPECT_EQ(text, "precious");
}

TEST(PidFile, AnotherServersStays) {
  TempFolder folder;
  const std::filesystem::path path = folder.path() / "weft.pid";
  const std::filesystem::path elsewhere = folder.path() / "elsewhere";
  {
    auto file = PidFile::Write(path);
    ASSERT_TRUE(file.has_value());
    std::ofstream(elsewhere) << getppid() << '\n';
    std::filesystem::rename(elsewhere, path);  // as another server does
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  {
    auto file = PidFile::Write(path);
    ASSERT_TRUE(file.has_value());
    std::ofstream(path) << getppid() << '\n';  // as a script does
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  {
    auto file = PidFile::Write(path);
    ASSERT_TRUE(file.has_value());
    std::ofstream(elsewhere) << getpid() << '\n';
    std::filesystem::remove(path);
    std::filesystem::create_symlink(elsewhere, path);
  }
  EXPECT_TRUE(std::filesystem::is_symlink(path));
}

TEST(PidFile, WhatIsNoFileIsAnErrorAndStays) {
  TempFolder folder;
  const std::filesystem::path path = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);  // to open it would wait for a writer
  for (const std::string& each :
       {path.string(), std::string("/dev/null"), folder.path().string()}) {
    const auto before = std::filesystem::status(each).type();
    auto file = PidFile::Write(each);
    ASSERT_FALSE(file.has_value()) << each;
    EXPECT_EQ(file.error().code(), Code::kInvalidArgument);
    EXPECT_EQ(std::filesystem::status(each).type(), before) << each;
  }
}

TEST(PidFile, AFullDiskLeavesNothingBehind) {
  TempFolder folder;
  const std::string path = folder.path() / "weft.pid";
  EXPECT_EQ(0, InChild([&path] {
              signal(SIGXFSZ, SIG_IGN);
              const rlimit none = {1, 1};
              if (setrlimit(RLIMIT_FSIZE, &none) != 0) return 1;
              return PidFile::Write(path) ? 2 : 0;
            }));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(OneLine, HasNoOtherLines) {
  EXPECT_EQ(OneLine("-l a b: no"), "-l a b: no");
  EXPECT_EQ(OneLine("a\nb\r\x7f\x01"), "a\\nb\\x0d\\x7f\\x01");
  EXPECT_EQ(OneLine("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
}

TEST(Limits, FilesAreRaisedAndNeverLowered) {
  EXPECT_EQ(0, InChild([] {
              rlimit low = {64, 0};
              rlimit limit = {};
              getrlimit(RLIMIT_NOFILE, &limit);
              low.rlim_max = limit.rlim_max;
              if (setrlimit(RLIMIT_NOFILE, &low) != 0) return 1;
              if (!RaiseFileLimit(128).ok()) return 2;
              getrlimit(RLIMIT_NOFILE, &limit);
              if (limit.rlim_cur != 128) return 3;
              if (!RaiseFileLimit(32).ok()) return 4;
              getrlimit(RLIMIT_NOFILE, &limit);
              return limit.rlim_cur == 128 ? 0 : 5;
            }));
}

TEST(Limits, TooManyFilesAreAnError) {
  const Status status = RaiseFileLimit(uint64_t{1} << 40);  // beyond what Linux ever allows
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("failed to set rlimit for open files"), std::string_view::npos);
}

TEST(User, AnUnknownOneIsAnError) {
  const Status status = BecomeUser("no-such-user");
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_EQ(status.message(), "can't find the user no-such-user to switch to");
}

TEST(User, RootsRightsGoForGood) {
  if (!IsRoot()) GTEST_SKIP() << "only root can become another user";
  EXPECT_EQ(0, InChild([] {
              if (!BecomeUser("nobody").ok()) return 1;
              if (getuid() == 0 || geteuid() == 0 || getgid() == 0) return 2;
              return setuid(0) == 0 ? 3 : 0;
            }));
}

TEST(Daemon, TheParentLeavesOnceTheChildServes) {
  TempFolder folder;
  const std::string path = folder.path() / "served";
  EXPECT_EQ(0, InChild([&path] {
              auto daemon = Daemon::Fork();
              if (!daemon) return 1;
              std::ofstream(path) << getsid(0) << ' ' << getpid() << '\n';
              return (*daemon)->Ready(false).ok() ? 7 : 2;  // the parent has left with 0 by now
            }));
  pid_t session = 0, pid = 0;
  std::ifstream(path) >> session >> pid;
  EXPECT_NE(pid, 0);
  EXPECT_EQ(session, pid);
}

TEST(Daemon, TheParentTellsThatTheChildFailed) {
  EXPECT_EQ(7, InChild([] {
              auto daemon = Daemon::Fork();
              return daemon ? 7 : 1;
            }));
}

}  // namespace
}  // namespace weft::server
