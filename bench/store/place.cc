#include "bench/store/place.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "base/posix_fd.h"

namespace weft::bench {
namespace {

std::string FolderOf(const std::string& where) {
  if (where == "memory") return "/dev/shm";
  if (where == "disk") return WEFT_SOURCE_DIR "/build";
  return where;
}

}  // namespace

Result<Place> Place::Make(const std::string& where) {
  static std::atomic<int> made = 0;
  const std::string dir = fmt::format("{}/weft-bench-{}-{}", FolderOf(where), getpid(), made++);
  std::error_code error;
  // What is there stays as it is: a folder that is not there would be left behind.
  if (where == "disk") std::filesystem::create_directory(FolderOf(where), error);
  std::filesystem::create_directory(dir, error);
  if (error) return Status::FromErrno("create " + dir, error.value());
  return Place(where, dir);
}

Place::~Place() {
  std::error_code error;
  if (!dir_.empty()) std::filesystem::remove_all(dir_, error);
}

std::string Place::Fresh(const std::string& name) const {
  const std::string path = dir_ + "/" + name;
  std::error_code error;
  std::filesystem::remove_all(path, error);
  return path;
}

void Place::Sync() const {
  const base::Fd fd(open(dir_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) syncfs(fd.get());
}

}  // namespace weft::bench
