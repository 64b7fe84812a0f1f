#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/lock_holder.h"
#include "base/posix_direct.h"
#include "base/posix_fd.h"
#include "base/posix_readers.h"
#include "base/posix_writers.h"
#include "base/read_around.h"
#include "weft/file_system.h"

namespace weft {

namespace {

using base::Fd;
using base::OpenFd;
using base::PosixError;

Status StatusOf(int result, std::string_view call, const std::string& path) {
  return result == 0 ? Status::Ok() : PosixError(call, path, errno);
}

// Closing the descriptor ends the lock.
class PosixFileLock final : public FileLock {
 public:
  explicit PosixFileLock(Fd fd) : fd_(std::move(fd)) {}

 private:
  const Fd fd_;
};

// `direct`: what Direct gives; null: it is that itself.
class SystemFiles final : public FileSystem {
 public:
  explicit SystemFiles(FileSystem* direct, int64_t mapped_files_max = base::kMappedFilesMax)
      : direct_(direct), mapped_files_max_(mapped_files_max) {}

  Result<std::unique_ptr<SequentialFile>> NewSequentialFile(const std::string& path) override {
    return base::OpenPosixSequentialFile(path);
  }

  Result<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(const std::string& path) override {
    return direct_ == nullptr ? base::OpenDirectRandomAccessFile(path)
                              : base::OpenPosixRandomAccessFile(path, mapped_files_max_);
  }

  Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path,
                                                        FileUse use) override {
    if (direct_ == nullptr && use == FileUse::kTable)
      return base::OpenDirectWritableFile(path, use);
    return base::OpenPosixWritableFile(path, use, O_TRUNC);
  }

  Result<std::unique_ptr<WritableFile>> NewAppendableFile(const std::string& path,
                                                          FileUse use) override {
    return base::OpenPosixWritableFile(path, use, O_APPEND);
  }

  bool FileExists(const std::string& path) override { return ::access(path.c_str(), F_OK) == 0; }

  Status GetChildren(const std::string& dir, std::vector<std::string>* names) override {
    names->clear();
    DIR* entries = ::opendir(dir.c_str());
    if (entries == nullptr) return PosixError("list the folder", dir, errno);
    errno = 0;  // the only way to tell the end from an error
    while (const dirent* entry = ::readdir(entries)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names->emplace_back(name);
      errno = 0;
    }
    const int error_number = errno;
    ::closedir(entries);
    return error_number == 0 ? Status::Ok() : PosixError("list the folder", dir, error_number);
  }

  Status RemoveFile(const std::string& path) override {
    return StatusOf(::unlink(path.c_str()), "remove", path);
  }

  Status CreateDir(const std::string& dir) override {
    if (::mkdir(dir.c_str(), 0755) == 0) return Status::Ok();
    const int error_number = errno;
    struct stat about;
    if (error_number == EEXIST && ::stat(dir.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) {
      return Status::Ok();
    }
    return PosixError("make the folder", dir, error_number);
  }

  Status RemoveDir(const std::string& dir) override {
    return StatusOf(::rmdir(dir.c_str()), "remove the folder", dir);
  }

  Result<uint64_t> GetFileSize(const std::string& path) override {
    struct stat about;
    if (::stat(path.c_str(), &about) != 0) return PosixError("look at", path, errno);
    return static_cast<uint64_t>(about.st_size);
  }

  Status RenameFile(const std::string& from, const std::string& to) override {
    return StatusOf(std::rename(from.c_str(), to.c_str()), "rename to " + to + " from", from);
  }

  // Of what a symbolic link names: a second name of the link itself would depend on that name.
  Status LinkFile(const std::string& from, const std::string& to) override {
    constexpr int kFlags = AT_SYMLINK_FOLLOW;
    if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), kFlags) == 0) return Status::Ok();
    const int error_number = errno;
    Status status = PosixError("link as " + to, from, error_number);
    if (error_number == EXDEV || error_number == EPERM || error_number == EOPNOTSUPP ||
        error_number == ENOSYS || error_number == EMLINK) {
      return {Code::kUnsupported, std::string(status.message())};
    }
    return status;
  }

  Status Truncate(const std::string& path, uint64_t bytes) override {
    int result;
    do {
      result = ::truncate(path.c_str(), static_cast<off_t>(bytes));
    } while (result != 0 && errno == EINTR);
    return StatusOf(result, "truncate", path);
  }

  Status SyncDir(const std::string& dir) override {
    Result<Fd> fd = OpenFd(dir, O_RDONLY | O_DIRECTORY);
    if (!fd) return fd.error();
    int result;
    do {
      result = ::fsync(fd->get());
    } while (result != 0 && errno == EINTR);
    return StatusOf(result, "sync the folder", dir);
  }

  // A lock of the open file description: unlike the older locks of a process, a second open of the
  // file in this process meets it, whatever name it used, and closing another descriptor of the
  // file does not end it. It meets LevelDB's lock, which is of the older kind.
  Result<std::unique_ptr<FileLock>> LockFile(const std::string& path) override {
    Result<Fd> fd = OpenFd(path, O_RDWR | O_CREAT);
    if (!fd) return fd.error();
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (::fcntl(fd->get(), F_OFD_SETLK, &whole) == 0) {
      return std::unique_ptr<FileLock>(new PosixFileLock(std::move(*fd)));
    }
    if (errno != EAGAIN && errno != EACCES) return PosixError("lock", path, errno);
    return base::LockedByAnother(path, fd->get());
  }

  FileSystem* Direct() override { return direct_ == nullptr ? this : direct_; }

 private:
  FileSystem* const direct_;  // null: this is it
  const int64_t mapped_files_max_;
};

}  // namespace

FileSystem* PosixFileSystem() {
  // Never freed, both: threads may outlive main.
  static FileSystem* const files = new SystemFiles(new SystemFiles(nullptr));
  return files;
}

FileSystem* base::WithoutMappings(FileSystem* files) {
  // Never freed either.
  static FileSystem* const unmapped = new SystemFiles(PosixFileSystem()->Direct(), 0);
  return files == PosixFileSystem() ? unmapped : files;
}

}  // namespace weft
