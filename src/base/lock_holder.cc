#include "base/lock_holder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace weft::base {

namespace {

// Calls `visit` with each name in a folder until it returns true.
template <typename Visit>
void ForEachName(const std::string& dir, Visit visit) {
  DIR* const entries = ::opendir(dir.c_str());
  if (entries == nullptr) return;  // it is gone, or another user's
  while (const dirent* entry = ::readdir(entries)) {
    if (visit(std::string_view(entry->d_name))) break;
  }
  ::closedir(entries);
}

bool IsNumber(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

// Whether the process has the file open, but as `not_this`.
bool HasOpen(const std::string& process, const struct stat& file, int not_this) {
  bool has = false;
  const std::string dir = "/proc/" + process + "/fd";
  ForEachName(dir, [&](std::string_view name) {
    struct stat about;
    if (!IsNumber(name) || (not_this >= 0 && name == std::to_string(not_this))) return false;
    has = ::stat((dir + "/").append(name).c_str(), &about) == 0 && about.st_dev == file.st_dev &&
          about.st_ino == file.st_ino;
    return has;
  });
  return has;
}

// 0: not known. The system tells whose a lock of the older kind is; a lock of an open file is
// nobody's, but whoever holds it has the file open.
pid_t HolderOf(int fd) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0) {
    return lock.l_pid;
  }
  struct stat file;
  if (::fstat(fd, &file) != 0) return 0;
  if (HasOpen("self", file, fd)) return ::getpid();
  pid_t holder = 0;
  ForEachName("/proc", [&](std::string_view name) {
    if (!IsNumber(name) || name == std::to_string(::getpid())) return false;
    if (HasOpen(std::string(name), file, -1)) holder = std::stoi(std::string(name));
    return holder != 0;
  });
  return holder;
}

}  // namespace

Status LockedByAnother(const std::string& path, int fd) {
  const pid_t holder = HolderOf(fd);
  std::string who = "another process";
  if (holder == ::getpid()) {
    who = "this process";
  } else if (holder != 0) {
    who += " (" + std::to_string(holder) + ")";
  }
  return {Code::kRetryLater, path + ": " + who + " has it open and locked"};
}

}  // namespace weft::base
