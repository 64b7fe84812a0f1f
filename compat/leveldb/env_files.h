// compat/leveldb/env_files.h: a program's Env as the file system of a store.
//
// Calls that Env lacks: WillNeed and SyncDir do nothing (an Env must make names safe by itself, as
// LevelDB asks of it), LinkFile is kUnsupported, Truncate copies.
//
// Threads   as in both contracts. They agree except for logs. A store syncs a log while it appends
//           to it, but only one thread at a time may use an Env's file. So each file has a mutex,
//           and an append waits for the sync that is under way.
// Errors    the Env's, text and kind. If it answers IOError for a file that is not there, as
//           LevelDB's files in memory do, that becomes kNotFound.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leveldb/env.h"
#include "weft/file_system.h"

namespace weft::compat {

// Reads a file that stays the program's.
class BorrowedRandomAccessFile final : public RandomAccessFile {
 public:
  explicit BorrowedRandomAccessFile(const leveldb::RandomAccessFile* file) : file_(file) {}
  Status Read(uint64_t offset, size_t bytes, std::string_view* result,
              char* scratch) const override;

 private:
  const leveldb::RandomAccessFile* const file_;
};

// Writes a file that stays the program's.
class BorrowedWritableFile final : public WritableFile {
 public:
  explicit BorrowedWritableFile(leveldb::WritableFile* file) : file_(file) {}
  Status Append(std::string_view data) override;
  Status Flush() override;
  Status Sync() override;
  Status Close() override;

 private:
  leveldb::WritableFile* const file_;
};

class EnvFileSystem final : public FileSystem {
 public:
  explicit EnvFileSystem(leveldb::Env* env) : env_(env) {}

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

 private:
  Status ErrorOf(const leveldb::Status& status, const std::string& path);
  Status ReadPrefix(const std::string& path, uint64_t bytes, std::string* data);

  leveldb::Env* const env_;
};

}  // namespace weft::compat
