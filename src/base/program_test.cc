#include "base/program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <new>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/folder_test_kit.h"
#include "base/posix_fd.h"
#include "base/thread.h"

namespace weft::base {
namespace {

// Runs `body` in a child; its exit status, or minus the signal that ended it. *errors: what it
// wrote to stderr.
template <typename Body>
int InChild(Body body, std::string* errors = nullptr) {
  int pipe_fds[2];
  if (pipe(pipe_fds) != 0) return -1000;
  const pid_t child = fork();
  if (child == 0) {
    if (errors != nullptr) dup2(pipe_fds[1], STDERR_FILENO);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    _exit(body());
  }
  close(pipe_fds[1]);
  char buffer[4096];
  for (ssize_t got; (got = read(pipe_fds[0], buffer, sizeof buffer)) > 0;) {
    if (errors != nullptr) errors->append(buffer, static_cast<size_t>(got));
  }
  close(pipe_fds[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool IsDevNull(int fd) {
  struct stat of_fd, of_null;
  return fstat(fd, &of_fd) == 0 && stat("/dev/null", &of_null) == 0 &&
         of_fd.st_rdev == of_null.st_rdev && S_ISCHR(of_fd.st_mode);
}

TEST(Program, OpensEachStandardStreamThatIsClosed) {
  for (int closed = 0; closed < 8; closed++) {  // a bit for each
    EXPECT_EQ(0, InChild([closed] {
                const int kept = open("/", O_RDONLY | O_DIRECTORY);
                for (int fd = 0; fd < 3; fd++) {
                  dup2(kept, fd);
                  if ((closed >> fd & 1) != 0) close(fd);
                }
                StartProgram("test");
                for (int fd = 0; fd < 3; fd++) {
                  if (IsDevNull(fd) != ((closed >> fd & 1) != 0)) return 1 + fd;
                }
                const int next = open("/dev/null", O_RDONLY);
                return next > STDERR_FILENO ? 0 : 10;
              }))
        << closed;
  }
}

// As with the closed descriptors that they stand for: a tool must not take its results for written.
TEST(Program, WhatStandsForAClosedStreamTakesAndGivesNothing) {
  EXPECT_EQ(0, InChild([] {
              for (int fd = 0; fd < 3; fd++) close(fd);
              StartProgram("test");
              char byte = 'x';
              if (read(STDIN_FILENO, &byte, 1) >= 0) return 1;
              if (write(STDOUT_FILENO, &byte, 1) >= 0) return 2;
              return write(STDERR_FILENO, &byte, 1) >= 0 ? 3 : 0;
            }));
}

TEST(Program, AWriteBeyondTheLimitOfFileSizesIsAnError) {
  TestFolder folder;
  const std::string path = folder.path() + "/file";
  EXPECT_EQ(0, InChild([&path] {
              StartProgram("test");
              const rlimit limit = {10, 10};
              if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
              const int fd = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
              if (fd < 0 || write(fd, "0123456789", 10) != 10) return 2;
              return write(fd, "x", 1) < 0 && errno == EFBIG ? 0 : 3;
            }));
}

TEST(Program, WhatNobodyCatchesIsALineAndAStatus) {
  std::string errors;
  EXPECT_EQ(EX_OSERR, InChild(
                          []() -> int {
                            StartProgram("weft-test");
                            std::thread([] { throw std::bad_alloc(); }).join();
                            return 0;
                          },
                          &errors));
  EXPECT_EQ(errors, "weft-test: out of memory\n");
  errors.clear();
  EXPECT_EQ(EX_OSERR, InChild(
                          []() -> int {
                            StartProgram("weft-test");
                            std::thread([] { std::thread().join(); }).join();  // there is none
                            return 0;
                          },
                          &errors));
  EXPECT_EQ(errors, "weft-test: Invalid argument\n");
}

TEST(Program, WhatCouldNotBeWrittenIsAStatus) {
  for (const bool through_stream : {false, true}) {
    std::string errors;
    EXPECT_EQ(EX_IOERR, InChild(
                            [through_stream] {
                              StartProgram("weft-test");
                              dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
                              std::setvbuf(stdout, nullptr, _IOFBF, BUFSIZ);
                              if (through_stream) {
                                std::cout << "text";
                              } else {
                                std::fputs("text", stdout);
                              }
                              return EndProgram(0);
                            },
                            &errors));
    EXPECT_EQ(errors, "weft-test: could not write the output\n");
  }
  EXPECT_EQ(7, InChild([] {
              StartProgram("weft-test");
              dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
              std::fputs("text", stdout);
              return EndProgram(7);
            }));
}

// A library can't open the streams of its program, but it keeps its files from their numbers.
TEST(OpenFd, NeverGivesANumberOfTheStandardStreams) {
  TestFolder folder;
  const std::string path = folder.path() + "/file";
  EXPECT_EQ(0, InChild([&path] {
              for (int fd = 0; fd < 3; fd++) close(fd);
              auto opened = OpenFd(path, O_WRONLY | O_CREAT);
              if (!opened) return 1;
              if (opened->get() <= STDERR_FILENO) return 2;
              if ((fcntl(opened->get(), F_GETFD) & FD_CLOEXEC) == 0) return 3;
              return fcntl(STDIN_FILENO, F_GETFD) < 0 ? 0 : 4;
            }));
}

TEST(StartThread, RunsTheWork) {
  int done = 0;
  auto thread = StartThread([&done] { done = 7; });
  ASSERT_TRUE(thread.has_value());
  thread->join();
  EXPECT_EQ(done, 7);
}

TEST(StartThread, WithoutMemoryForAStackItIsAnError) {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  if (pages > uint64_t{1} << 28) GTEST_SKIP() << "a sanitizer's own memory can't be limited";
  EXPECT_EQ(0, InChild([] {
              const rlimit none = {1 << 20, 1 << 20};  // far below what is in use
              if (setrlimit(RLIMIT_AS, &none) != 0) return 1;
              for (int i = 0; i < 1000; i++) {  // stacks of threads that have ended are used again
                auto thread = StartThread([] { pause(); });
                if (!thread) return thread.error().code() == Code::kIoError ? 0 : 2;
                thread->detach();
              }
              return 3;
            }));
}

}  // namespace
}  // namespace weft::base
