#include "durable/killing_files.h"

#include <csignal>
#include <functional>
#include <utility>

namespace weft::durable {
namespace {

class Killer {
 public:
  Killer(uint64_t call, KillMoment moment) : call_(call), moment_(moment) {}

  // Runs a call that changes something. `half` does a part of it.
  template <typename Whole, typename Half>
  auto Run(Whole whole, Half half) {
    const uint64_t number = calls_.fetch_add(1) + 1;
    if (number != call_) return whole();
    if (moment_ == KillMoment::kHalf) half();
    auto result = moment_ == KillMoment::kAfter ? whole() : decltype(whole())(Status());
    raise(SIGKILL);
    return result;
  }

 private:
  const uint64_t call_;
  const KillMoment moment_;
  std::atomic<uint64_t> calls_ = 0;
};

class KillingFile final : public WritableFile {
 public:
  KillingFile(std::unique_ptr<WritableFile> file, Killer* killer)
      : file_(std::move(file)), killer_(killer) {}
  Status Append(std::string_view data) override {
    return killer_->Run([&] { return file_->Append(data); },
                        [&] {
                          Status ignored = file_->Append(data.substr(0, data.size() / 2));
                          ignored = file_->Flush();
                        });
  }
  Status Flush() override {
    return killer_->Run([&] { return file_->Flush(); }, [] {});
  }
  Status Sync() override {
    return killer_->Run([&] { return file_->Sync(); }, [] {});
  }
  Status SyncFlushed() override {
    return killer_->Run([&] { return file_->SyncFlushed(); }, [] {});
  }
  Status Close() override {
    return killer_->Run([&] { return file_->Close(); }, [] {});
  }

 private:
  std::unique_ptr<WritableFile> file_;
  Killer* killer_;
};

class KillingFileSystem final : public FileSystem {
 public:
  KillingFileSystem(FileSystem* files, uint64_t call, KillMoment moment)
      : files_(files), killer_(call, moment) {}

  Result<std::unique_ptr<SequentialFile>> NewSequentialFile(const std::string& path) override {
    return files_->NewSequentialFile(path);
  }
  Result<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(const std::string& path) override {
    return files_->NewRandomAccessFile(path);
  }
  Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path,
                                                        FileUse use) override {
    return Watched([&] { return files_->NewWritableFile(path, use); });
  }
  Result<std::unique_ptr<WritableFile>> NewAppendableFile(const std::string& path,
                                                          FileUse use) override {
    return Watched([&] { return files_->NewAppendableFile(path, use); });
  }
  bool FileExists(const std::string& path) override { return files_->FileExists(path); }
  Status GetChildren(const std::string& dir, std::vector<std::string>* names) override {
    return files_->GetChildren(dir, names);
  }
  Status RemoveFile(const std::string& path) override {
    return killer_.Run([&] { return files_->RemoveFile(path); }, [] {});
  }
  Status CreateDir(const std::string& dir) override {
    return killer_.Run([&] { return files_->CreateDir(dir); }, [] {});
  }
  Status RemoveDir(const std::string& dir) override { return files_->RemoveDir(dir); }
  Result<uint64_t> GetFileSize(const std::string& path) override {
    return files_->GetFileSize(path);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    return killer_.Run([&] { return files_->RenameFile(from, to); }, [] {});
  }
  Status LinkFile(const std::string& from, const std::string& to) override {
    return killer_.Run([&] { return files_->LinkFile(from, to); }, [] {});
  }
  Status Truncate(const std::string& path, uint64_t bytes) override {
    return killer_.Run([&] { return files_->Truncate(path, bytes); }, [] {});
  }
  Status SyncDir(const std::string& dir) override {
    return killer_.Run([&] { return files_->SyncDir(dir); }, [] {});
  }
  Result<std::unique_ptr<FileLock>> LockFile(const std::string& path) override {
    return files_->LockFile(path);
  }

 private:
  template <typename Make>
  Result<std::unique_ptr<WritableFile>> Watched(Make make) {
    Result<std::unique_ptr<WritableFile>> file = killer_.Run(make, [] {});
    if (!file) return file.error();
    return std::unique_ptr<WritableFile>(std::make_unique<KillingFile>(std::move(*file), &killer_));
  }

  FileSystem* const files_;
  Killer killer_;
};

}  // namespace

std::unique_ptr<FileSystem> NewKillingFileSystem(FileSystem* files, uint64_t call,
                                                 KillMoment moment) {
  return std::make_unique<KillingFileSystem>(files, call, moment);
}

}  // namespace weft::durable
