#include "env_files.h"

#include <algorithm>

#include "base/mutex.h"
#include "base/read_on.h"
#include "convert.h"
#include "file_names.h"

namespace weft::compat {

namespace {

class OwnedSequentialFile final : public SequentialFile {
 public:
  explicit OwnedSequentialFile(leveldb::SequentialFile* file) : file_(file) {}
  Status Read(size_t bytes, std::string_view* result, char* scratch) override {
    return base::ReadOnBy(bytes, bytes, result, scratch,
                          [this](size_t, size_t left, std::string_view* piece, char* to) {
                            leveldb::Slice slice;
                            const leveldb::Status status = file_->Read(left, &slice, to);
                            *piece = View(slice);
                            return FromLevelDb(status);
                          });
  }
  Status Skip(uint64_t bytes) override { return FromLevelDb(file_->Skip(bytes)); }

 private:
  const std::unique_ptr<leveldb::SequentialFile> file_;
};

class OwnedRandomAccessFile final : public RandomAccessFile {
 public:
  explicit OwnedRandomAccessFile(leveldb::RandomAccessFile* file) : file_(file), reader_(file) {}
  Status Read(uint64_t offset, size_t bytes, std::string_view* result,
              char* scratch) const override {
    return reader_.Read(offset, bytes, result, scratch);
  }

 private:
  const std::unique_ptr<leveldb::RandomAccessFile> file_;
  const BorrowedRandomAccessFile reader_;
};

// A program's file may be used by one thread at a time, and has one Sync: appends wait for it.
class OwnedWritableFile final : public WritableFile {
 public:
  explicit OwnedWritableFile(leveldb::WritableFile* file) : file_(file), writer_(file) {}
  Status Append(std::string_view data) override {
    base::MutexLock lock(&mutex_);
    return writer_.Append(data);
  }
  Status Flush() override {
    base::MutexLock lock(&mutex_);
    return writer_.Flush();
  }
  Status Sync() override {
    base::MutexLock lock(&mutex_);
    return writer_.Sync();
  }
  Status Close() override {
    base::MutexLock lock(&mutex_);
    return writer_.Close();
  }

 private:
  const std::unique_ptr<leveldb::WritableFile> file_;
  base::Mutex mutex_;
  BorrowedWritableFile writer_ WEFT_GUARDED_BY(mutex_);
};

class EnvFileLock final : public FileLock {
 public:
  EnvFileLock(leveldb::Env* env, leveldb::FileLock* lock) : env_(env), lock_(lock) {}
  ~EnvFileLock() override { env_->UnlockFile(lock_); }  // nobody is left to be told of an error

 private:
  leveldb::Env* const env_;
  leveldb::FileLock* const lock_;
};

}  // namespace

Status BorrowedRandomAccessFile::Read(uint64_t offset, size_t bytes, std::string_view* result,
                                      char* scratch) const {
  return base::ReadOnBy(bytes, bytes, result, scratch,
                        [&](size_t done, size_t left, std::string_view* piece, char* to) {
                          leveldb::Slice slice;
                          const leveldb::Status status =
                              file_->Read(offset + done, left, &slice, to);
                          *piece = View(slice);
                          return FromLevelDb(status);
                        });
}

Status BorrowedWritableFile::Append(std::string_view data) {
  return FromLevelDb(file_->Append(ToSlice(data)));
}
Status BorrowedWritableFile::Flush() { return FromLevelDb(file_->Flush()); }
Status BorrowedWritableFile::Sync() { return FromLevelDb(file_->Sync()); }
Status BorrowedWritableFile::Close() { return FromLevelDb(file_->Close()); }

Status EnvFileSystem::ErrorOf(const leveldb::Status& status, const std::string& path) {
  Status error = FromLevelDb(status);
  if (error.code() != Code::kIoError || env_->FileExists(path)) return error;
  return {Code::kNotFound, std::string(error.message())};
}

Result<std::unique_ptr<SequentialFile>> EnvFileSystem::NewSequentialFile(const std::string& path) {
  leveldb::SequentialFile* file = nullptr;
  const leveldb::Status status = env_->NewSequentialFile(path, &file);
  if (!status.ok()) return ErrorOf(status, path);
  return std::unique_ptr<SequentialFile>(new OwnedSequentialFile(file));
}

Result<std::unique_ptr<RandomAccessFile>> EnvFileSystem::NewRandomAccessFile(
    const std::string& path) {
  leveldb::RandomAccessFile* file = nullptr;
  const leveldb::Status status = env_->NewRandomAccessFile(path, &file);
  if (!status.ok()) return ErrorOf(status, path);
  return std::unique_ptr<RandomAccessFile>(new OwnedRandomAccessFile(file));
}

Result<std::unique_ptr<WritableFile>> EnvFileSystem::NewWritableFile(const std::string& path,
                                                                     FileUse) {
  leveldb::WritableFile* file = nullptr;
  const leveldb::Status status = env_->NewWritableFile(path, &file);
  if (!status.ok()) return FromLevelDb(status);
  return std::unique_ptr<WritableFile>(new OwnedWritableFile(file));
}

Result<std::unique_ptr<WritableFile>> EnvFileSystem::NewAppendableFile(const std::string& path,
                                                                       FileUse) {
  leveldb::WritableFile* file = nullptr;
  const leveldb::Status status = env_->NewAppendableFile(path, &file);
  if (!status.ok()) return FromLevelDb(status);
  return std::unique_ptr<WritableFile>(new OwnedWritableFile(file));
}

bool EnvFileSystem::FileExists(const std::string& path) { return env_->FileExists(path); }

Status EnvFileSystem::GetChildren(const std::string& dir, std::vector<std::string>* names) {
  names->clear();
  return FromLevelDb(env_->GetChildren(dir, names));
}

Status EnvFileSystem::RemoveFile(const std::string& path) {
  const leveldb::Status status = env_->RemoveFile(path);
  return status.ok() ? Status::Ok() : ErrorOf(status, path);
}

Status EnvFileSystem::CreateDir(const std::string& dir) {
  const leveldb::Status status = env_->CreateDir(dir);
  // Ours is content with a folder that is there.
  if (status.ok() || env_->FileExists(dir)) return Status::Ok();
  return FromLevelDb(status);
}

Status EnvFileSystem::RemoveDir(const std::string& dir) {
  return FromLevelDb(env_->RemoveDir(dir));
}

Result<uint64_t> EnvFileSystem::GetFileSize(const std::string& path) {
  uint64_t bytes = 0;
  const leveldb::Status status = env_->GetFileSize(path, &bytes);
  if (!status.ok()) return ErrorOf(status, path);
  return bytes;
}

Status EnvFileSystem::RenameFile(const std::string& from, const std::string& to) {
  const leveldb::Status status = env_->RenameFile(from, to);
  return status.ok() ? Status::Ok() : ErrorOf(status, from);
}

Status EnvFileSystem::LinkFile(const std::string& from, const std::string&) {
  return {Code::kUnsupported, "link " + from + ": leveldb::Env has no such call"};
}

Status EnvFileSystem::ReadPrefix(const std::string& path, uint64_t bytes, std::string* data) {
  Result<std::unique_ptr<SequentialFile>> file = NewSequentialFile(path);
  if (!file) return file.error();
  constexpr size_t kPieceBytes = 64 << 10;
  const auto room = std::make_unique_for_overwrite<char[]>(kPieceBytes);
  while (data->size() < bytes) {
    std::string_view piece;
    const size_t wanted = std::min<uint64_t>(kPieceBytes, bytes - data->size());
    Status status = (*file)->Read(wanted, &piece, room.get());
    if (!status.ok()) return status;
    if (piece.empty()) return {Code::kIoError, "truncate " + path + ": it is shorter than that"};
    data->append(piece);
  }
  return Status::Ok();
}

Status EnvFileSystem::Truncate(const std::string& path, uint64_t bytes) {
  std::string data;
  Status status = ReadPrefix(path, bytes, &data);
  if (!status.ok()) return status;
  // By way of another file: a crash meanwhile must not lose what is to stay.
  const std::string temporary = TemporaryBeside(path);
  auto file = NewWritableFile(temporary, FileUse::kOther);
  if (!file) return file.error();
  status = (*file)->Append(data);
  if (status.ok()) status = (*file)->Sync();
  if (status.ok()) status = (*file)->Close();
  if (status.ok()) status = RenameFile(temporary, path);
  if (!status.ok()) (void)RemoveFile(temporary);  // the first error counts
  return status;
}

Status EnvFileSystem::SyncDir(const std::string&) { return Status::Ok(); }

Result<std::unique_ptr<FileLock>> EnvFileSystem::LockFile(const std::string& path) {
  leveldb::FileLock* lock = nullptr;
  const leveldb::Status status = env_->LockFile(path, &lock);
  if (!status.ok()) return FromLevelDb(status);
  return std::unique_ptr<FileLock>(new EnvFileLock(env_, lock));
}

}  // namespace weft::compat
