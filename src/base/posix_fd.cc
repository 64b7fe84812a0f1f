#include "base/posix_fd.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace weft::base {

Status PosixError(std::string_view call, const std::string& path, int error_number) {
  Status status = Status::FromErrno(std::string(call) + " " + path, error_number);
  if (error_number == ENOENT) return {Code::kNotFound, std::string(status.message())};
  // What others hold now, they may let go of.
  if (error_number == EMFILE || error_number == ENFILE)
    return {Code::kRetryLater, std::string(status.message())};
  return status;
}

// A Status has no errno, but its message ends with the text of one.
bool IsWantOfDescriptors(const Status& status) {
  if (status.code() != Code::kRetryLater) return false;
  constexpr int kErrors[] = {EMFILE, ENFILE};
  return std::ranges::any_of(kErrors, [&](int error) {
    return status.message().ends_with(": " + std::system_category().message(error));
  });
}

Status Fd::Close(const std::string& path) {
  // Not repeated after EINTR: Linux has let the descriptor go by then.
  if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) {
    return PosixError("close", path, errno);
  }
  return Status::Ok();
}

Result<Fd> OpenFd(const std::string& path, int flags) {
  int fd;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return PosixError("open", path, errno);
  Fd opened(fd);
  if (fd > STDERR_FILENO) return opened;
  // A program that has closed its standard streams would print over the file.
  Fd higher(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!higher.valid()) return PosixError("open", path, errno);
  return higher;
}

namespace {

// `flags` open without waiting; what waits later does so again.
Result<Fd> OpenNoFifo(const std::string& path, int flags, bool regular_only) {
  Result<Fd> fd = OpenFd(path, flags | O_NONBLOCK);
  if (!fd) return fd;
  struct stat about;
  if (::fstat(fd->get(), &about) != 0) return PosixError("stat", path, errno);
  if (S_ISREG(about.st_mode)) return fd;  // which knows no waiting
  if (regular_only || S_ISFIFO(about.st_mode)) {
    return Status(Code::kIoError, "open " + path + ": not a regular file");
  }
  const int set = ::fcntl(fd->get(), F_GETFL);
  if (set < 0 || ::fcntl(fd->get(), F_SETFL, set & ~O_NONBLOCK) != 0) {
    return PosixError("fcntl", path, errno);
  }
  return fd;
}

}  // namespace

Result<Fd> OpenToRead(const std::string& path, bool regular_only) {
  return OpenNoFifo(path, O_RDONLY, regular_only);
}

Result<Fd> OpenToWrite(const std::string& path, int flags) {
  return OpenNoFifo(path, flags, false);
}

Result<uint64_t> SizeOfFd(const Fd& fd, const std::string& path) {
  struct stat about;
  if (::fstat(fd.get(), &about) != 0) return PosixError("look at", path, errno);
  return static_cast<uint64_t>(about.st_size);
}

Status WriteAll(const Fd& fd, const std::string& path, std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = ::write(fd.get(), data.data(), data.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return PosixError("write", path, errno);
    }
    if (written == 0) return {Code::kIoError, "write " + path + ": nothing was written"};
    data.remove_prefix(static_cast<size_t>(written));
  }
  return Status::Ok();
}

Status WriteAllAt(const Fd& fd, const std::string& path, uint64_t offset, std::string_view data) {
  while (!data.empty()) {
    const ssize_t written =
        ::pwrite(fd.get(), data.data(), data.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      return PosixError("write", path, errno);
    }
    if (written == 0) return {Code::kIoError, "write " + path + ": nothing was written"};
    data.remove_prefix(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return Status::Ok();
}

Result<size_t> ReadUpTo(const Fd& fd, const std::string& path, char* to, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::read(fd.get(), to + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return PosixError("read", path, errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

Result<size_t> ReadUpToAt(const Fd& fd, const std::string& path, uint64_t offset, char* to,
                          size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::pread(fd.get(), to + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return PosixError("read", path, errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

int TruncateFd(const Fd& fd, uint64_t bytes) {
  int result;
  do {
    result = ::ftruncate(fd.get(), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  return result;
}

Status SyncFd(int fd, const std::string& path) {
  int result;
  do {
    result = ::fdatasync(fd);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? Status::Ok() : PosixError("sync", path, errno);
}

}  // namespace weft::base
