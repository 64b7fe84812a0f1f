// base/posix_writers.h: the system's files, written at their end.
//
// Threads   one at a time, except for SyncFlushed.
// Errors    as weft/file_system.h says. A file that failed once stays failed and repeats its error:
//           nobody knows how much of its end is in place, and a later sync that succeeds would
//           promise bytes that the system may have thrown away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/posix_fd.h"
#include "weft/file_system.h"

namespace weft::base {

// Collects small appends in a buffer and hands larger ones on as they are.
class BufferedWritableFile final : public WritableFile {
 public:
  // REQUIRES: `fd` stands where the next byte goes
  BufferedWritableFile(Fd fd, std::string path, size_t buffer_bytes);
  ~BufferedWritableFile() override;
  BufferedWritableFile(const BufferedWritableFile&) = delete;
  BufferedWritableFile& operator=(const BufferedWritableFile&) = delete;

  Status Append(std::string_view data) override;
  Status Flush() override;
  Status Sync() override;
  Status SyncFlushed() override { return SyncFd(fd_, path_); }
  Status Close() override;

 private:
  Fd fd_;
  const std::string path_;
  const size_t buffer_bytes_;
  size_t buffered_ = 0;
  std::unique_ptr<char[]> buffer_;
  Status failed_;
};

// Closes a file whose owner is gone: nobody is left to learn how that went, even where there is no
// memory for the message.
void CloseUntold(WritableFile* file);

// Opens `path` to be written; `flags` are O_TRUNC (an empty file) or O_APPEND (behind its end).
Result<std::unique_ptr<WritableFile>> OpenPosixWritableFile(const std::string& path, FileUse use,
                                                            int flags);

}  // namespace weft::base
