#include "cache/pages.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <string>

namespace weft::cache {
namespace {

class System final : public PageSource {
 public:
  Result<Pages> Reserve(size_t bytes, bool huge) override {
    const size_t mapping_bytes = bytes + kHugePageBytes;
    void* mapping = mmap(nullptr, mapping_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
      return Status(Code::kNoMemory, "reserve " + std::to_string(bytes) +
                                         " bytes of address space: " +
                                         std::string(Status::FromErrno("mmap", errno).message()));
    }
    std::shared_ptr<void> owner(mapping, [mapping_bytes](void* at) { munmap(at, mapping_bytes); });
    const uintptr_t start = reinterpret_cast<uintptr_t>(mapping);
    const uintptr_t aligned = (start + kHugePageBytes - 1) & ~(kHugePageBytes - 1);
    uint8_t* data = reinterpret_cast<uint8_t*>(aligned);
    // Advice only: a system without huge pages refuses it and nothing is lost but speed.
    madvise(data, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return Pages(data, bytes, std::move(owner), true);
  }
};

}  // namespace

PageSource* SystemPages() {
  static System system;
  return &system;
}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(owner_, other.owner_);
  std::swap(given_back_, other.given_back_);
  std::swap(fd_, other.fd_);
  std::swap(file_offset_, other.file_offset_);
  return *this;
}

void Pages::AskForHuge(size_t offset, size_t bytes, bool huge) {
  if (given_back_ && bytes != 0)
    madvise(data_ + offset, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

bool Pages::Back(size_t offset, size_t bytes) {
  if (fd_ < 0) return true;
  int result = 0;
  do {
    result = fallocate(fd_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(file_offset_ + offset),
                       static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

// To be read: that maps many pages at a time, and of a file in memory they can be written, too.
bool Pages::Populate(size_t offset, size_t bytes) {
  if (fd_ < 0) return true;
  while (madvise(data_ + offset, bytes, MADV_POPULATE_READ) != 0) {
    if (errno == EINVAL) return Back(offset, bytes);  // a kernel before 5.14
    if (errno != EINTR && errno != EAGAIN) return false;
  }
  return true;
}

// Of a shared mapping MADV_DONTNEED frees nothing: the pages are the file's.
void Pages::Release(size_t offset, size_t bytes) {
  if (fd_ >= 0)
    fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              static_cast<off_t>(file_offset_ + offset), static_cast<off_t>(bytes));
  else if (given_back_)
    madvise(data_ + offset, bytes, MADV_DONTNEED);
}

}  // namespace weft::cache
