// Env::Default(): the system's files by way of weft::PosixFileSystem, with LevelDB's answers.
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "background.h"
#include "convert.h"
#include "file_names.h"
#include "leveldb/env.h"
#include "text_logger.h"
#include "weft/file_system.h"
#include "weft/logger.h"

namespace leveldb {

namespace {

using weft::FileUse;
using weft::compat::DirOf;
using weft::compat::IsManifest;
using weft::compat::TakeInto;
using weft::compat::ToLevelDb;
using weft::compat::ToSlice;
using weft::compat::View;

class PosixSequentialFile final : public SequentialFile {
 public:
  explicit PosixSequentialFile(std::unique_ptr<weft::SequentialFile> file)
      : file_(std::move(file)) {}
  Status Read(size_t n, Slice* result, char* scratch) override {
    std::string_view view;
    const weft::Status status = file_->Read(n, &view, scratch);
    *result = ToSlice(view);
    return ToLevelDb(status);
  }
  Status Skip(uint64_t n) override { return ToLevelDb(file_->Skip(n)); }

 private:
  const std::unique_ptr<weft::SequentialFile> file_;
};

class PosixRandomAccessFile final : public RandomAccessFile {
 public:
  explicit PosixRandomAccessFile(std::unique_ptr<weft::RandomAccessFile> file)
      : file_(std::move(file)) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    std::string_view view;
    const weft::Status status = file_->Read(offset, n, &view, scratch);
    *result = ToSlice(view);
    return ToLevelDb(status);
  }

 private:
  const std::unique_ptr<weft::RandomAccessFile> file_;
};

class PosixWritableFile final : public WritableFile {
 public:
  // `dir_to_sync`: a folder whose names must be safe once Sync returns; may be empty.
  PosixWritableFile(std::unique_ptr<weft::WritableFile> file, std::string dir_to_sync)
      : file_(std::move(file)), dir_to_sync_(std::move(dir_to_sync)) {}
  ~PosixWritableFile() override {
    if (!closed_) (void)file_->Close();  // nobody is left to be told
  }
  Status Append(const Slice& data) override { return ToLevelDb(file_->Append(View(data))); }
  Status Close() override {
    closed_ = true;
    return ToLevelDb(file_->Close());
  }
  Status Flush() override { return ToLevelDb(file_->Flush()); }
  Status Sync() override {
    // LevelDB's interface has no call to sync a folder: a manifest's Sync stands for it.
    if (!dir_to_sync_.empty()) {
      const weft::Status status = weft::PosixFileSystem()->SyncDir(dir_to_sync_);
      if (!status.ok()) return ToLevelDb(status);
    }
    return ToLevelDb(file_->Sync());
  }

 private:
  const std::unique_ptr<weft::WritableFile> file_;
  const std::string dir_to_sync_;
  bool closed_ = false;
};

struct PosixFileLock final : FileLock {
  explicit PosixFileLock(std::unique_ptr<weft::FileLock> lock) : held(std::move(lock)) {}
  const std::unique_ptr<weft::FileLock> held;
};

class PosixEnv final : public Env {
 public:
  Status NewSequentialFile(const std::string& fname, SequentialFile** result) override {
    return TakeInto<PosixSequentialFile>(files_->NewSequentialFile(fname), result);
  }
  Status NewRandomAccessFile(const std::string& fname, RandomAccessFile** result) override {
    return TakeInto<PosixRandomAccessFile>(files_->NewRandomAccessFile(fname), result);
  }
  Status NewWritableFile(const std::string& fname, WritableFile** result) override {
    return TakeWritable(fname, files_->NewWritableFile(fname, kUse), result);
  }
  Status NewAppendableFile(const std::string& fname, WritableFile** result) override {
    return TakeWritable(fname, files_->NewAppendableFile(fname, kUse), result);
  }

  bool FileExists(const std::string& fname) override { return files_->FileExists(fname); }
  Status GetChildren(const std::string& dir, std::vector<std::string>* result) override {
    result->clear();
    return ToLevelDb(files_->GetChildren(dir, result));
  }
  Status RemoveFile(const std::string& fname) override {
    return ToLevelDb(files_->RemoveFile(fname));
  }
  Status CreateDir(const std::string& dirname) override {
    // Ours is content with a folder that is there; LevelDB's is not.
    if (files_->FileExists(dirname)) return Status::IOError(dirname, "File exists");
    return ToLevelDb(files_->CreateDir(dirname));
  }
  Status RemoveDir(const std::string& dirname) override {
    return ToLevelDb(files_->RemoveDir(dirname));
  }
  Status GetFileSize(const std::string& fname, uint64_t* file_size) override {
    *file_size = 0;
    const weft::Result<uint64_t> bytes = files_->GetFileSize(fname);
    if (!bytes) return ToLevelDb(bytes.error());
    *file_size = bytes.value();
    return Status::OK();
  }
  Status RenameFile(const std::string& src, const std::string& target) override {
    return ToLevelDb(files_->RenameFile(src, target));
  }

  Status LockFile(const std::string& fname, FileLock** lock) override {
    return TakeInto<PosixFileLock>(files_->LockFile(fname), lock);
  }
  Status UnlockFile(FileLock* lock) override {
    const std::unique_ptr<FileLock> ended(lock);
    return Status::OK();
  }

  void Schedule(void (*function)(void*), void* arg) override { background_.Add(function, arg); }
  void StartThread(void (*function)(void*), void* arg) override {
    std::thread(function, arg).detach();
  }

  Status GetTestDirectory(std::string* path) override {
    const char* chosen = std::getenv("TEST_TMPDIR");
    *path = chosen != nullptr && chosen[0] != '\0'
                ? chosen
                : "/tmp/leveldbtest-" + std::to_string(::geteuid());
    (void)files_->CreateDir(*path);  // it may be there already; what is put in it will tell
    return Status::OK();
  }
  Status NewLogger(const std::string& fname, Logger** result) override {
    *result = nullptr;
    weft::Result<std::shared_ptr<weft::Logger>> lines = weft::NewFileLogger(files_, fname);
    if (!lines) return ToLevelDb(lines.error());
    *result = new weft::compat::TextLogger(std::move(*lines));  // freed by the caller
    return Status::OK();
  }

  uint64_t NowMicros() override {
    timeval now;
    ::gettimeofday(&now, nullptr);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000u + static_cast<uint64_t>(now.tv_usec);
  }
  void SleepForMicroseconds(int micros) override {
    std::this_thread::sleep_for(std::chrono::microseconds(micros));
  }

 private:
  static Status TakeWritable(const std::string& fname,
                             weft::Result<std::unique_ptr<weft::WritableFile>> made,
                             WritableFile** result) {
    *result = nullptr;
    if (!made) return ToLevelDb(made.error());
    std::string dir_to_sync = IsManifest(fname) ? DirOf(fname) : std::string();
    // Freed by the caller.
    *result = new PosixWritableFile(std::move(*made), std::move(dir_to_sync));
    return Status::OK();
  }

  // A program may look at a file that it is writing: other uses reserve room ahead, as zeros.
  static constexpr FileUse kUse = FileUse::kOther;

  weft::FileSystem* const files_ = weft::PosixFileSystem();
  weft::compat::BackgroundThread background_;
};

}  // namespace

Env* Env::Default() {
  static Env* const env = new PosixEnv;  // never freed: its thread may outlive main
  return env;
}

}  // namespace leveldb
