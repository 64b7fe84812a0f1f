#include "server/process.h"

#include <fcntl.h>
#include <grp.h>
#include <malloc.h>
#include <pwd.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "server/new_file.h"

namespace weft::server {

Status About(std::string_view flag, const Status& status) {
  if (status.ok()) return status;
  return {status.code(), std::string(flag) + ": " + std::string(status.message())};
}

std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (byte < ' ' || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line;
}

Status RaiseFileLimit(uint64_t files) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return Status::FromErrno("failed to getrlimit number of files", errno);
  }
  if (limit.rlim_cur >= files) return {};
  limit.rlim_cur = files;
  if (limit.rlim_max < files) limit.rlim_max = files;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return {Code::kIoError,
            "failed to set rlimit for open files. Try starting as root or "
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

// A threshold that is set no longer grows with what is freed.
void GiveBackLargePieces() { (void)mallopt(M_MMAP_THRESHOLD, 256 << 10); }

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

namespace {

// The process id in the file; 0 where there is none, or no plain file.
pid_t ReadPid(const std::string& path) {
  // Without waiting: it may be a pipe that nobody writes to.
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[32] = {};
  const ssize_t bytes = read(fd, text, sizeof text - 1);
  close(fd);
  pid_t pid = 0;
  if (bytes > 0) std::from_chars(text, text + bytes, pid);
  return pid;
}

}  // namespace

Result<std::unique_ptr<PidFile>> PidFile::Write(const std::string& path) {
  const pid_t old = ReadPid(path);
  if (old > 1 && old != getpid() && kill(old, 0) == 0) {
    // Only said: after a restart of the machine the number may be anybody's.
    spdlog::warn("the pid file {} contained the following (running) pid: {}", path, old);
  }
  Status status = WriteNewFile("the pid file", path, std::to_string(getpid()) + "\n");
  if (!status.ok()) return status;
  // The constructor is private, so make_unique cannot call it; the unique_ptr frees it.
  return std::unique_ptr<PidFile>(new PidFile(path));
}

PidFile::~PidFile() {
  if (ReadPid(path_) != getpid()) return;  // another server's by now
  unlink(path_.c_str());                   // its folder may be root's, whom we no longer are
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
