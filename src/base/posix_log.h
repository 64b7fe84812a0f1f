// base/posix_log.h: a log that survives kill -9 without a system call for each record.
//
// The file is extended ahead by a window of allocated zeros, and an append is a copy into the page
// cache, through a mapping. The mapping spans many windows and stays until the file is closed:
// changes of the process's mappings wait for those of other threads, some for milliseconds. So the
// file ends in zeros while it is open, and after a crash; readers of LevelDB's log format take
// zeros for the end. Close cuts them off. Where the file system cannot allocate ahead, or no longer
// can, the file uses plain writes from then on.
//
// Layout    windows end at multiples of kLogWindowBytesMin, so that what is appended behind the
//           zeros of a crash begins a new block of the log format.
// Atomic    a process that ends at any instruction leaves a prefix of what was appended. A run of
//           bytes up to a Flush or a block's end becomes visible by its first 8 bytes, which are
//           stored last. They hold a record's header, so half a record still reads as zeros.
// Threads   one at a time, except for SyncFlushed: it looks at nothing that an append changes.
// Errors    as weft/file_system.h says; a full disk is an error of Append or Flush, never a signal:
//           only allocated blocks are touched. A file that failed once stays failed.
// Cost      an append: one copy, and a page fault for each page; a window: two system calls; a
//           span: one more. Each span is twice as long as the one before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/posix_fd.h"
#include "weft/file_system.h"

namespace weft::base {

inline constexpr size_t kLogBlockBytes = 32768;  // of LevelDB's log format
inline constexpr size_t kLogWindowBytesMin = 128 << 10;
inline constexpr size_t kLogWindowBytesMax = 4 << 20;
inline constexpr size_t kLogSpanBytes = 32 << 20;  // the first mapping's; windows lie within one

class MappedLogFile final : public WritableFile {
 public:
  // Appends at `end`, which is the size of the file. Windows grow up to `window_bytes_max`. Maps
  // the first span here, so that no append pays for it if the log is made ahead of need.
  // REQUIRES: fd is open to read and write; window_bytes_max is LogWindowBytesMax's, not 0;
  // span_bytes is a multiple of kLogWindowBytesMin, not 0
  MappedLogFile(Fd fd, std::string path, uint64_t end, size_t window_bytes_max,
                uint64_t span_bytes = kLogSpanBytes);
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

  // A mapped part of the file, allocated or not.
  struct Span {
    char* data;
    uint64_t start;
    uint64_t end;
  };

  bool MakeNextWindow();
  bool MapSpan(uint64_t start);
  void Unmap();
  // REQUIRES: offset lies in the span of the current window
  char* At(uint64_t offset) const { return spans_.back().data + (offset - spans_.back().start); }
  void CopyIn(std::string_view data);
  void PublishHead();
  Status FallBack();

  Fd fd_;
  const int synced_fd_;  // the same file, whoever owns it: for SyncFlushed
  const std::string path_;
  const size_t window_bytes_max_;
  const uint64_t first_span_bytes_;
  uint64_t end_;             // where the appended bytes end
  std::vector<Span> spans_;  // in order; the last has the current window
  uint64_t window_end_;      // allocated and mapped up to here; end_ where there is no window
  size_t window_bytes_next_ = kLogWindowBytesMin;
  // The run that is not visible yet: it starts at run_start_, with the first run_head_bytes_ of
  // head_.
  uint64_t run_start_ = 0;
  size_t run_head_bytes_ = 0;
  char head_[kHeadBytes] = {};
  // Takes over once no window can be had any more.
  std::unique_ptr<WritableFile> plain_;
  Status failed_;
};

// How long a window may be. 0: on this file system, a page written through a mapping may find no
// block to go to; other file systems write in place what was allocated. Disks take long windows as
// fast as short ones, but a file system in memory takes page after page, while an append waits.
size_t LogWindowBytesMax(const Fd& fd);

}  // namespace weft::base
