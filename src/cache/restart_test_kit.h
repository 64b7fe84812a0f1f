// cache/restart_test_kit.h: a memory file in a folder of the test's own, and stores on it, one
// after the other.
#pragma once

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/folder_test_kit.h"
#include "cache/cache_test_kit.h"
#include "cache/memory_file.h"
#include "cache/restart.h"

namespace weft::cache {

// Of a small store: many segments, and growth of the index, with few objects.
inline CacheOptions SmallRestartOptions() {
  CacheOptions options;
  options.memory_bytes = 4 << 20;
  options.object_bytes_max = 128 << 10;
  options.append_lanes = 2;
  options.huge_pages = false;
  return options;
}

inline std::string FileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void PutFileBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class RestartedStore {
 public:
  enum class Where { kAnywhere, kMemory };
  explicit RestartedStore(Where where = Where::kAnywhere)
      : in_memory_(where == Where::kMemory), folder_(in_memory_ ? kMemory : TempFolder()) {}
  static bool HasMemory() {
    struct statfs system = {};
    return statfs(kMemory, &system) == 0 && system.f_type == TMPFS_MAGIC &&
           access(kMemory, W_OK) == 0;
  }

  std::string path() const { return folder_ / "memory"; }
  std::string meta_path() const { return path() + ".meta"; }
  Store* store() { return store_.get(); }
  Store* operator->() { return store_.get(); }
  MemoryFile* file() { return file_.get(); }

  // Opens a store on the file, and fills it with what is there.
  Result<Restored> Start(const CacheOptions& options = SmallRestartOptions(),
                         const RestartBelow& below = {}, uint64_t first_version = 0) {
    Kill();
    auto file = MemoryFile::Open({path(), options.memory_bytes, !in_memory_});
    if (!file) return file.error();
    file_ = std::move(*file);
    auto store = Store::Open(options, SystemPages(), file_.get());
    if (!store) return store.error();
    store_ = std::move(*store);
    if (first_version != 0) store_->KeepVersions(first_version);
    store_->AllowFilling();
    auto restored = RestoreStore(store_.get(), file_.get(), below);
    if (!restored) Kill();
    return restored;
  }
  Result<Saved> Stop(const RestartBelow& below = {}) {
    auto saved = SaveStore(store_.get(), file_.get(), below);
    Kill();
    return saved;
  }
  // Ends the store without a word to the file.
  void Kill() {
    store_.reset();
    file_.reset();
  }

 private:
  static constexpr const char* kMemory = "/dev/shm";
  static std::string TempFolder() { return std::filesystem::temp_directory_path().string(); }

  const bool in_memory_;
  const base::TestFolder folder_;
  std::unique_ptr<MemoryFile> file_;
  std::unique_ptr<Store> store_;
};

}  // namespace weft::cache
