#include "server/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace weft::server {
namespace {

// A new file beside `path`, whatever others have put there. Its descriptor, or -1.
int MakePartial(const std::string& path, std::string* partial) {
  constexpr int kTries = 100;
  int fd = -1;
  for (int i = 0; i < kTries && fd < 0; i++) {
    *partial = path + "." + std::to_string(getpid()) + "-" + std::to_string(i) + ".tmp";
    fd = open(partial->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0 && errno != EEXIST) break;
  }
  return fd;
}

// Writes all of `text` and closes the file. False: errno says why.
bool WriteAndClose(int fd, const std::string& text) {
  const ssize_t written = write(fd, text.data(), text.size());
  if (written >= 0 && static_cast<size_t>(written) != text.size()) errno = ENOSPC;
  const int error = errno;
  const bool closed = close(fd) == 0;
  if (static_cast<size_t>(written) == text.size()) return closed;
  errno = error;
  return false;
}

}  // namespace

Status WriteNewFile(const std::string& what, const std::string& path, const std::string& text) {
  struct stat about = {};
  if (lstat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode) && !S_ISLNK(about.st_mode))
    return Status(Code::kInvalidArgument, what + " " + path + " exists and is not a regular file");
  std::string partial;
  const int fd = MakePartial(path, &partial);
  if (fd < 0) return Status::FromErrno("Could not open " + what + " " + partial, errno);
  if (!WriteAndClose(fd, text)) {
    const Status status = Status::FromErrno("Could not write " + what + " " + partial, errno);
    unlink(partial.c_str());
    return status;
  }
  // Renaming makes the file appear whole.
  if (rename(partial.c_str(), path.c_str()) != 0) {
    const Status status =
        Status::FromErrno("Could not rename " + what + " from " + partial + " to " + path, errno);
    unlink(partial.c_str());
    return status;
  }
  return {};
}

}  // namespace weft::server
