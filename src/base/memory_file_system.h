// base/memory_file_system.h: files in memory that know what a power cut would leave of them.
//
// For tests of durability, and for programs that want no disk. It is as forgetful as the promises
// of weft/file_system.h allow. Unflushed bytes are lost with the process. A power cut may take or
// leave each unsynced byte, and each change of a name whose folder had no SyncDir since. To make
// calls fail, put a FaultyFileSystem (base/faulty_file_system.h) before it.
//
// Layout    a tree; paths with and without a leading slash mean the same. At first there is only
//           the root.
// Threads   as weft/file_system.h says; the other calls may be made at any time, too. The file
//           system must outlive the files opened on it.
// Errors    those of the system's files, with the same codes.
// Cost      one mutex for all; reads copy. Copies of all contents for Copy and Restore.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "weft/file_system.h"

namespace weft::base {

// How a run ends, and so what is left of what was written.
enum class CrashKind : uint8_t {
  kProcessEnd,  // kill -9: all but the bytes not yet flushed
  kDropAll,     // power cut: nothing that was not synced
  kTorn,        // power cut: of each file's unsynced bytes a random prefix; of the names any
  kReordered,   // power cut: of each file's unsynced bytes any pages or sectors, zeros in between
};
inline constexpr CrashKind kCrashKinds[] = {CrashKind::kProcessEnd, CrashKind::kDropAll,
                                            CrashKind::kTorn, CrashKind::kReordered};

class MemoryFileSystem final : public FileSystem {
 public:
  MemoryFileSystem();
  ~MemoryFileSystem() override;
  MemoryFileSystem(const MemoryFileSystem&) = delete;
  MemoryFileSystem& operator=(const MemoryFileSystem&) = delete;

  // Files open now are dead: their calls give kIoError, and change nothing. Locks are free. All
  // that is left counts as synced.
  void Crash(std::mt19937_64* random, CrashKind kind);
  // A copy of the files, with what of them is synced, without the open ones. So a test can crash a
  // copy at each of many instants while the original goes on.
  std::unique_ptr<MemoryFileSystem> Copy() const;
  // Becomes a copy of `from`, as Copy makes it; its own open files are dead as after a crash.
  void Restore(const MemoryFileSystem& from);

  // The contents as a reader sees them now.
  Result<std::string> Contents(const std::string& path) const;
  // Puts contents in place, all synced, the name too; its folder must be there.
  Status SetContents(const std::string& path, std::string_view contents);
  // Flips the bits of `mask` in one byte: damage. kInvalidArgument beyond the end.
  Status FlipBits(const std::string& path, uint64_t offset, uint8_t mask);
  // All files there are, with their paths from the root, in order.
  std::vector<std::string> AllFiles() const;

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
  class ReadHandle;
  class SequentialHandle;
  class RandomAccessHandle;
  class WriteHandle;
  class LockHandle;
  struct Node;
  struct NameChange;
  struct Place;
  using NodePtr = std::shared_ptr<Node>;

  NodePtr FindLocked(const std::string& path) const WEFT_REQUIRES(mutex_);
  // The folder of `path` and the name in it; kNotFound where there is no such folder.
  Result<Place> PlaceLocked(const std::string& path) const WEFT_REQUIRES(mutex_);
  Result<NodePtr> FindFileLocked(const std::string& path) const WEFT_REQUIRES(mutex_);
  Result<NodePtr> FindOrMakeFileLocked(const std::string& path) WEFT_REQUIRES(mutex_);
  Result<std::unique_ptr<WritableFile>> OpenToWrite(const std::string& path, bool truncate);
  void CutLocked(Node* node, uint64_t bytes) WEFT_REQUIRES(mutex_);
  void SyncNamesLocked(const NodePtr& dir) WEFT_REQUIRES(mutex_);
  void LeaveNamesLocked(std::mt19937_64* random, CrashKind kind) WEFT_REQUIRES(mutex_);
  Status DeadLocked(uint64_t epoch, const std::string& path) const WEFT_REQUIRES(mutex_);

  mutable Mutex mutex_;
  NodePtr root_ WEFT_GUARDED_BY(mutex_);
  // Since the last SyncDir of their folders, oldest first.
  std::vector<NameChange> changes_ WEFT_GUARDED_BY(mutex_);
  // Raised by each crash: handles of an earlier one are dead.
  uint64_t epoch_ WEFT_GUARDED_BY(mutex_) = 0;
};

}  // namespace weft::base
