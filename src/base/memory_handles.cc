#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/memory_file_system.h"
#include "base/memory_node.h"
#include "base/posix_fd.h"

namespace weft::base {

Status MemoryFileSystem::DeadLocked(uint64_t epoch, const std::string& path) const {
  if (epoch == epoch_) return Status::Ok();
  return {Code::kIoError, "use of " + path + ", which was open before a crash"};
}

// What the two kinds of readers share.
class MemoryFileSystem::ReadHandle {
 public:
  ReadHandle(MemoryFileSystem* files, NodePtr node, std::string path, uint64_t epoch)
      : files_(files), node_(std::move(node)), path_(std::move(path)), epoch_(epoch) {}

  Status Read(uint64_t offset, size_t bytes, std::string_view* result, char* scratch) const {
    MutexLock lock(&files_->mutex_);
    *result = {};
    Status dead = files_->DeadLocked(epoch_, path_);
    if (!dead.ok()) return dead;
    const std::string& data = node_->data;
    if (offset >= data.size()) return Status::Ok();
    const size_t got = std::min<size_t>(bytes, data.size() - offset);
    std::memcpy(scratch, data.data() + offset, got);
    *result = {scratch, got};
    return Status::Ok();
  }

 private:
  MemoryFileSystem* const files_;
  const NodePtr node_;
  const std::string path_;
  const uint64_t epoch_;
};

class MemoryFileSystem::SequentialHandle final : public SequentialFile {
 public:
  explicit SequentialHandle(ReadHandle handle) : handle_(std::move(handle)) {}

  Status Read(size_t bytes, std::string_view* result, char* scratch) override {
    Status status = handle_.Read(offset_, bytes, result, scratch);
    offset_ += result->size();
    return status;
  }
  Status Skip(uint64_t bytes) override {
    offset_ += bytes;
    return Status::Ok();
  }

 private:
  const ReadHandle handle_;
  uint64_t offset_ = 0;
};

class MemoryFileSystem::RandomAccessHandle final : public RandomAccessFile {
 public:
  explicit RandomAccessHandle(ReadHandle handle) : handle_(std::move(handle)) {}

  Status Read(uint64_t offset, size_t bytes, std::string_view* result,
              char* scratch) const override {
    return handle_.Read(offset, bytes, result, scratch);
  }

 private:
  const ReadHandle handle_;
};

class MemoryFileSystem::WriteHandle final : public WritableFile {
 public:
  WriteHandle(MemoryFileSystem* files, NodePtr node, std::string path, uint64_t epoch)
      : files_(files), node_(std::move(node)), path_(std::move(path)), epoch_(epoch) {}
  ~WriteHandle() override {
    if (!closed_) (void)Close();  // nobody is left to tell
  }
  WriteHandle(const WriteHandle&) = delete;
  WriteHandle& operator=(const WriteHandle&) = delete;

  // Kept here until it is flushed, however much it is: the worst that a buffer may do.
  Status Append(std::string_view data) override {
    MutexLock lock(&files_->mutex_);
    Status status = UsableLocked();
    if (status.ok()) buffer_.append(data);
    return status;
  }

  Status Flush() override {
    MutexLock lock(&files_->mutex_);
    return FlushLocked();
  }

  Status Sync() override {
    MutexLock lock(&files_->mutex_);
    Status status = FlushLocked();
    if (!status.ok()) return status;
    node_->synced_bytes = node_->data.size();
    node_->before_cut.reset();
    return status;
  }

  Status Close() override {
    MutexLock lock(&files_->mutex_);
    Status status = FlushLocked();
    closed_ = true;
    return status;
  }

 private:
  Status UsableLocked() const WEFT_REQUIRES(files_->mutex_) {
    if (closed_) return {Code::kIoError, "use of " + path_ + " after it was closed"};
    return files_->DeadLocked(epoch_, path_);
  }
  Status FlushLocked() WEFT_REQUIRES(files_->mutex_) {
    Status status = UsableLocked();
    if (!status.ok()) return status;
    node_->data.append(buffer_);
    buffer_.clear();
    return status;
  }

  MemoryFileSystem* const files_;
  const NodePtr node_;
  const std::string path_;
  const uint64_t epoch_;
  std::string buffer_;
  bool closed_ = false;
};

class MemoryFileSystem::LockHandle final : public FileLock {
 public:
  LockHandle(MemoryFileSystem* files, NodePtr node, uint64_t epoch)
      : files_(files), node_(std::move(node)), epoch_(epoch) {}
  ~LockHandle() override {
    MutexLock lock(&files_->mutex_);
    if (epoch_ == files_->epoch_) node_->locked = false;
  }
  LockHandle(const LockHandle&) = delete;
  LockHandle& operator=(const LockHandle&) = delete;

 private:
  MemoryFileSystem* const files_;
  const NodePtr node_;
  const uint64_t epoch_;
};

Result<std::unique_ptr<SequentialFile>> MemoryFileSystem::NewSequentialFile(
    const std::string& path) {
  MutexLock lock(&mutex_);
  Result<NodePtr> node = FindFileLocked(path);
  if (!node) return node.error();
  return std::unique_ptr<SequentialFile>(
      std::make_unique<SequentialHandle>(ReadHandle(this, *node, path, epoch_)));
}

Result<std::unique_ptr<RandomAccessFile>> MemoryFileSystem::NewRandomAccessFile(
    const std::string& path) {
  MutexLock lock(&mutex_);
  Result<NodePtr> node = FindFileLocked(path);
  if (!node) return node.error();
  return std::unique_ptr<RandomAccessFile>(
      std::make_unique<RandomAccessHandle>(ReadHandle(this, *node, path, epoch_)));
}

Result<std::unique_ptr<WritableFile>> MemoryFileSystem::OpenToWrite(const std::string& path,
                                                                    bool truncate) {
  MutexLock lock(&mutex_);
  Result<NodePtr> node = FindOrMakeFileLocked(path);
  if (!node) return node.error();
  if (truncate) CutLocked(node->get(), 0);
  return std::unique_ptr<WritableFile>(std::make_unique<WriteHandle>(this, *node, path, epoch_));
}

Result<std::unique_ptr<WritableFile>> MemoryFileSystem::NewWritableFile(const std::string& path,
                                                                        FileUse) {
  return OpenToWrite(path, true);
}

Result<std::unique_ptr<WritableFile>> MemoryFileSystem::NewAppendableFile(const std::string& path,
                                                                          FileUse) {
  return OpenToWrite(path, false);
}

Result<std::unique_ptr<FileLock>> MemoryFileSystem::LockFile(const std::string& path) {
  MutexLock lock(&mutex_);
  Result<NodePtr> node = FindOrMakeFileLocked(path);
  if (!node) return node.error();
  if ((*node)->locked) {
    return Status(Code::kRetryLater, path + ": this process has it open and locked");
  }
  (*node)->locked = true;
  return std::unique_ptr<FileLock>(std::make_unique<LockHandle>(this, *node, epoch_));
}

}  // namespace weft::base
