#include "base/posix_log.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/ascending_copy.h"
#include "base/posix_writers.h"

namespace weft::base {

namespace {

constexpr size_t kPlainBufferBytes = 64 << 10;
constexpr int64_t kXfsMagic = 0x58465342;  // "XFSB": the kernel's header lacks it on older systems

uint64_t RoundDown(uint64_t value, uint64_t unit) { return value / unit * unit; }

// Stores what becomes visible last. For whole heads this is one store, which a process either has
// done or not when it is killed; what it stored before is in place by then.
void Publish(char* to, const char* head, size_t bytes) {
  std::atomic_signal_fence(std::memory_order_release);  // pairs with the end of the process
  if (bytes == sizeof(uint64_t)) {
    std::memcpy(to, head, sizeof(uint64_t));
  } else {
    std::memcpy(to, head, bytes);
  }
  std::atomic_signal_fence(std::memory_order_release);
}

}  // namespace

size_t LogWindowBytesMax(const Fd& fd) {
  struct statfs about;
  if (::fstatfs(fd.get(), &about) != 0) return 0;
  switch (static_cast<int64_t>(about.f_type)) {
    case EXT4_SUPER_MAGIC:
    case kXfsMagic: return kLogWindowBytesMax;
    case TMPFS_MAGIC: return kLogWindowBytesMin;
    default: return 0;
  }
}

MappedLogFile::MappedLogFile(Fd fd, std::string path, uint64_t end, size_t window_bytes_max,
                             uint64_t span_bytes)
    : fd_(std::move(fd)),
      synced_fd_(fd_.get()),
      path_(std::move(path)),
      window_bytes_max_(window_bytes_max),
      first_span_bytes_(span_bytes),
      end_(end),
      window_end_(end) {
  (void)MapSpan(RoundDown(end, kLogWindowBytesMin));  // or when the first window is made
}

MappedLogFile::~MappedLogFile() {
  if (fd_.valid() || plain_ != nullptr) CloseUntold(this);
}

void MappedLogFile::Unmap() {
  for (const Span& span : spans_) ::munmap(span.data, span.end - span.start);
  spans_.clear();
}

bool MappedLogFile::MapSpan(uint64_t start) {
  const uint64_t bytes =
      spans_.empty() ? first_span_bytes_ : 2 * (spans_.back().end - spans_.back().start);
  spans_.reserve(spans_.size() + 1);
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(),
                      static_cast<off_t>(start));
  if (data == MAP_FAILED) return false;
  spans_.push_back({static_cast<char*>(data), start, start + bytes});
  return true;
}

// REQUIRES: end_ == window_end_
bool MappedLogFile::MakeNextWindow() {
  const uint64_t start = RoundDown(end_, kLogWindowBytesMin);
  if ((spans_.empty() || spans_.back().end <= start) && !MapSpan(start)) return false;
  const uint64_t end = std::min(start + window_bytes_next_, spans_.back().end);
  // Asking for more than the process may have would be answered by a signal.
  rlimit limit;
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || end > limit.rlim_cur) return false;
  int result;
  do {
    result = ::fallocate(fd_.get(), 0, static_cast<off_t>(start), static_cast<off_t>(end - start));
  } while (result != 0 && errno == EINTR);
  if (result != 0) return false;
  window_end_ = end;
  window_bytes_next_ = std::min(2 * window_bytes_next_, window_bytes_max_);
  return true;
}

// Goes on with plain writes behind what was appended, without the zeros.
Status MappedLogFile::FallBack() {
  Unmap();
  if (TruncateFd(fd_, end_) != 0 && errno != EINVAL) {
    failed_ = PosixError("truncate", path_, errno);
    return failed_;
  }
  // Devices have no place to stand at, and refuse; they take bytes where they are.
  if (::lseek(fd_.get(), static_cast<off_t>(end_), SEEK_SET) < 0 && errno != ESPIPE) {
    failed_ = PosixError("seek", path_, errno);
    return failed_;
  }
  plain_ = std::make_unique<BufferedWritableFile>(std::move(fd_), path_, kPlainBufferBytes);
  return Status::Ok();
}

void MappedLogFile::PublishHead() {
  if (run_head_bytes_ == 0) return;
  Publish(At(run_start_), head_, run_head_bytes_);
  run_head_bytes_ = 0;
}

// Copies data that fits in the block that end_ is in, and so in the window. No run goes past a
// block.
void MappedLogFile::CopyIn(std::string_view data) {
  if (run_head_bytes_ == 0) run_start_ = end_;
  const size_t at = end_ - run_start_;
  if (at < kHeadBytes) {
    const size_t to_head = std::min(kHeadBytes - at, data.size());
    std::memcpy(head_ + at, data.data(), to_head);
    run_head_bytes_ = at + to_head;
    end_ += to_head;
    data.remove_prefix(to_head);
  }
  CopyAscending(At(end_), data.data(), data.size());
  end_ += data.size();
  if (end_ % kLogBlockBytes == 0) PublishHead();
}

Status MappedLogFile::Append(std::string_view data) {
  while (plain_ == nullptr && !data.empty()) {
    if (!failed_.ok()) return failed_;
    if (end_ == window_end_ && !MakeNextWindow()) {
      Status status = FallBack();
      if (!status.ok()) return status;
      break;
    }
    // Windows end at ends of blocks.
    const size_t fits = std::min<size_t>(data.size(), kLogBlockBytes - end_ % kLogBlockBytes);
    CopyIn(data.substr(0, fits));
    data.remove_prefix(fits);
  }
  return plain_ != nullptr ? plain_->Append(data) : failed_;
}

Status MappedLogFile::Flush() {
  if (plain_ != nullptr) return plain_->Flush();
  PublishHead();
  return failed_;
}

Status MappedLogFile::Sync() {
  if (plain_ != nullptr) return plain_->Sync();
  PublishHead();
  if (failed_.ok()) failed_ = SyncFd(fd_, path_);
  return failed_;
}

// What was flushed lies in the page cache, whether it came there by a window or a write. An error
// is the caller's to remember: another sync may succeed without what this one lost.
Status MappedLogFile::SyncFlushed() { return SyncFd(synced_fd_, path_); }

Status MappedLogFile::Close() {
  if (plain_ != nullptr) return plain_->Close();
  if (!fd_.valid()) return failed_;
  PublishHead();
  Unmap();
  Status status = failed_;
  if (TruncateFd(fd_, end_) != 0 && status.ok()) {
    status = PosixError("truncate", path_, errno);
  }
  Status closed = fd_.Close(path_);
  if (status.ok()) status = std::move(closed);
  failed_ = Status(Code::kIoError, "use of " + path_ + " after it was closed");
  return status;
}

}  // namespace weft::base
