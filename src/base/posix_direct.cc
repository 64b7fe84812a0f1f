#include "base/posix_direct.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/posix_fd.h"
#include "base/posix_readers.h"
#include "base/posix_writers.h"

namespace weft::base {

namespace {

// Of each call; what the disk takes at once, or more.
constexpr size_t kBufferBytes = size_t{1} << 20;

// Less is collected in the buffer, whose pages are there.
constexpr size_t kFromThereBytes = size_t{64} << 10;

constexpr uint64_t Down(uint64_t bytes) { return bytes / kDirectAlign * kDirectAlign; }
constexpr uint64_t Up(uint64_t bytes) { return Down(bytes + kDirectAlign - 1); }

struct FreeAligned {
  void operator()(char* at) const { ::operator delete (at, std::align_val_t{kDirectAlign}); }
};
using AlignedBuffer = std::unique_ptr<char, FreeAligned>;

AlignedBuffer NewBuffer() {
  return AlignedBuffer(
      static_cast<char*>(::operator new (kBufferBytes, std::align_val_t{kDirectAlign})));
}

// Whether the file takes what kDirectAlign promises, as far as the system says.
bool TakesOurAlignment(const Fd& fd) {
#ifdef STATX_DIOALIGN
  struct statx about;
  if (::statx(fd.get(), "", AT_EMPTY_PATH, STATX_DIOALIGN, &about) == 0 &&
      (about.stx_mask & STATX_DIOALIGN) != 0) {
    return about.stx_dio_offset_align != 0 && kDirectAlign % about.stx_dio_offset_align == 0 &&
           kDirectAlign % about.stx_dio_mem_align == 0;
  }
#endif
  return (void)fd, true;
}

// Sets the descriptor to direct I/O. False: the file system has none, or one of another kind.
Result<bool> SetDirect(const Fd& fd, const std::string& path) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0) return PosixError("set up direct I/O for", path, errno);
  if (!TakesOurAlignment(fd)) return false;
  if (::fcntl(fd.get(), F_SETFL, flags | O_DIRECT) == 0) return true;
  if (errno == EINVAL) return false;
  return PosixError("set up direct I/O for", path, errno);
}

// Up to `bytes`, fewer only at the end of the file. REQUIRES: all three are multiples of
// kDirectAlign
Result<size_t> ReadDirect(const Fd& fd, const std::string& path, uint64_t offset, char* to,
                          size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t count =
        ::pread(fd.get(), to + done, bytes - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return PosixError("read", path, errno);
    const size_t end = done + static_cast<size_t>(count);
    if (count == 0 || end == bytes) return end;
    if (Down(end) == end) {
      done = end;
      continue;
    }
    // Within a block: at the file's end, or a read that was broken off.
    Result<uint64_t> file_bytes = SizeOfFd(fd, path);
    if (!file_bytes) return file_bytes.error();
    if (offset + end >= *file_bytes) return end;
    if (Down(end) == done) return Status(Code::kIoError, "read " + path + ": it ends early");
    done = Down(end);
  }
  return done;
}

class DirectReader final : public RandomAccessFile {
 public:
  DirectReader(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Status Read(uint64_t offset, size_t bytes, std::string_view* result,
              char* scratch) const override {
    *result = {};
    const auto address = reinterpret_cast<uintptr_t>(scratch);
    if (((offset | bytes | address) & (kDirectAlign - 1)) == 0) {
      Result<size_t> got = ReadDirect(fd_, path_, offset, scratch, bytes);
      if (!got) return got.error();
      *result = {scratch, *got};
      return Status::Ok();
    }
    static thread_local const AlignedBuffer buffer = NewBuffer();
    size_t done = 0;
    while (done < bytes) {
      const uint64_t start = Down(offset + done);
      const size_t before = offset + done - start;
      const size_t wanted = std::min<uint64_t>(Up(before + bytes - done), kBufferBytes);
      Result<size_t> got = ReadDirect(fd_, path_, start, buffer.get(), wanted);
      if (!got) return got.error();
      if (*got <= before) break;  // the end
      const size_t count = std::min(*got - before, bytes - done);
      std::memcpy(scratch + done, buffer.get() + before, count);
      done += count;
      if (*got < wanted) break;
    }
    *result = {scratch, done};
    return Status::Ok();
  }

  size_t ReadAlignment() const override { return kDirectAlign; }
  int DirectDescriptor() const override { return fd_.get(); }

 private:
  const Fd fd_;
  const std::string path_;
};

class DirectWriter final : public WritableFile {
 public:
  DirectWriter(Fd fd, std::string path)
      : fd_(std::move(fd)), path_(std::move(path)), buffer_(NewBuffer()) {}
  ~DirectWriter() override {
    if (fd_.valid()) CloseUntold(this);
  }
  DirectWriter(const DirectWriter&) = delete;
  DirectWriter& operator=(const DirectWriter&) = delete;

  Status Append(std::string_view data) override {
    const size_t fills = Up(buffered_) - buffered_;  // the block that was begun
    const bool is_aligned = (Address(data) + fills) % kDirectAlign == 0;
    if (is_aligned && data.size() >= fills + kFromThereBytes) {
      std::memcpy(buffer_.get() + buffered_, data.data(), fills);
      buffered_ += fills;
      WriteWhole();
      data.remove_prefix(fills);
      const size_t whole = Down(data.size());
      WriteFrom(data.data(), whole);
      written_ += whole;
      data.remove_prefix(whole);
    }
    while (failed_.ok() && !data.empty()) {
      const size_t count = std::min(data.size(), kBufferBytes - buffered_);
      std::memcpy(buffer_.get() + buffered_, data.data(), count);
      buffered_ += count;
      data.remove_prefix(count);
      if (buffered_ == kBufferBytes) WriteWhole();
    }
    return failed_;
  }

  Result<DirectPlace> DirectEnd() override {
    WriteWhole();
    if (!failed_.ok()) return failed_;
    if (buffered_ != 0) return Status(Code::kUnsupported, "the file ends in the middle of a block");
    return DirectPlace{fd_.get(), written_};
  }
  void AppendedDirect(uint64_t bytes) override {
    WEFT_DCHECK(buffered_ == 0 && bytes % kDirectAlign == 0);
    written_ += bytes;
  }

  // What is left of a block stays in the buffer, and is written again with what comes behind it.
  Status Flush() override {
    WriteWhole();
    if (!failed_.ok() || buffered_ == flushed_) return failed_;
    std::memset(buffer_.get() + buffered_, 0, kDirectAlign - buffered_);
    WriteFrom(buffer_.get(), kDirectAlign);
    if (failed_.ok() && TruncateFd(fd_, written_ + buffered_) != 0)
      failed_ = PosixError("truncate", path_, errno);
    if (failed_.ok()) flushed_ = buffered_;
    return failed_;
  }

  Status Sync() override {
    Status status = Flush();
    if (!status.ok()) return status;
    failed_ = SyncFd(fd_, path_);
    return failed_;
  }

  Status Close() override {
    Status status = Flush();
    Status closed = fd_.Close(path_);
    if (status.ok()) status = std::move(closed);
    failed_ = Status(Code::kIoError, "use of " + path_ + " after it was closed");
    return status;
  }

 private:
  static uintptr_t Address(std::string_view data) {
    return reinterpret_cast<uintptr_t>(data.data());
  }

  // To the place of the buffer.
  void WriteFrom(const char* from, size_t bytes) {
    for (size_t done = 0; failed_.ok() && done < bytes;) {
      const ssize_t count =
          ::pwrite(fd_.get(), from + done, bytes - done, static_cast<off_t>(written_ + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        failed_ = PosixError("write", path_, errno);
      } else if (count == 0 || count % kDirectAlign != 0) {
        // The disk is nearly full, or the like: the rest can't be written from here.
        failed_ = Status(Code::kIoError, "write " + path_ + ": only a part of a block was written");
      } else {
        done += static_cast<size_t>(count);
      }
    }
  }

  // All whole blocks.
  void WriteWhole() {
    const size_t whole = Down(buffered_);
    if (whole == 0 || !failed_.ok()) return;
    WriteFrom(buffer_.get(), whole);
    std::memmove(buffer_.get(), buffer_.get() + whole, buffered_ - whole);
    written_ += whole;
    buffered_ -= whole;
    flushed_ = 0;
  }

  Fd fd_;
  const std::string path_;
  const AlignedBuffer buffer_;
  uint64_t written_ = 0;  // whole blocks; the buffer is what follows them
  size_t buffered_ = 0;
  size_t flushed_ = 0;  // of these, those in the file as well
  Status failed_;
};

}  // namespace

Result<std::unique_ptr<RandomAccessFile>> OpenDirectRandomAccessFile(const std::string& path) {
  Result<Fd> fd = OpenToRead(path, true);
  if (!fd) return fd.error();
  Result<bool> is_direct = SetDirect(*fd, path);
  if (!is_direct) return is_direct.error();
  if (!*is_direct) return OpenPosixRandomAccessFile(path);
  return std::unique_ptr<RandomAccessFile>(new DirectReader(std::move(*fd), path));
}

Result<std::unique_ptr<WritableFile>> OpenDirectWritableFile(const std::string& path, FileUse use) {
  Result<Fd> fd = OpenToWrite(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!fd) return fd.error();
  Result<bool> is_direct = SetDirect(*fd, path);
  if (!is_direct) return is_direct.error();
  if (!*is_direct) return OpenPosixWritableFile(path, use, O_TRUNC);
  return std::unique_ptr<WritableFile>(new DirectWriter(std::move(*fd), path));
}

}  // namespace weft::base
