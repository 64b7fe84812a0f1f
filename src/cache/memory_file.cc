#include "cache/memory_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/crc32c.h"
#include "base/patience.h"
#include "cache/restart_meta.h"

namespace weft::cache {
namespace {

constexpr char kMagic[8] = {'w', 'e', 'f', 't', 'm', 'e', 'm', '\n'};
constexpr uint64_t kLogAt = kHugePageBytes;  // of the log's first byte in the file
constexpr uint64_t kTableBytesMax = uint64_t{1} << 32;

struct Header {
  char magic[sizeof kMagic];
  uint32_t layout;
  uint32_t unused;
  uint64_t stop_id;  // 0: a server has it, or had it and did not stop cleanly
  uint32_t crc;      // of what is before
  uint32_t padding;
};
static_assert(sizeof(Header) == 32, "docs/formats/memory-file.md");

uint32_t SumOf(const Header& header) {
  return base::Crc32c(reinterpret_cast<const char*>(&header), offsetof(Header, crc));
}

// False: errno says why; 0: the file ends before.
bool ReadAll(int fd, char* to, size_t bytes, uint64_t offset) {
  while (bytes != 0) {
    const ssize_t got = pread(fd, to, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = 0;
    if (got <= 0) return false;
    to += got;
    bytes -= static_cast<size_t>(got);
    offset += static_cast<uint64_t>(got);
  }
  return true;
}

bool WriteAll(int fd, const char* from, size_t bytes, uint64_t offset) {
  while (bytes != 0) {
    const ssize_t put = pwrite(fd, from, bytes, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    from += put;
    bytes -= static_cast<size_t>(put);
    offset += static_cast<uint64_t>(put);
  }
  return true;
}

// A file of this user's, which nobody else can have put there for us.
bool IsOurs(int fd) {
  struct stat about = {};
  return fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid();
}

}  // namespace

struct MemoryFile::Held {
  explicit Held(int fd_) : fd(fd_) {}
  ~Held() {
    if (mapping != nullptr) munmap(mapping, mapping_bytes);
    close(fd);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  const int fd;
  void* mapping = nullptr;
  size_t mapping_bytes = 0;
};

MemoryFile::MemoryFile(const MemoryFileOptions& options)
    : path_(options.path), bytes_(options.bytes), on_disk_(options.on_disk) {}

MemoryFile::~MemoryFile() = default;

Status MemoryFile::Failed(const char* what, const std::string& path) const {
  return Status::FromErrno(std::string(what) + " " + path, errno);
}

Result<std::unique_ptr<MemoryFile>> MemoryFile::Open(const MemoryFileOptions& options) {
  // The constructor is private so that no such file exists unlocked; owned at once.
  auto file = std::unique_ptr<MemoryFile>(new MemoryFile(options));
  constexpr int kFlags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  int fd = open(options.path.c_str(), kFlags);
  const bool is_new = fd < 0 && errno == ENOENT;
  if (is_new) fd = open(options.path.c_str(), kFlags | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  if (fd < 0) return file->Failed("open", options.path);
  file->held_ = std::make_shared<Held>(fd);
  // A server that was killed just now may still have its lock.
  bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
  for (base::Patience patience; !locked && errno == EWOULDBLOCK && patience.Wait();)
    locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
  if (!locked && errno == EWOULDBLOCK)
    return Status(Code::kRetryLater, "another server uses " + options.path);
  if (!locked) return file->Failed("lock", options.path);
  Status status = file->CheckWhose();
  if (status.ok()) status = file->CheckWhere();
  if (status.ok()) status = file->ReadHeader();
  if (status.ok()) status = file->CheckRoom();
  if (status.ok()) return file;
  if (is_new) unlink(options.path.c_str());
  return status;
}

Status MemoryFile::CheckWhose() const {
  struct stat about = {};
  if (fstat(held_->fd, &about) != 0) return Failed("look at", path_);
  if (!S_ISREG(about.st_mode))
    return {Code::kInvalidArgument, path_ + " exists and is not a regular file"};
  // Whoever owns it, or has another name for it, could change items.
  if (about.st_uid != geteuid())
    return {Code::kInvalidArgument, path_ + " belongs to another user"};
  if (about.st_nlink != 1) return {Code::kInvalidArgument, path_ + " has more than one name"};
  if (fchmod(held_->fd, S_IRUSR | S_IWUSR) != 0) return Failed("change the mode of", path_);
  return {};
}

Status MemoryFile::CheckWhere() {
  struct statfs system = {};
  if (fstatfs(held_->fd, &system) != 0) return Failed("look at the file system of", path_);
  syncs_ = system.f_type != TMPFS_MAGIC;
  if (on_disk_ || !syncs_) return {};
  struct statx about = {};
  if (statx(held_->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &about) == 0 &&
      (about.stx_attributes & STATX_ATTR_DAX) != 0)
    return {};
  return {Code::kUnsupported, path_ +
                                  " does not lie in memory (tmpfs, as /dev/shm is, or DAX): the "
                                  "disk would be written all the time; --memory-file-on-disk "
                                  "allows it"};
}

Status MemoryFile::CheckRoom() const {
  struct statvfs system = {};
  struct stat about = {};
  if (fstatvfs(held_->fd, &system) != 0 || fstat(held_->fd, &about) != 0)
    return Failed("look at the file system of", path_);
  if (system.f_blocks == 0) return {};  // without a limit
  const uint64_t free_bytes = uint64_t{system.f_bavail} * system.f_frsize;
  const uint64_t has_bytes = static_cast<uint64_t>(about.st_blocks) * 512;
  if (free_bytes + has_bytes >= bytes_) return {};
  return {Code::kNoMemory, "the file system of " + path_ + " has room for " +
                               std::to_string((free_bytes + has_bytes) >> 20) + " MiB only"};
}

Status MemoryFile::ReadHeader() {
  struct stat about = {};
  if (fstat(held_->fd, &about) != 0) return Failed("look at", path_);
  file_bytes_ = static_cast<uint64_t>(about.st_size);
  if (file_bytes_ == 0) return {};
  Header header = {};
  const bool is_read = ReadAll(held_->fd, reinterpret_cast<char*>(&header), sizeof header, 0);
  if (!is_read && errno != 0) return Failed("read", path_);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return {Code::kInvalidArgument,
            path_ + " is no memory file of weft's; remove it if nobody needs it"};
  if (is_read && header.layout == kRestartLayout && header.crc == SumOf(header))
    stop_id_ = header.stop_id;
  return {};
}

// On a disk, or in memory that outlives power, the file must be what its header says, whenever the
// power goes.
Status MemoryFile::WriteHeader(uint64_t stop_id) {
  if (syncs_ && fsync(held_->fd) != 0) return Failed("sync", path_);
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.layout = kRestartLayout;
  header.stop_id = stop_id;
  header.crc = SumOf(header);
  if (!WriteAll(held_->fd, reinterpret_cast<const char*>(&header), sizeof header, 0))
    return Failed("write", path_);
  if (syncs_ && fsync(held_->fd) != 0) return Failed("sync", path_);
  return {};
}

Result<Pages> MemoryFile::Reserve(size_t bytes, bool huge) {
  const uint64_t end = kLogAt + bytes;
  fits_ = file_bytes_ >= end;
  table_at_ = end;
  if (!fits_) {
    if (Status status = WriteHeader(0); !status.ok()) return status;
    stop_id_ = 0;
    if (ftruncate(held_->fd, static_cast<off_t>(end)) != 0) return Failed("lengthen", path_);
  }
  const size_t mapping_bytes = bytes + kHugePageBytes;
  // Addresses first, so that the file's can be aligned within them.
  void* const mapping =
      mmap(nullptr, mapping_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return Failed("reserve addresses for", path_);
  held_->mapping = mapping;
  held_->mapping_bytes = mapping_bytes;
  const uintptr_t start = reinterpret_cast<uintptr_t>(mapping);
  const uintptr_t aligned = (start + kHugePageBytes - 1) & ~(kHugePageBytes - 1);
  void* const data =
      mmap(reinterpret_cast<void*>(aligned), bytes, PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_FIXED | MAP_NORESERVE, held_->fd, static_cast<off_t>(kLogAt));
  if (data == MAP_FAILED) return Failed("map", path_);
  madvise(data, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return Pages(static_cast<uint8_t*>(data), bytes, held_, held_->fd, kLogAt);
}

Status MemoryFile::Clear() {
  stop_id_ = 0;
  // Before the length: a file without a header must be empty, or it is taken for somebody else's.
  if (ftruncate(held_->fd, 0) != 0) return Failed("empty", path_);
  if (Status status = WriteHeader(0); !status.ok()) return status;
  if (ftruncate(held_->fd, static_cast<off_t>(table_at_)) != 0) return Failed("lengthen", path_);
  return {};
}

Status MemoryFile::WriteTable(std::string_view table) {
  if (ftruncate(held_->fd, static_cast<off_t>(table_at_ + table.size())) != 0)
    return Failed("lengthen", path_);
  if (!WriteAll(held_->fd, table.data(), table.size(), table_at_)) return Failed("write", path_);
  return {};
}

Result<std::string> MemoryFile::ReadTable(uint64_t bytes) const {
  if (bytes > kTableBytesMax || file_bytes_ < table_at_ + bytes)
    return Status(Code::kCorruption, "its table of segments is cut short");
  std::string table(bytes, '\0');
  if (!ReadAll(held_->fd, table.data(), table.size(), table_at_)) return Failed("read", path_);
  return table;
}

Status MemoryFile::SyncFolder() const {
  if (!syncs_) return {};
  const size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Failed("open", folder);
  const bool synced = fsync(fd) == 0;
  const Status status = synced ? Status() : Failed("sync", folder);
  close(fd);
  return status;
}

Result<std::optional<std::string>> MemoryFile::TakeMeta() {
  const std::string path = path_ + ".meta";
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return std::optional<std::string>();
  if (fd < 0) return Failed("open", path);
  const bool is_ours = IsOurs(fd);
  std::string text(kRestartMetaBytesMax, '\0');
  const bool is_long = ReadAll(fd, text.data(), text.size(), 0);
  const int error = is_long ? 0 : errno;
  close(fd);
  // Also what can't be read or belongs to others: it must not be there when this process ends.
  if (unlink(path.c_str()) != 0) return Failed("delete", path);
  if (Status status = SyncFolder(); !status.ok()) return status;
  if (!is_ours) return Status(Code::kInvalidArgument, path + " belongs to another user");
  if (error != 0) return Status::FromErrno("read " + path, error);
  text.resize(is_long ? text.size() : std::strlen(text.c_str()));
  return std::optional<std::string>(std::move(text));
}

Status MemoryFile::WriteMeta(std::string_view text) {
  const std::string path = path_ + ".meta";
  const std::string partial = path + ".tmp";
  unlink(partial.c_str());  // of a server that was killed
  const int fd = open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return Failed("open", partial);
  Status status;
  if (!WriteAll(fd, text.data(), text.size(), 0)) status = Failed("write", partial);
  if (status.ok() && fsync(fd) != 0) status = Failed("sync", partial);
  if (close(fd) != 0 && status.ok()) status = Failed("close", partial);
  if (status.ok() && rename(partial.c_str(), path.c_str()) != 0) status = Failed("rename", partial);
  if (!status.ok()) {
    unlink(partial.c_str());
    return status;
  }
  return SyncFolder();
}

}  // namespace weft::cache
