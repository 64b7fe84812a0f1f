#include "base/posix_readers.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "base/posix_fd.h"

namespace weft::base {

namespace {

class PosixSequentialFile final : public SequentialFile {
 public:
  PosixSequentialFile(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Status Read(size_t bytes, std::string_view* result, char* scratch) override {
    *result = {};
    Result<size_t> got = ReadUpTo(fd_, path_, scratch, bytes);
    if (!got) return got.error();
    *result = {scratch, *got};
    return Status::Ok();
  }

  Status Skip(uint64_t bytes) override {
    if (::lseek(fd_.get(), static_cast<off_t>(bytes), SEEK_CUR) < 0) {
      return PosixError("seek", path_, errno);
    }
    return Status::Ok();
  }

 private:
  const Fd fd_;
  const std::string path_;
};

// What all mapped files of the process hold. Relaxed: only the sums matter, they order nothing.
std::atomic<int64_t> g_mapped_files{0};
std::atomic<int64_t> g_mapped_bytes{0};

// Takes a file of `bytes` into the sums; false, and nothing taken, where that is too much.
bool TakeMappingRoom(int64_t bytes, int64_t files_max) {
  const int64_t files = g_mapped_files.fetch_add(1, std::memory_order_relaxed) + 1;
  const int64_t sum = g_mapped_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (files <= files_max && sum <= kMappedBytesMax) return true;
  g_mapped_files.fetch_sub(1, std::memory_order_relaxed);
  g_mapped_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

void GiveMappingRoom(int64_t bytes) {
  g_mapped_files.fetch_sub(1, std::memory_order_relaxed);
  g_mapped_bytes.fetch_sub(bytes, std::memory_order_relaxed);
}

class MappedFile final : public RandomAccessFile {
 public:
  // REQUIRES: `data` is a mapping of `bytes`, taken into the sums
  MappedFile(const char* data, size_t bytes) : data_(data), bytes_(bytes) {}
  ~MappedFile() override {
    ::munmap(const_cast<char*>(data_), bytes_);
    GiveMappingRoom(static_cast<int64_t>(bytes_));
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  Status Read(uint64_t offset, size_t bytes, std::string_view* result, char*) const override {
    if (offset >= bytes_) {
      *result = {};
    } else {
      *result = {data_ + offset, std::min<size_t>(bytes, bytes_ - offset)};
    }
    return Status::Ok();
  }

  void WillNeed(uint64_t offset, size_t bytes) const override {
    if (offset >= bytes_) return;
    constexpr uint64_t kPageBytes = 4096;  // the least page of all: other sizes ignore the hint
    const uint64_t start = offset / kPageBytes * kPageBytes;
    const uint64_t end = std::min<uint64_t>(offset + bytes, bytes_);
    ::madvise(const_cast<char*>(data_) + start, end - start, MADV_WILLNEED);
  }

  // Also spares the system to note every page as one that was used when the mapping goes.
  void ReadsInOrder() const override {
    ::madvise(const_cast<char*>(data_), bytes_, MADV_SEQUENTIAL);
  }

  std::string_view Mapped() const override { return {data_, bytes_}; }

 private:
  const char* const data_;
  const size_t bytes_;
};

class PreadFile final : public RandomAccessFile {
 public:
  PreadFile(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Status Read(uint64_t offset, size_t bytes, std::string_view* result,
              char* scratch) const override {
    *result = {};
    Result<size_t> got = ReadUpToAt(fd_, path_, offset, scratch, bytes);
    if (!got) return got.error();
    *result = {scratch, *got};
    return Status::Ok();
  }

  void WillNeed(uint64_t offset, size_t bytes) const override {
    ::posix_fadvise(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(bytes),
                    POSIX_FADV_WILLNEED);
  }

  void ReadsInOrder() const override { ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_SEQUENTIAL); }

 private:
  const Fd fd_;
  const std::string path_;
};

}  // namespace

Result<std::unique_ptr<SequentialFile>> OpenPosixSequentialFile(const std::string& path) {
  // A device may have no end.
  Result<Fd> fd = OpenToRead(path, true);
  if (!fd) return fd.error();
  ::posix_fadvise(fd->get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  return std::unique_ptr<SequentialFile>(new PosixSequentialFile(std::move(*fd), path));
}

Result<std::unique_ptr<RandomAccessFile>> OpenPosixRandomAccessFile(const std::string& path,
                                                                    int64_t mapped_files_max) {
  Result<Fd> fd = OpenToRead(path, true);
  if (!fd) return fd.error();
  Result<uint64_t> bytes = SizeOfFd(*fd, path);
  if (!bytes) return bytes.error();
  // There is no mapping of nothing: an empty file is read, not mapped.
  if (*bytes > 0 && TakeMappingRoom(static_cast<int64_t>(*bytes), mapped_files_max)) {
    void* data = ::mmap(nullptr, *bytes, PROT_READ, MAP_SHARED, fd->get(), 0);
    if (data != MAP_FAILED) {
      return std::unique_ptr<RandomAccessFile>(
          new MappedFile(static_cast<const char*>(data), *bytes));
    }
    GiveMappingRoom(static_cast<int64_t>(*bytes));
  }
  return std::unique_ptr<RandomAccessFile>(new PreadFile(std::move(*fd), path));
}

}  // namespace weft::base
