#include "leveldb/env.h"

#include <memory>

#include "leveldb/slice.h"

namespace leveldb {

Env::Env() = default;
Env::~Env() = default;
SequentialFile::~SequentialFile() = default;
RandomAccessFile::~RandomAccessFile() = default;
WritableFile::~WritableFile() = default;
Logger::~Logger() = default;
FileLock::~FileLock() = default;
EnvWrapper::~EnvWrapper() = default;

Status Env::NewAppendableFile(const std::string& fname, WritableFile** result) {
  *result = nullptr;
  return Status::NotSupported("NewAppendableFile", fname);
}

Status Env::RemoveFile(const std::string& fname) { return DeleteFile(fname); }
Status Env::DeleteFile(const std::string& fname) { return RemoveFile(fname); }
Status Env::RemoveDir(const std::string& dirname) { return DeleteDir(dirname); }
Status Env::DeleteDir(const std::string& dirname) { return RemoveDir(dirname); }

Status EnvWrapper::NewSequentialFile(const std::string& f, SequentialFile** r) {
  return target_->NewSequentialFile(f, r);
}
Status EnvWrapper::NewRandomAccessFile(const std::string& f, RandomAccessFile** r) {
  return target_->NewRandomAccessFile(f, r);
}
Status EnvWrapper::NewWritableFile(const std::string& f, WritableFile** r) {
  return target_->NewWritableFile(f, r);
}
Status EnvWrapper::NewAppendableFile(const std::string& f, WritableFile** r) {
  return target_->NewAppendableFile(f, r);
}
bool EnvWrapper::FileExists(const std::string& f) { return target_->FileExists(f); }
Status EnvWrapper::GetChildren(const std::string& dir, std::vector<std::string>* r) {
  return target_->GetChildren(dir, r);
}
Status EnvWrapper::RemoveFile(const std::string& f) { return target_->RemoveFile(f); }
Status EnvWrapper::CreateDir(const std::string& d) { return target_->CreateDir(d); }
Status EnvWrapper::RemoveDir(const std::string& d) { return target_->RemoveDir(d); }
Status EnvWrapper::GetFileSize(const std::string& f, uint64_t* s) {
  return target_->GetFileSize(f, s);
}
Status EnvWrapper::RenameFile(const std::string& s, const std::string& t) {
  return target_->RenameFile(s, t);
}
Status EnvWrapper::LockFile(const std::string& f, FileLock** l) { return target_->LockFile(f, l); }
Status EnvWrapper::UnlockFile(FileLock* l) { return target_->UnlockFile(l); }
void EnvWrapper::Schedule(void (*f)(void*), void* a) { target_->Schedule(f, a); }
void EnvWrapper::StartThread(void (*f)(void*), void* a) { target_->StartThread(f, a); }
Status EnvWrapper::GetTestDirectory(std::string* path) { return target_->GetTestDirectory(path); }
Status EnvWrapper::NewLogger(const std::string& fname, Logger** result) {
  return target_->NewLogger(fname, result);
}
uint64_t EnvWrapper::NowMicros() { return target_->NowMicros(); }
void EnvWrapper::SleepForMicroseconds(int micros) { target_->SleepForMicroseconds(micros); }

void Log(Logger* info_log, const char* format, ...) {
  if (info_log == nullptr) return;
  std::va_list arguments;
  va_start(arguments, format);
  info_log->Logv(format, arguments);
  va_end(arguments);
}

Status WriteStringToFile(Env* env, const Slice& data, const std::string& fname) {
  WritableFile* made;
  Status status = env->NewWritableFile(fname, &made);
  if (!status.ok()) return status;
  std::unique_ptr<WritableFile> file(made);
  status = file->Append(data);
  if (status.ok()) status = file->Close();
  file.reset();
  if (!status.ok()) env->RemoveFile(fname);  // no half file is left; the first error counts
  return status;
}

Status ReadFileToString(Env* env, const std::string& fname, std::string* data) {
  data->clear();
  SequentialFile* made;
  Status status = env->NewSequentialFile(fname, &made);
  if (!status.ok()) return status;
  const std::unique_ptr<SequentialFile> file(made);
  constexpr size_t kPieceBytes = 64 << 10;
  const auto room = std::make_unique_for_overwrite<char[]>(kPieceBytes);
  for (;;) {
    Slice piece;
    status = file->Read(kPieceBytes, &piece, room.get());
    if (!status.ok() || piece.empty()) return status;
    data->append(piece.data(), piece.size());
  }
}

}  // namespace leveldb
