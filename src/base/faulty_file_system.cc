#include "base/faulty_file_system.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/posix_fd.h"

namespace weft::base {

std::string_view FileCallName(FileCallKind kind) {
  switch (kind) {
    case FileCallKind::kNewSequentialFile: return "NewSequentialFile";
    case FileCallKind::kNewRandomAccessFile: return "NewRandomAccessFile";
    case FileCallKind::kNewWritableFile: return "NewWritableFile";
    case FileCallKind::kNewAppendableFile: return "NewAppendableFile";
    case FileCallKind::kRead: return "Read";
    case FileCallKind::kSkip: return "Skip";
    case FileCallKind::kReadAt: return "ReadAt";
    case FileCallKind::kAppend: return "Append";
    case FileCallKind::kFlush: return "Flush";
    case FileCallKind::kSync: return "Sync";
    case FileCallKind::kClose: return "Close";
    case FileCallKind::kFileExists: return "FileExists";
    case FileCallKind::kGetChildren: return "GetChildren";
    case FileCallKind::kRemoveFile: return "RemoveFile";
    case FileCallKind::kCreateDir: return "CreateDir";
    case FileCallKind::kRemoveDir: return "RemoveDir";
    case FileCallKind::kGetFileSize: return "GetFileSize";
    case FileCallKind::kRenameFile: return "RenameFile";
    case FileCallKind::kLinkFile: return "LinkFile";
    case FileCallKind::kTruncate: return "Truncate";
    case FileCallKind::kSyncDir: return "SyncDir";
    case FileCallKind::kLockFile: return "LockFile";
  }
  return "unknown";
}

class FaultyFileSystem::SequentialHandle final : public SequentialFile {
 public:
  SequentialHandle(FaultyFileSystem* faults, std::string path, std::unique_ptr<SequentialFile> file)
      : faults_(faults), path_(std::move(path)), file_(std::move(file)) {}

  Status Read(size_t bytes, std::string_view* result, char* scratch) override {
    *result = {};
    Status fault = faults_->Ask({FileCallKind::kRead, path_, bytes});
    return fault.ok() ? file_->Read(bytes, result, scratch) : fault;
  }
  Status Skip(uint64_t bytes) override {
    Status fault = faults_->Ask({FileCallKind::kSkip, path_, bytes});
    return fault.ok() ? file_->Skip(bytes) : fault;
  }

 private:
  FaultyFileSystem* const faults_;
  const std::string path_;
  const std::unique_ptr<SequentialFile> file_;
};

class FaultyFileSystem::RandomAccessHandle final : public RandomAccessFile {
 public:
  RandomAccessHandle(FaultyFileSystem* faults, std::string path,
                     std::unique_ptr<RandomAccessFile> file)
      : faults_(faults), path_(std::move(path)), file_(std::move(file)) {}

  Status Read(uint64_t offset, size_t bytes, std::string_view* result,
              char* scratch) const override {
    *result = {};
    Status fault = faults_->Ask({FileCallKind::kReadAt, path_, bytes, nullptr, offset});
    return fault.ok() ? file_->Read(offset, bytes, result, scratch) : fault;
  }
  void WillNeed(uint64_t offset, size_t bytes) const override { file_->WillNeed(offset, bytes); }
  void ReadsInOrder() const override { file_->ReadsInOrder(); }

 private:
  FaultyFileSystem* const faults_;
  const std::string path_;
  const std::unique_ptr<RandomAccessFile> file_;
};

class FaultyFileSystem::WriteHandle final : public WritableFile {
 public:
  WriteHandle(FaultyFileSystem* faults, std::string path, std::unique_ptr<WritableFile> file)
      : faults_(faults), path_(std::move(path)), file_(std::move(file)) {}

  Status Append(std::string_view data) override {
    Status fault = faults_->Ask({FileCallKind::kAppend, path_, data.size(), data.data()});
    if (!fault.ok()) return fault;
    const uint64_t fits = faults_->TakeDiskRoom(data.size());
    if (fits == data.size()) return file_->Append(data);
    Status status = file_->Append(data.substr(0, fits));
    return status.ok() ? PosixError("write", path_, ENOSPC) : status;
  }
  Result<char*> Extend(uint64_t bytes) override {
    Status fault = faults_->Ask({FileCallKind::kAppend, path_, bytes});
    if (!fault.ok()) return fault;
    if (faults_->TakeDiskRoom(bytes) != bytes) return PosixError("write", path_, ENOSPC);
    return file_->Extend(bytes);
  }
  Status Flush() override {
    Status fault = faults_->Ask({FileCallKind::kFlush, path_});
    return fault.ok() ? file_->Flush() : fault;
  }
  Status Sync() override {
    Status fault = faults_->Ask({FileCallKind::kSync, path_});
    return fault.ok() ? file_->Sync() : fault;
  }
  Status SyncFlushed() override {
    Status fault = faults_->Ask({FileCallKind::kSync, path_});
    return fault.ok() ? file_->SyncFlushed() : fault;
  }
  Status Close() override {
    Status fault = faults_->Ask({FileCallKind::kClose, path_});
    return fault.ok() ? file_->Close() : fault;
  }

 private:
  FaultyFileSystem* const faults_;
  const std::string path_;
  const std::unique_ptr<WritableFile> file_;
};

void FaultyFileSystem::SetHook(Hook hook) {
  MutexLock lock(&mutex_);
  hook_ = hook ? std::make_shared<const Hook>(std::move(hook)) : nullptr;
}

void FaultyFileSystem::FailCall(uint64_t n) {
  MutexLock lock(&mutex_);
  fail_at_ = calls() + n;
}

void FaultyFileSystem::FailFrom(uint64_t n) {
  MutexLock lock(&mutex_);
  fail_from_ = calls() + n;
}

void FaultyFileSystem::FillDiskAfter(uint64_t bytes) {
  MutexLock lock(&mutex_);
  disk_room_bytes_ = bytes;
}

void FaultyFileSystem::Heal() {
  MutexLock lock(&mutex_);
  hook_ = nullptr;
  fail_at_ = fail_from_ = disk_room_bytes_ = kNever;
}

Status FaultyFileSystem::AskHook(const FileCall& call) {
  std::shared_ptr<const Hook> hook;
  {
    MutexLock lock(&mutex_);
    hook = hook_;
  }
  Status status = hook == nullptr ? Status::Ok() : (*hook)(call);
  if (!status.ok()) faults_.fetch_add(1, std::memory_order_relaxed);
  return status;
}

Status FaultyFileSystem::Ask(const FileCall& call) {
  uint64_t number;
  bool fails;
  {
    MutexLock lock(&mutex_);
    number = calls_.fetch_add(1, std::memory_order_relaxed) + 1;
    fails = number == fail_at_ || number >= fail_from_;
  }
  if (!fails) return AskHook(call);
  faults_.fetch_add(1, std::memory_order_relaxed);
  return {Code::kIoError, std::string(FileCallName(call.kind)) + " " + call.path +
                              ": fault injected at call " + std::to_string(number)};
}

uint64_t FaultyFileSystem::TakeDiskRoom(uint64_t bytes) {
  MutexLock lock(&mutex_);
  if (disk_room_bytes_ == kNever) return bytes;
  const uint64_t fits = std::min(bytes, disk_room_bytes_);
  disk_room_bytes_ -= fits;
  if (fits < bytes) faults_.fetch_add(1, std::memory_order_relaxed);
  return fits;
}

Result<std::unique_ptr<SequentialFile>> FaultyFileSystem::NewSequentialFile(
    const std::string& path) {
  Status fault = Ask({FileCallKind::kNewSequentialFile, path});
  if (!fault.ok()) return fault;
  auto file = behind_->NewSequentialFile(path);
  if (!file) return file;
  return std::unique_ptr<SequentialFile>(
      std::make_unique<SequentialHandle>(this, path, std::move(*file)));
}

Result<std::unique_ptr<RandomAccessFile>> FaultyFileSystem::NewRandomAccessFile(
    const std::string& path) {
  Status fault = Ask({FileCallKind::kNewRandomAccessFile, path});
  if (!fault.ok()) return fault;
  auto file = behind_->NewRandomAccessFile(path);
  if (!file) return file;
  return std::unique_ptr<RandomAccessFile>(
      std::make_unique<RandomAccessHandle>(this, path, std::move(*file)));
}

Result<std::unique_ptr<WritableFile>> FaultyFileSystem::NewWritableFile(const std::string& path,
                                                                        FileUse use) {
  Status fault = Ask({FileCallKind::kNewWritableFile, path});
  if (!fault.ok()) return fault;
  auto file = behind_->NewWritableFile(path, use);
  if (!file) return file;
  return std::unique_ptr<WritableFile>(std::make_unique<WriteHandle>(this, path, std::move(*file)));
}

Result<std::unique_ptr<WritableFile>> FaultyFileSystem::NewAppendableFile(const std::string& path,
                                                                          FileUse use) {
  Status fault = Ask({FileCallKind::kNewAppendableFile, path});
  if (!fault.ok()) return fault;
  auto file = behind_->NewAppendableFile(path, use);
  if (!file) return file;
  return std::unique_ptr<WritableFile>(std::make_unique<WriteHandle>(this, path, std::move(*file)));
}

bool FaultyFileSystem::FileExists(const std::string& path) {
  return AskHook({FileCallKind::kFileExists, path}).ok() && behind_->FileExists(path);
}

Status FaultyFileSystem::GetChildren(const std::string& dir, std::vector<std::string>* names) {
  Status fault = Ask({FileCallKind::kGetChildren, dir});
  return fault.ok() ? behind_->GetChildren(dir, names) : fault;
}

Status FaultyFileSystem::RemoveFile(const std::string& path) {
  Status fault = Ask({FileCallKind::kRemoveFile, path});
  return fault.ok() ? behind_->RemoveFile(path) : fault;
}

Status FaultyFileSystem::CreateDir(const std::string& dir) {
  Status fault = Ask({FileCallKind::kCreateDir, dir});
  return fault.ok() ? behind_->CreateDir(dir) : fault;
}

Status FaultyFileSystem::RemoveDir(const std::string& dir) {
  Status fault = Ask({FileCallKind::kRemoveDir, dir});
  return fault.ok() ? behind_->RemoveDir(dir) : fault;
}

Result<uint64_t> FaultyFileSystem::GetFileSize(const std::string& path) {
  Status fault = Ask({FileCallKind::kGetFileSize, path});
  if (!fault.ok()) return fault;
  return behind_->GetFileSize(path);
}

Status FaultyFileSystem::RenameFile(const std::string& from, const std::string& to) {
  Status fault = Ask({FileCallKind::kRenameFile, from});
  return fault.ok() ? behind_->RenameFile(from, to) : fault;
}

Status FaultyFileSystem::LinkFile(const std::string& from, const std::string& to) {
  Status fault = Ask({FileCallKind::kLinkFile, from});
  return fault.ok() ? behind_->LinkFile(from, to) : fault;
}

Status FaultyFileSystem::Truncate(const std::string& path, uint64_t bytes) {
  Status fault = Ask({FileCallKind::kTruncate, path, bytes});
  return fault.ok() ? behind_->Truncate(path, bytes) : fault;
}

Status FaultyFileSystem::SyncDir(const std::string& dir) {
  Status fault = Ask({FileCallKind::kSyncDir, dir});
  return fault.ok() ? behind_->SyncDir(dir) : fault;
}

Result<std::unique_ptr<FileLock>> FaultyFileSystem::LockFile(const std::string& path) {
  Status fault = Ask({FileCallKind::kLockFile, path});
  if (!fault.ok()) return fault;
  return behind_->LockFile(path);
}

}  // namespace weft::base
