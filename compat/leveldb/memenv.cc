#include "leveldb/helpers/memenv.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "leveldb/env.h"
#include "leveldb/slice.h"

namespace leveldb {

namespace {

using weft::base::Mutex;
using weft::base::MutexLock;

// One file's bytes. Lives as long as a name or an open file object needs it.
class MemFile {
 public:
  uint64_t Bytes() const {
    MutexLock lock(&mutex_);
    return bytes_;
  }

  void Truncate() {
    MutexLock lock(&mutex_);
    blocks_.clear();
    bytes_ = 0;
  }

  void Append(Slice data) {
    MutexLock lock(&mutex_);
    while (!data.empty()) {
      const size_t at = bytes_ % kBlockBytes;
      if (at == 0) blocks_.push_back(std::make_unique_for_overwrite<char[]>(kBlockBytes));
      const size_t now = std::min(data.size(), kBlockBytes - at);
      std::memcpy(blocks_.back().get() + at, data.data(), now);
      data.remove_prefix(now);
      bytes_ += now;
    }
  }

  // Copies up to n bytes at `offset`, which may be the end but not past it.
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const {
    MutexLock lock(&mutex_);
    *result = Slice();
    if (offset > bytes_) return Status::IOError("Offset greater than file size.");
    const size_t total = std::min<uint64_t>(n, bytes_ - offset);
    for (size_t done = 0; done < total;) {
      const uint64_t from = offset + done;
      const size_t at = from % kBlockBytes;
      const size_t now = std::min(total - done, kBlockBytes - at);
      std::memcpy(scratch + done, blocks_[from / kBlockBytes].get() + at, now);
      done += now;
    }
    *result = Slice(scratch, total);
    return Status::OK();
  }

 private:
  static constexpr size_t kBlockBytes = 8 << 10;

  mutable Mutex mutex_;
  std::vector<std::unique_ptr<char[]>> blocks_ WEFT_GUARDED_BY(mutex_);
  uint64_t bytes_ WEFT_GUARDED_BY(mutex_) = 0;
};

using MemFilePtr = std::shared_ptr<MemFile>;

class MemSequentialFile final : public SequentialFile {
 public:
  explicit MemSequentialFile(MemFilePtr file) : file_(std::move(file)) {}
  Status Read(size_t n, Slice* result, char* scratch) override {
    const Status status = file_->Read(position_, n, result, scratch);
    if (status.ok()) position_ += result->size();
    return status;
  }
  Status Skip(uint64_t n) override {
    const uint64_t bytes = file_->Bytes();
    if (position_ > bytes) return Status::IOError("position past the end of the file");
    position_ += std::min(n, bytes - position_);
    return Status::OK();
  }

 private:
  const MemFilePtr file_;
  uint64_t position_ = 0;
};

class MemRandomAccessFile final : public RandomAccessFile {
 public:
  explicit MemRandomAccessFile(MemFilePtr file) : file_(std::move(file)) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return file_->Read(offset, n, result, scratch);
  }

 private:
  const MemFilePtr file_;
};

class MemWritableFile final : public WritableFile {
 public:
  explicit MemWritableFile(MemFilePtr file) : file_(std::move(file)) {}
  Status Append(const Slice& data) override {
    file_->Append(data);
    return Status::OK();
  }
  Status Close() override { return Status::OK(); }
  Status Flush() override { return Status::OK(); }
  Status Sync() override { return Status::OK(); }

 private:
  const MemFilePtr file_;
};

struct SilentLogger final : Logger {
  void Logv(const char*, std::va_list) override {}
};

class MemEnv final : public EnvWrapper {
 public:
  explicit MemEnv(Env* base_env) : EnvWrapper(base_env) {}

  Status NewSequentialFile(const std::string& fname, SequentialFile** result) override {
    return Open<MemSequentialFile>(fname, result);
  }
  Status NewRandomAccessFile(const std::string& fname, RandomAccessFile** result) override {
    return Open<MemRandomAccessFile>(fname, result);
  }
  Status NewWritableFile(const std::string& fname, WritableFile** result) override {
    const MemFilePtr file = FindOrMake(fname);
    file->Truncate();
    *result = new MemWritableFile(file);  // freed by the caller
    return Status::OK();
  }
  Status NewAppendableFile(const std::string& fname, WritableFile** result) override {
    *result = new MemWritableFile(FindOrMake(fname));  // freed by the caller
    return Status::OK();
  }

  bool FileExists(const std::string& fname) override {
    MutexLock lock(&mutex_);
    return files_.contains(fname);
  }

  Status GetChildren(const std::string& dir, std::vector<std::string>* result) override {
    result->clear();
    const std::string prefix = dir + "/";
    MutexLock lock(&mutex_);
    for (auto at = files_.lower_bound(prefix); at != files_.end(); ++at) {
      if (!at->first.starts_with(prefix)) break;
      if (at->first.size() > prefix.size()) result->push_back(at->first.substr(prefix.size()));
    }
    return Status::OK();
  }

  Status RemoveFile(const std::string& fname) override {
    MutexLock lock(&mutex_);
    return files_.erase(fname) == 1 ? Status::OK() : Missing(fname);
  }
  // There are no folders, only names with slashes.
  Status CreateDir(const std::string&) override { return Status::OK(); }
  Status RemoveDir(const std::string&) override { return Status::OK(); }

  Status GetFileSize(const std::string& fname, uint64_t* file_size) override {
    const MemFilePtr file = Find(fname);
    if (file == nullptr) return Missing(fname);
    *file_size = file->Bytes();
    return Status::OK();
  }
  Status RenameFile(const std::string& src, const std::string& target) override {
    MutexLock lock(&mutex_);
    auto node = files_.extract(src);
    if (node.empty()) return Missing(src);
    files_.insert_or_assign(target, std::move(node.mapped()));
    return Status::OK();
  }

  // No other process can see these files.
  Status LockFile(const std::string&, FileLock** lock) override {
    *lock = new FileLock;  // freed by UnlockFile
    return Status::OK();
  }
  Status UnlockFile(FileLock* lock) override {
    const std::unique_ptr<FileLock> ended(lock);
    return Status::OK();
  }

  Status GetTestDirectory(std::string* path) override {
    *path = "/test";
    return Status::OK();
  }
  Status NewLogger(const std::string&, Logger** result) override {
    *result = new SilentLogger;  // freed by the caller
    return Status::OK();
  }

 private:
  static Status Missing(const std::string& fname) {
    return Status::IOError(fname, "File not found");
  }

  MemFilePtr Find(const std::string& fname) {
    MutexLock lock(&mutex_);
    const auto found = files_.find(fname);
    return found == files_.end() ? nullptr : found->second;
  }
  MemFilePtr FindOrMake(const std::string& fname) {
    MutexLock lock(&mutex_);
    MemFilePtr& file = files_[fname];
    if (file == nullptr) file = std::make_shared<MemFile>();
    return file;
  }
  template <typename Reader, typename Api>
  Status Open(const std::string& fname, Api** result) {
    *result = nullptr;
    MemFilePtr file = Find(fname);
    if (file == nullptr) return Missing(fname);
    *result = new Reader(std::move(file));  // freed by the caller
    return Status::OK();
  }

  Mutex mutex_;
  std::map<std::string, MemFilePtr> files_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace

Env* NewMemEnv(Env* base_env) {
  return new MemEnv(base_env);  // freed by the caller
}

}  // namespace leveldb
