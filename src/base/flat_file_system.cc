#include "base/flat_file_system.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::base {

namespace {

Status NoFile(const std::string& path) { return {Code::kNotFound, path + ": no such file"}; }

}  // namespace

class FlatFileSystem::Content {
 public:
  Content(FlatFileSystem* files, uint64_t bytes_max)
      : files_(*files), bytes_max_(bytes_max), room_(files->TakeRoom(bytes_max)) {}
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;
  ~Content() { files_.GiveRoom(room_, bytes_max_); }

  uint64_t bytes_max() const { return bytes_max_; }

  std::string_view bytes() const { return {room_, size_.load(std::memory_order_acquire)}; }
  char* room() { return room_; }
  void CutTo(uint64_t bytes) { size_.store(bytes, std::memory_order_release); }

 private:
  FlatFileSystem& files_;
  const uint64_t bytes_max_;
  char* const room_;
  std::atomic<uint64_t> size_{0};  // what readers see
};

class FlatFileSystem::Reader final : public RandomAccessFile {
 public:
  explicit Reader(ContentPtr content) : content_(std::move(content)), bytes_(content_->bytes()) {}

  Status Read(uint64_t offset, size_t bytes, std::string_view* result, char*) const override {
    *result = bytes_.substr(std::min<uint64_t>(offset, bytes_.size()), bytes);
    return Status::Ok();
  }
  std::string_view Mapped() const override { return bytes_; }

 private:
  const ContentPtr content_;
  const std::string_view bytes_;  // that were there when it was opened
};

class FlatFileSystem::ReaderInOrder final : public SequentialFile {
 public:
  explicit ReaderInOrder(ContentPtr content) : content_(std::move(content)) {}

  Status Read(size_t bytes, std::string_view* result, char*) override {
    const std::string_view all = content_->bytes();
    *result = all.substr(std::min<uint64_t>(at_, all.size()), bytes);
    at_ += result->size();
    return Status::Ok();
  }
  Status Skip(uint64_t bytes) override {
    const uint64_t left =
        content_->bytes().size() - std::min<uint64_t>(at_, content_->bytes().size());
    at_ += std::min(bytes, left);
    return Status::Ok();
  }

 private:
  const ContentPtr content_;
  uint64_t at_ = 0;
};

// What was appended is seen when it is flushed.
class FlatFileSystem::Writer final : public WritableFile {
 public:
  Writer(ContentPtr content, std::string path)
      : content_(std::move(content)), path_(std::move(path)), end_(content_->bytes().size()) {}
  ~Writer() override { (void)Flush(); }

  Status Append(std::string_view data) override {
    Result<char*> room = Extend(data.size());
    if (!room) return room.error();
    if (!data.empty()) std::memcpy(*room, data.data(), data.size());
    return Status::Ok();
  }
  Result<char*> Extend(uint64_t bytes) override {
    if (bytes > content_->bytes_max() - end_) {
      return Status(Code::kIoError, path_ + ": the file has room for " +
                                        std::to_string(content_->bytes_max()) + " bytes");
    }
    end_ += bytes;
    return content_->room() + (end_ - bytes);
  }
  Status Flush() override {
    content_->CutTo(end_);
    return Status::Ok();
  }
  Status Sync() override { return Flush(); }
  Status Close() override { return Flush(); }

 private:
  const ContentPtr content_;
  const std::string path_;
  uint64_t end_;
};

class FlatFileSystem::Lock final : public FileLock {
 public:
  Lock(FlatFileSystem* files, std::string path) : files_(*files), path_(std::move(path)) {}
  ~Lock() override {
    MutexLock lock(&files_.mutex_);
    files_.locks_.erase(path_);
  }

 private:
  FlatFileSystem& files_;
  const std::string path_;
};

FlatFileSystem::FlatFileSystem(BufferMemory* memory, uint64_t file_bytes_max)
    : memory_(memory), file_bytes_max_(file_bytes_max) {}

FlatFileSystem::~FlatFileSystem() {
  std::map<std::string, ContentPtr> files;
  {
    MutexLock lock(&mutex_);
    files.swap(files_);
  }
  files.clear();  // gives their rooms
  MutexLock lock(&mutex_);
  for (char* const room : rooms_) FreeRoom(room, file_bytes_max_);
}

char* FlatFileSystem::TakeRoom(uint64_t bytes) {
  if (bytes == file_bytes_max_) {
    MutexLock lock(&mutex_);
    if (!rooms_.empty()) {
      char* const room = rooms_.back();
      rooms_.pop_back();
      return room;
    }
  }
  // Freed by FreeRoom.
  return memory_ == nullptr ? new char[bytes] : memory_->Allocate(bytes);
}

void FlatFileSystem::GiveRoom(char* room, uint64_t bytes) {
  if (bytes != file_bytes_max_) return FreeRoom(room, bytes);
  MutexLock lock(&mutex_);
  rooms_.push_back(room);
}

void FlatFileSystem::FreeRoom(char* room, uint64_t bytes) {
  if (memory_ != nullptr) return memory_->Free(room, bytes);
  delete[] room;
}

FlatFileSystem::ContentPtr FlatFileSystem::Replace(const std::string& path, uint64_t bytes_max) {
  auto content = std::make_shared<Content>(this, bytes_max);
  ContentPtr old;  // goes without the mutex
  MutexLock lock(&mutex_);
  old = std::exchange(files_[path], content);
  return content;
}

char* FlatFileSystem::NewFile(const std::string& path, uint64_t bytes) {
  const ContentPtr content = Replace(path, bytes);
  content->CutTo(bytes);
  return content->room();
}

Result<FlatFileSystem::ContentPtr> FlatFileSystem::Find(const std::string& path) {
  MutexLock lock(&mutex_);
  const auto found = files_.find(path);
  if (found == files_.end()) return NoFile(path);
  return ContentPtr(found->second);
}

Result<std::unique_ptr<SequentialFile>> FlatFileSystem::NewSequentialFile(const std::string& path) {
  Result<ContentPtr> content = Find(path);
  if (!content) return content.error();
  return std::unique_ptr<SequentialFile>(std::make_unique<ReaderInOrder>(std::move(*content)));
}

Result<std::unique_ptr<RandomAccessFile>> FlatFileSystem::NewRandomAccessFile(
    const std::string& path) {
  Result<ContentPtr> content = Find(path);
  if (!content) return content.error();
  return std::unique_ptr<RandomAccessFile>(std::make_unique<Reader>(std::move(*content)));
}

Result<std::unique_ptr<WritableFile>> FlatFileSystem::NewWritableFile(const std::string& path,
                                                                      FileUse) {
  return std::unique_ptr<WritableFile>(
      std::make_unique<Writer>(Replace(path, file_bytes_max_), path));
}

Result<std::unique_ptr<WritableFile>> FlatFileSystem::NewAppendableFile(const std::string& path,
                                                                        FileUse use) {
  Result<ContentPtr> content = Find(path);
  if (!content) return NewWritableFile(path, use);
  return std::unique_ptr<WritableFile>(std::make_unique<Writer>(std::move(*content), path));
}

bool FlatFileSystem::FileExists(const std::string& path) { return Find(path).has_value(); }

Status FlatFileSystem::GetChildren(const std::string& dir, std::vector<std::string>* names) {
  const std::string start = dir.ends_with('/') ? dir : dir + '/';
  std::set<std::string> found;
  MutexLock lock(&mutex_);
  const auto add = [&](const std::string& path) {
    if (path.size() <= start.size() || !path.starts_with(start)) return;
    found.insert(path.substr(start.size(), path.find('/', start.size()) - start.size()));
  };
  for (const auto& [path, content] : files_) add(path);
  for (const std::string& path : dirs_) add(path);
  if (found.empty() && !dirs_.contains(dir)) return NoFile(dir);
  names->assign(found.begin(), found.end());
  return Status::Ok();
}

Status FlatFileSystem::RemoveFile(const std::string& path) {
  ContentPtr old;  // goes without the mutex
  MutexLock lock(&mutex_);
  const auto found = files_.find(path);
  if (found == files_.end()) return NoFile(path);
  old = std::move(found->second);
  files_.erase(found);
  return Status::Ok();
}

Status FlatFileSystem::CreateDir(const std::string& dir) {
  MutexLock lock(&mutex_);
  if (files_.contains(dir)) return {Code::kIoError, dir + ": a file of that name exists"};
  dirs_.insert(dir);
  return Status::Ok();
}

Status FlatFileSystem::RemoveDir(const std::string& dir) {
  MutexLock lock(&mutex_);
  const auto next = files_.lower_bound(dir + '/');
  if (next != files_.end() && next->first.starts_with(dir + '/'))
    return {Code::kIoError, dir + ": the folder is not empty"};
  return dirs_.erase(dir) != 0 ? Status::Ok() : NoFile(dir);
}

Result<uint64_t> FlatFileSystem::GetFileSize(const std::string& path) {
  Result<ContentPtr> content = Find(path);
  if (!content) return content.error();
  return uint64_t{(*content)->bytes().size()};
}

Status FlatFileSystem::RenameFile(const std::string& from, const std::string& to) {
  ContentPtr old;  // goes without the mutex
  MutexLock lock(&mutex_);
  const auto found = files_.find(from);
  if (found == files_.end()) return NoFile(from);
  if (from == to) return Status::Ok();
  ContentPtr content = std::move(found->second);
  files_.erase(found);
  old = std::exchange(files_[to], std::move(content));
  return Status::Ok();
}

Status FlatFileSystem::LinkFile(const std::string& from, const std::string& to) {
  MutexLock lock(&mutex_);
  const auto found = files_.find(from);
  if (found == files_.end()) return NoFile(from);
  if (!files_.emplace(to, found->second).second)
    return {Code::kIoError, to + ": a file of that name exists"};
  return Status::Ok();
}

Status FlatFileSystem::Truncate(const std::string& path, uint64_t bytes) {
  Result<ContentPtr> content = Find(path);
  if (!content) return content.error();
  if (bytes > (*content)->bytes().size())
    return {Code::kIoError, path + ": the file is shorter than the new size"};
  (*content)->CutTo(bytes);
  return Status::Ok();
}

Status FlatFileSystem::SyncDir(const std::string&) { return Status::Ok(); }

Result<std::unique_ptr<FileLock>> FlatFileSystem::LockFile(const std::string& path) {
  {
    MutexLock lock(&mutex_);
    if (!locks_.insert(path).second) return Status(Code::kRetryLater, path + ": is locked");
  }
  auto lock = std::make_unique<Lock>(this, path);
  if (!FileExists(path)) (void)NewWritableFile(path, FileUse::kOther);
  return std::unique_ptr<FileLock>(std::move(lock));
}

}  // namespace weft::base
