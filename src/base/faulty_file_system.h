// base/faulty_file_system.h: a file system whose calls fail where a test wants it.
//
// Stands before any other one. It first shows each call to the faults set here. If one gives an
// error, that is the call's answer and the call is not made; a full disk still takes what fits.
//
// Threads   any at once; faults may be set while calls run. A hook is called from the threads that
//           make the calls, several at once.
// Errors    those injected, otherwise those of the file system behind.
// Notes     Mapped() is empty: a read through a pointer could not fail.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "weft/file_system.h"

namespace weft::base {

enum class FileCallKind : uint8_t {
  kNewSequentialFile,
  kNewRandomAccessFile,
  kNewWritableFile,
  kNewAppendableFile,
  kRead,    // of a sequential file
  kSkip,    // of a sequential file
  kReadAt,  // of a random access file
  kAppend,
  kFlush,
  kSync,
  kClose,
  kFileExists,  // an error means no; only a hook makes it fail, and calls() leaves it out
  kGetChildren,
  kRemoveFile,
  kCreateDir,
  kRemoveDir,
  kGetFileSize,
  kRenameFile,  // path: the old name
  kLinkFile,    // path: the old name
  kTruncate,
  kSyncDir,
  kLockFile,
};
// "NewSequentialFile", ...
std::string_view FileCallName(FileCallKind kind);

struct FileCall {
  FileCallKind kind;
  const std::string& path;
  uint64_t bytes = 0;          // to read, skip, append or keep (kTruncate)
  const char* from = nullptr;  // Append: where they lie
  uint64_t offset = 0;         // kReadAt: in the file
};

class FaultyFileSystem : public FileSystem {
 public:
  using Hook = std::function<Status(const FileCall&)>;

  // Does not own `behind`, which must outlive it. It must itself outlive the files opened on it.
  explicit FaultyFileSystem(FileSystem* behind) : behind_(behind) {}

  // Asked before every call; its error is injected. Null: none.
  void SetHook(Hook hook);
  // The n-th call from now fails once (1: the next).
  void FailCall(uint64_t n);
  // The n-th call from now fails, and all after it.
  void FailFrom(uint64_t n);
  // Appends fail (no space left) once `bytes` more were appended. The one that meets the end is cut
  // short there. Removing files frees nothing.
  void FillDiskAfter(uint64_t bytes);
  // No faults from now on.
  void Heal();

  // Calls made since the start, failed ones as well; to count how many there are to fail.
  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  // Errors injected since the start.
  uint64_t faults() const { return faults_.load(std::memory_order_relaxed); }

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
  bool WritesInPlace() const override { return behind_->WritesInPlace(); }

 private:
  class SequentialHandle;
  class RandomAccessHandle;
  class WriteHandle;
  static constexpr uint64_t kNever = UINT64_MAX;

  // Counts the call, and gives the error to inject, if any.
  Status Ask(const FileCall& call);
  Status AskHook(const FileCall& call);
  // How many of `bytes` the disk still takes.
  uint64_t TakeDiskRoom(uint64_t bytes);

  FileSystem* const behind_;
  std::atomic<uint64_t> calls_{0};
  std::atomic<uint64_t> faults_{0};
  Mutex mutex_;
  std::shared_ptr<const Hook> hook_ WEFT_GUARDED_BY(mutex_);
  uint64_t fail_at_ WEFT_GUARDED_BY(mutex_) = kNever;
  uint64_t fail_from_ WEFT_GUARDED_BY(mutex_) = kNever;
  uint64_t disk_room_bytes_ WEFT_GUARDED_BY(mutex_) = kNever;
};

}  // namespace weft::base
