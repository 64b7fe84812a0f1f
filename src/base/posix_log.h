// base/posix_log.h: a log that survives kill -9 without a system call for each record.
//
// The file is extended ahead by a window of allocated zeros, which is mapped; an append is a copy
// into the page cache. So the file ends in zeros while it is open, and after a crash; readers of
// LevelDB's log format take zeros for the end. Close cuts them off. It starts in, and goes back for
// good to, plain writes where the file system cannot allocate ahead, or no longer can.
//
// Layout    windows end at multiples of kLogWindowBytesMin, so that what is appended behind the
//           zeros of a crash begins a new block of the log format.
// Atomic    a process that ends at any instruction leaves a prefix of what was appended: a run of
//           bytes up to a Flush or a block's end becomes visible, with its first 8 bytes, last. A
//           record's header is in these, so that half a record still reads as zeros.
// Threads   one at a time, but for SyncFlushed: it looks at nothing that an append changes.
// Errors    as weft/file_system.h says; a full disk is an error of Append or Flush, never a signal:
//           only allocated blocks are touched. A file that failed once stays failed.
// Cost      an append: one copy, and a page fault for each page; a window: four system calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/posix_fd.h"
#include "weft/file_system.h"

namespace weft::base {

inline constexpr size_t kLogBlockBytes = 32768;  // of LevelDB's log format
inline constexpr size_t kLogWindowBytesMin = 128 << 10;
inline constexpr size_t kLogWindowBytesMax = 4 << 20;

class MappedLogFile final : public WritableFile {
 public:
  // Appends at `end`, which is the size of the file. Windows grow up to `window_bytes_max`.
  // REQUIRES: fd is open to read and write; window_bytes_max is LogWindowBytesMax's, not 0
  MappedLogFile(Fd fd, std::string path, uint64_t end, size_t window_bytes_max);
  ~MappedLogFile() override;
  MappedLogFile(const MappedLogFile&) = delete;
  MappedLogFile& operator=(const MappedLogFile&) = delete;

  Status Append(std::string_view data) override;
  Status Flush() override;
  Status Sync() override;
  Status SyncFlushed() override;
  Status Close() override;

 private:
  // Bytes held back at the start of a run. One store makes them visible.
  static constexpr size_t kHeadBytes = 8;

  bool MapNextWindow();
  void Unmap();
  void CopyIn(std::string_view data);
  void PublishHead();
  Status FallBack();

  Fd fd_;
  const int synced_fd_;  // the same file, whoever owns it: SyncFlushed's
  const std::string path_;
  const size_t window_bytes_max_;
  uint64_t end_;  // of what was appended
  // The window: [window_start_, window_end_) of the file lies at window_; null: none.
  char* window_ = nullptr;
  uint64_t window_start_ = 0;
  uint64_t window_end_ = 0;
  size_t window_bytes_next_ = kLogWindowBytesMin;
  // The run that is not visible yet: it starts at run_start_, with the first run_head_bytes_ of
  // head_.
  uint64_t run_start_ = 0;
  size_t run_head_bytes_ = 0;
  char head_[kHeadBytes] = {};
  // Takes over where no window can be had any more.
  std::unique_ptr<WritableFile> plain_;
  Status failed_;
};

// How long a window may be. 0: files of this file system can't be written through a mapping without
// the danger that a page has no block to go to; others write in place what was allocated. Disks
// take long windows as fast as short ones, but a file system in memory takes page after page, while
// an append waits.
size_t LogWindowBytesMax(const Fd& fd);

}  // namespace weft::base
