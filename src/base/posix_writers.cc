#include "base/posix_writers.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/posix_log.h"

namespace weft::base {

namespace {

// Few calls for a table's bytes; logs, manifests and other small files are flushed often anyway.
size_t BufferBytesFor(FileUse use) { return use == FileUse::kTable ? 512 << 10 : 64 << 10; }

Result<std::unique_ptr<WritableFile>> OpenLog(const std::string& path, int flags) {
  // A mapping to write to needs the right to read, and nobody else's idea of where the end is.
  Result<Fd> fd = OpenToWrite(path, O_RDWR | O_CREAT | (flags & ~O_APPEND));
  if (!fd) return fd.error();
  Result<uint64_t> bytes = SizeOfFd(*fd, path);
  if (!bytes) return bytes.error();
  if (const size_t window_bytes_max = LogWindowBytesMax(*fd); window_bytes_max > 0) {
    return std::unique_ptr<WritableFile>(
        new MappedLogFile(std::move(*fd), path, *bytes, window_bytes_max));
  }
  if (::lseek(fd->get(), 0, SEEK_END) < 0 && errno != ESPIPE)
    return PosixError("seek", path, errno);
  return std::unique_ptr<WritableFile>(
      new BufferedWritableFile(std::move(*fd), path, BufferBytesFor(FileUse::kLog)));
}

// From here on the copy into the buffer costs more than the call that it would save.
constexpr size_t kDirectBytes = 64 << 10;

}  // namespace

BufferedWritableFile::BufferedWritableFile(Fd fd, std::string path, size_t buffer_bytes)
    : fd_(std::move(fd)),
      path_(std::move(path)),
      buffer_bytes_(buffer_bytes),
      buffer_(new char[buffer_bytes]) {}  // freed by buffer_; not zeroed as make_unique would

void CloseUntold(WritableFile* file) {
  try {
    (void)file->Close();
  } catch (const std::bad_alloc&) {  // for the text of an error, behind the close itself
  }
}

BufferedWritableFile::~BufferedWritableFile() {
  if (fd_.valid()) CloseUntold(this);
}

Status BufferedWritableFile::Append(std::string_view data) {
  if (!failed_.ok()) return failed_;
  if (data.size() >= kDirectBytes) {
    Status status = Flush();
    if (!status.ok()) return status;
    failed_ = WriteAll(fd_, path_, data);
    return failed_;
  }
  const size_t fits = std::min(data.size(), buffer_bytes_ - buffered_);
  std::memcpy(buffer_.get() + buffered_, data.data(), fits);
  buffered_ += fits;
  data.remove_prefix(fits);
  if (data.empty()) return Status::Ok();

  Status status = Flush();
  if (!status.ok()) return status;
  std::memcpy(buffer_.get(), data.data(), data.size());
  buffered_ = data.size();
  return Status::Ok();
}

Status BufferedWritableFile::Flush() {
  if (!failed_.ok() || buffered_ == 0) return failed_;
  failed_ = WriteAll(fd_, path_, {buffer_.get(), buffered_});
  buffered_ = 0;
  return failed_;
}

Status BufferedWritableFile::Sync() {
  Status status = Flush();
  if (!status.ok()) return status;
  failed_ = SyncFd(fd_, path_);
  return failed_;
}

Status BufferedWritableFile::Close() {
  Status status = Flush();
  Status closed = fd_.Close(path_);
  if (status.ok()) status = std::move(closed);
  failed_ = Status(Code::kIoError, "use of " + path_ + " after it was closed");
  return status;
}

Result<std::unique_ptr<WritableFile>> OpenPosixWritableFile(const std::string& path, FileUse use,
                                                            int flags) {
  if (use == FileUse::kLog) return OpenLog(path, flags);
  Result<Fd> fd = OpenToWrite(path, O_WRONLY | O_CREAT | flags);
  if (!fd) return fd.error();
  return std::unique_ptr<WritableFile>(
      new BufferedWritableFile(std::move(*fd), path, BufferBytesFor(use)));
}

}  // namespace weft::base
