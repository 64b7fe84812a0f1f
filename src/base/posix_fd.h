// base/posix_fd.h: an open file descriptor, and the system calls on it that need a loop or a
// Status.
//
// Threads   a descriptor may be read by any number of threads at once and is closed by one.
// Errors    Status::FromErrno with the call and the path; kNotFound for a file that is missing,
//           kRetryLater where the process or the system has no more descriptors.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "weft/status.h"

namespace weft::base {

// The Status of a failed call on `path`: kNotFound for ENOENT; kRetryLater where there are no more
// descriptors (EMFILE, ENFILE); kIoError otherwise.
Status PosixError(std::string_view call, const std::string& path, int error_number);

// Whether it says that there are no more descriptors: kRetryLater alone may say something else.
bool IsWantOfDescriptors(const Status& status);

// Closes the descriptor at its end.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  // Closes it now, for the error that closing may give.
  Status Close(const std::string& path);

 private:
  int fd_ = -1;
};

// Opens `path` with O_CLOEXEC and, where flags make the file, rights 0644. The descriptor is never
// 0, 1 or 2, however many of these the program has closed.
Result<Fd> OpenFd(const std::string& path, int flags);
// Opens `path` to be read, and never waits for a writer: an error where it is a FIFO, and, with
// `regular_only`, where it is a folder or a device.
Result<Fd> OpenToRead(const std::string& path, bool regular_only);
// Opens `path` with flags that write, and never waits for a reader: an error where it is a FIFO.
Result<Fd> OpenToWrite(const std::string& path, int flags);
Result<uint64_t> SizeOfFd(const Fd& fd, const std::string& path);
// Writes all of `data` where the descriptor stands.
Status WriteAll(const Fd& fd, const std::string& path, std::string_view data);
// Writes all of `data` at `offset`.
Status WriteAllAt(const Fd& fd, const std::string& path, uint64_t offset, std::string_view data);
// Reads up to `bytes` where the descriptor stands, fewer only at the end of the file.
Result<size_t> ReadUpTo(const Fd& fd, const std::string& path, char* to, size_t bytes);
Result<size_t> ReadUpToAt(const Fd& fd, const std::string& path, uint64_t offset, char* to,
                          size_t bytes);
// Cuts or extends the file; 0, or -1 and errno.
int TruncateFd(const Fd& fd, uint64_t bytes);
// Waits until the bytes, and what is needed to find them, survive a power cut.
Status SyncFd(int fd, const std::string& path);
inline Status SyncFd(const Fd& fd, const std::string& path) { return SyncFd(fd.get(), path); }

}  // namespace weft::base
