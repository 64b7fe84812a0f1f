// lsm/patient_files.h: the files of compactions, which wait for descriptors.
//
// Connections may hold all descriptors of a process for a moment. A job of minutes is not to begin
// anew for that. So what opens a table or makes one, and the folder's sync, is tried again.
//
// Threads   any at once; whoever waits sleeps.
// Errors    those of the files behind. kRetryLater: so it was each time, for a second or more, or
//           until the store was being closed.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "weft/file_system.h"

namespace weft::lsm {

class PatientFiles final : public FileSystem {
 public:
  // Both must outlive it. closing: true ends all waiting.
  PatientFiles(FileSystem* behind, const std::atomic<bool>* closing)
      : behind_(*behind), closing_(*closing) {}

  Result<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(const std::string& path) override {
    return TryAgain([&] { return behind_.NewRandomAccessFile(path); });
  }
  Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path,
                                                        FileUse use) override {
    return TryAgain([&] { return behind_.NewWritableFile(path, use); });
  }
  Status SyncDir(const std::string& dir) override {
    return TryAgain([&] { return behind_.SyncDir(dir); });
  }

  // As the files behind do it, at once.
  Result<std::unique_ptr<SequentialFile>> NewSequentialFile(const std::string& path) override {
    return behind_.NewSequentialFile(path);
  }
  Result<std::unique_ptr<WritableFile>> NewAppendableFile(const std::string& path,
                                                          FileUse use) override {
    return behind_.NewAppendableFile(path, use);
  }
  bool FileExists(const std::string& path) override { return behind_.FileExists(path); }
  Status GetChildren(const std::string& dir, std::vector<std::string>* names) override {
    return behind_.GetChildren(dir, names);
  }
  Status RemoveFile(const std::string& path) override { return behind_.RemoveFile(path); }
  Status CreateDir(const std::string& dir) override { return behind_.CreateDir(dir); }
  Status RemoveDir(const std::string& dir) override { return behind_.RemoveDir(dir); }
  Result<uint64_t> GetFileSize(const std::string& path) override {
    return behind_.GetFileSize(path);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    return behind_.RenameFile(from, to);
  }
  Status LinkFile(const std::string& from, const std::string& to) override {
    return behind_.LinkFile(from, to);
  }
  Status Truncate(const std::string& path, uint64_t bytes) override {
    return behind_.Truncate(path, bytes);
  }
  bool WritesInPlace() const override { return behind_.WritesInPlace(); }
  Result<std::unique_ptr<FileLock>> LockFile(const std::string& path) override {
    return behind_.LockFile(path);
  }

 private:
  // Counted, not timed: while the machine stands still, nobody lets go of a descriptor.
  static constexpr int kPausesMax = 50;
  static constexpr std::chrono::milliseconds kPause{20};

  static Code CodeOf(const Status& status) { return status.code(); }
  template <typename T>
  static Code CodeOf(const Result<T>& result) {
    return result ? Code::kOk : result.error().code();
  }
  // Relaxed: nothing is read that was written before it.
  bool IsClosing() const { return closing_.load(std::memory_order_relaxed); }

  template <typename Call>
  auto TryAgain(const Call& call) -> decltype(call()) {
    auto answer = call();
    for (int pauses = 0; CodeOf(answer) == Code::kRetryLater && pauses < kPausesMax; pauses++) {
      if (!IsClosing()) std::this_thread::sleep_for(kPause);
      if (IsClosing()) break;
      answer = call();
    }
    return answer;
  }

  FileSystem& behind_;
  const std::atomic<bool>& closing_;
};

}  // namespace weft::lsm
