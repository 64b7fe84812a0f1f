#include "server/process.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <spdlog/spdlog.h>

namespace weft::server {

Status RaiseFileLimit(uint64_t files) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return Status::FromErrno("failed to getrlimit number of files", errno);
  }
  if (limit.rlim_cur >= files) return {};
  limit.rlim_cur = files;
  if (limit.rlim_max < files) limit.rlim_max = files;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return {Code::kIoError, "failed to set rlimit for open files. Try starting as root or "
                            "requesting smaller maxconns value."};
  }
  return {};
}

Status RaiseCoreLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_CORE, &limit) == 0) {
    const rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(RLIMIT_CORE, &unlimited) == 0) return {};
    limit.rlim_cur = limit.rlim_max;
    if (limit.rlim_cur != 0 && setrlimit(RLIMIT_CORE, &limit) == 0) return {};
  }
  return {Code::kIoError, "failed to ensure corefile creation"};
}

void RaiseLockLimit() {
  rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  if (setrlimit(RLIMIT_MEMLOCK, &limit) == 0 || getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_MEMLOCK, &limit);
}

Status LockMemory() {
  if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) {
    return Status::FromErrno("-k invalid, mlockall() failed", errno);
  }
  return {};
}

bool IsRoot() { return getuid() == 0 || geteuid() == 0; }

Status BecomeUser(const std::string& name) {
  const passwd* const user = getpwnam(name.c_str());
  if (user == nullptr) return {Code::kNotFound, "can't find the user " + name + " to switch to"};
  if (initgroups(name.c_str(), user->pw_gid) != 0 || setgid(user->pw_gid) != 0 ||
      setuid(user->pw_uid) != 0) {
    return Status::FromErrno("failed to assume identity of user " + name, errno);
  }
  return {};
}

Result<std::unique_ptr<PidFile>> PidFile::Write(const std::string& path) {
  pid_t old = 0;
  if (std::ifstream(path) >> old && old > 1 && old != getpid() && kill(old, 0) == 0) {
    // Only said: after a restart of the machine the number may be anybody's.
    spdlog::warn("the pid file {} contained the following (running) pid: {}", path, old);
  }
  // Renaming makes the file appear whole.
  const std::string partial = path + ".tmp";
  {
    std::ofstream out(partial, std::ios::trunc);
    out << getpid() << '\n';
    out.close();
    if (!out) return Status(Code::kIoError, "Could not write the pid file " + partial);
  }
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  if (error) {
    return Status(Code::kIoError, "Could not rename the pid file from " + partial + " to " + path +
                                      ": " + error.message());
  }
  // The constructor is private, so make_unique cannot call it; the unique_ptr frees it.
  return std::unique_ptr<PidFile>(new PidFile(path));
}

PidFile::~PidFile() {
  std::error_code ignored;  // its folder may be root's, whom we no longer are
  std::filesystem::remove(path_, ignored);
}

namespace {

// Exits with what becomes of the child.
[[noreturn]] void WaitForChild(pid_t child, int pipe_fd) {
  char ready = 0;
  ssize_t got = 0;
  do {
    got = read(pipe_fd, &ready, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 1) _exit(0);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::Fork() {
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) return Status::FromErrno("pipe", errno);
  const pid_t child = fork();
  if (child < 0) return Status::FromErrno("failed to daemon() in order to daemonize", errno);
  if (child > 0) {
    close(pipe_fds[1]);
    WaitForChild(child, pipe_fds[0]);
  }
  close(pipe_fds[0]);
  setsid();
  // The constructor is private, so make_unique cannot call it; the unique_ptr frees it.
  return std::unique_ptr<Daemon>(new Daemon(pipe_fds[1]));
}

Daemon::~Daemon() {
  if (pipe_fd_ >= 0) close(pipe_fd_);
}

Status Daemon::Ready(bool keep_streams) {
  if (!keep_streams) {
    const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd < 0) return Status::FromErrno("open /dev/null", errno);
    for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null_fd, fd);
    if (null_fd > STDERR_FILENO) close(null_fd);
  }
  const char ready = 1;
  if (write(pipe_fd_, &ready, 1) != 1) return Status::FromErrno("write to the parent", errno);
  close(pipe_fd_);
  pipe_fd_ = -1;
  return {};
}

}  // namespace weft::server
