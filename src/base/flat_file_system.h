// base/flat_file_system.h: files that each lie in one range of memory, where readers read them and
// writers may write them: tables that a device copies from and to without a stop between.
//
// Nothing of it survives the process. What is written has at most as many bytes as the file system
// was made with; the memory of such files is kept for new ones.
//
// Layout    no tree: a path is a name, a folder is what paths begin with, and is there when one
//           does or it was made.
// Threads   as weft/file_system.h says. The file system must outlive the files opened on it.
// Errors    as weft/file_system.h says; kIoError for a file that would be too long.
// Cost      memory of a full file for each; appends copy, Extend and reads do not.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer_memory.h"
#include "base/mutex.h"
#include "weft/file_system.h"

namespace weft::base {

class FlatFileSystem final : public FileSystem {
 public:
  // memory: of the files, which must outlive this; null: from new.
  FlatFileSystem(BufferMemory* memory, uint64_t file_bytes_max);
  // REQUIRES: no file is open
  ~FlatFileSystem() override;
  FlatFileSystem(const FlatFileSystem&) = delete;
  FlatFileSystem& operator=(const FlatFileSystem&) = delete;

  // A file of just so many bytes, in place of any of that name: returns where they are, for the
  // caller to fill before anybody reads the file.
  char* NewFile(const std::string& path, uint64_t bytes) WEFT_EXCLUDES(mutex_);

  Result<std::unique_ptr<SequentialFile>> NewSequentialFile(const std::string& path) override;
  Result<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path,
                                                        FileUse use) override;
  Result<std::unique_ptr<WritableFile>> NewAppendableFile(const std::string& path,
                                                          FileUse use) override;
  bool FileExists(const std::string& path) override;
  Status GetChildren(const std::string& dir, std::vector<std::string>* names) override;
  Status RemoveFile(const std::string& path) override;
  Status CreateDir(const std::string& dir) override;
  Status RemoveDir(const std::string& dir) override;
  Result<uint64_t> GetFileSize(const std::string& path) override;
  Status RenameFile(const std::string& from, const std::string& to) override;
  Status LinkFile(const std::string& from, const std::string& to) override;
  Status Truncate(const std::string& path, uint64_t bytes) override;
  Status SyncDir(const std::string& dir) override;
  Result<std::unique_ptr<FileLock>> LockFile(const std::string& path) override;
  bool WritesInPlace() const override { return true; }

 private:
  class Content;
  class Reader;
  class ReaderInOrder;
  class Writer;
  class Lock;
  using ContentPtr = std::shared_ptr<Content>;

  Result<ContentPtr> Find(const std::string& path) WEFT_EXCLUDES(mutex_);
  ContentPtr Replace(const std::string& path, uint64_t bytes_max) WEFT_EXCLUDES(mutex_);
  char* TakeRoom(uint64_t bytes) WEFT_EXCLUDES(mutex_);
  void GiveRoom(char* room, uint64_t bytes) WEFT_EXCLUDES(mutex_);
  void FreeRoom(char* room, uint64_t bytes);

  BufferMemory* const memory_;
  const uint64_t file_bytes_max_;
  Mutex mutex_;
  std::map<std::string, ContentPtr> files_ WEFT_GUARDED_BY(mutex_);
  std::set<std::string> dirs_ WEFT_GUARDED_BY(mutex_);
  std::set<std::string> locks_ WEFT_GUARDED_BY(mutex_);
  std::vector<char*> rooms_ WEFT_GUARDED_BY(mutex_);  // of full files, that none has
};

}  // namespace weft::base
