#include "durable/leveldb_env.h"

#include <leveldb/slice.h>
#include <leveldb/status.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace weft::durable {
namespace {

class Sequential final : public leveldb::SequentialFile {
 public:
  explicit Sequential(std::unique_ptr<weft::SequentialFile> file) : file_(std::move(file)) {}
  leveldb::Status Read(size_t bytes, leveldb::Slice* result, char* scratch) override {
    std::string_view read;
    const Status status = file_->Read(bytes, &read, scratch);
    *result = leveldb::Slice(read.data(), read.size());
    return ToLevelDb(status);
  }
  leveldb::Status Skip(uint64_t bytes) override { return ToLevelDb(file_->Skip(bytes)); }

 private:
  std::unique_ptr<weft::SequentialFile> file_;
};

class RandomAccess final : public leveldb::RandomAccessFile {
 public:
  explicit RandomAccess(std::unique_ptr<weft::RandomAccessFile> file) : file_(std::move(file)) {}
  leveldb::Status Read(uint64_t offset, size_t bytes, leveldb::Slice* result,
                       char* scratch) const override {
    std::string_view read;
    const Status status = file_->Read(offset, bytes, &read, scratch);
    *result = leveldb::Slice(read.data(), read.size());
    return ToLevelDb(status);
  }

 private:
  std::unique_ptr<weft::RandomAccessFile> file_;
};

class Writable final : public leveldb::WritableFile {
 public:
  // A folder is synced with the manifest in it, as LevelDB's own files do.
  Writable(std::unique_ptr<weft::WritableFile> file, FileSystem* files, std::string dir)
      : file_(std::move(file)), files_(files), dir_(std::move(dir)) {}
  leveldb::Status Append(const leveldb::Slice& data) override {
    return ToLevelDb(file_->Append({data.data(), data.size()}));
  }
  leveldb::Status Close() override { return ToLevelDb(file_->Close()); }
  leveldb::Status Flush() override { return ToLevelDb(file_->Flush()); }
  leveldb::Status Sync() override {
    if (!dir_.empty()) {
      if (Status status = files_->SyncDir(dir_); !status.ok()) return ToLevelDb(status);
    }
    return ToLevelDb(file_->Sync());
  }

 private:
  std::unique_ptr<weft::WritableFile> file_;
  FileSystem* files_;
  std::string dir_;
};

class Lock final : public leveldb::FileLock {
 public:
  explicit Lock(std::unique_ptr<weft::FileLock> lock) : lock_(std::move(lock)) {}

 private:
  std::unique_ptr<weft::FileLock> lock_;
};

class EnvOverFiles final : public leveldb::EnvWrapper {
 public:
  explicit EnvOverFiles(FileSystem* files)
      : leveldb::EnvWrapper(leveldb::Env::Default()), files_(files) {}

  leveldb::Status NewSequentialFile(const std::string& path,
                                    leveldb::SequentialFile** made) override {
    return Make<Sequential>(files_->NewSequentialFile(path), made);
  }
  leveldb::Status NewRandomAccessFile(const std::string& path,
                                      leveldb::RandomAccessFile** made) override {
    return Make<RandomAccess>(files_->NewRandomAccessFile(path), made);
  }
  leveldb::Status NewWritableFile(const std::string& path, leveldb::WritableFile** made) override {
    auto file = files_->NewWritableFile(path, UseOf(path));
    if (file) KeepNames(path);
    return Make<Writable>(std::move(file), made, files_, FolderToSync(path));
  }
  leveldb::Status NewAppendableFile(const std::string& path,
                                    leveldb::WritableFile** made) override {
    return Make<Writable>(files_->NewAppendableFile(path, UseOf(path)), made, files_,
                          FolderToSync(path));
  }
  bool FileExists(const std::string& path) override { return files_->FileExists(path); }
  leveldb::Status GetChildren(const std::string& dir, std::vector<std::string>* names) override {
    return ToLevelDb(files_->GetChildren(dir, names));
  }
  leveldb::Status RemoveFile(const std::string& path) override {
    return ToLevelDb(files_->RemoveFile(path));
  }
  leveldb::Status CreateDir(const std::string& dir) override {
    const Status status = files_->CreateDir(dir);
    if (status.ok()) KeepNames(dir);
    return ToLevelDb(status);
  }
  leveldb::Status RemoveDir(const std::string& dir) override {
    return ToLevelDb(files_->RemoveDir(dir));
  }
  leveldb::Status GetFileSize(const std::string& path, uint64_t* bytes) override {
    Result<uint64_t> size = files_->GetFileSize(path);
    if (!size) return ToLevelDb(size.error());
    *bytes = *size;
    return leveldb::Status::OK();
  }
  leveldb::Status RenameFile(const std::string& from, const std::string& to) override {
    const Status status = files_->RenameFile(from, to);
    if (status.ok()) KeepNames(to);
    return ToLevelDb(status);
  }
  leveldb::Status LockFile(const std::string& path, leveldb::FileLock** made) override {
    return Make<Lock>(files_->LockFile(path), made);
  }
  leveldb::Status UnlockFile(leveldb::FileLock* lock) override {
    delete lock;  // made by LockFile
    return leveldb::Status::OK();
  }
  leveldb::Status NewLogger(const std::string&, leveldb::Logger** made) override {
    *made = nullptr;
    return leveldb::Status::NotSupported("no log");
  }

 private:
  // LevelDB trusts the file system to keep the names it makes. Ours for tests does not.
  void KeepNames(const std::string& path) {
    const Status ignored = files_->SyncDir(std::filesystem::path(path).parent_path().string());
  }
  static FileUse UseOf(const std::string& path) {
    if (path.find("MANIFEST") != std::string::npos) return FileUse::kManifest;
    return path.ends_with(".log") ? FileUse::kLog : FileUse::kTable;
  }
  static std::string FolderToSync(const std::string& path) {
    return UseOf(path) == FileUse::kManifest ? std::filesystem::path(path).parent_path().string()
                                             : "";
  }
  // LevelDB frees what is made.
  template <typename Adaptor, typename File, typename Base, typename... More>
  static leveldb::Status Make(Result<std::unique_ptr<File>> file, Base** made, More... more) {
    *made = nullptr;
    if (!file) return ToLevelDb(file.error());
    *made = new Adaptor(std::move(*file), more...);  // freed by LevelDB
    return leveldb::Status::OK();
  }

  FileSystem* const files_;
};

}  // namespace

std::unique_ptr<leveldb::Env> NewLevelDbEnv(FileSystem* files) {
  return std::make_unique<EnvOverFiles>(files);
}

Status FromLevelDb(const leveldb::Status& status) {
  if (status.ok()) return Status::Ok();
  if (status.IsNotFound()) return Status(Code::kNotFound, status.ToString());
  if (status.IsCorruption()) return Status(Code::kCorruption, status.ToString());
  if (status.IsInvalidArgument()) return Status(Code::kInvalidArgument, status.ToString());
  if (status.IsNotSupportedError()) return Status(Code::kUnsupported, status.ToString());
  return Status(Code::kIoError, status.ToString());
}

leveldb::Status ToLevelDb(const Status& status) {
  if (status.ok()) return leveldb::Status::OK();
  const std::string message(status.message());
  if (status.code() == Code::kNotFound) return leveldb::Status::NotFound(message);
  if (status.code() == Code::kCorruption) return leveldb::Status::Corruption(message);
  return leveldb::Status::IOError(message);
}

}  // namespace weft::durable
