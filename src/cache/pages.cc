#include "cache/pages.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

namespace weft::cache {
namespace {

constexpr size_t kHugePageBytes = 2u << 20;

}  // namespace

Pages::~Pages() { Unmap(); }

Pages::Pages(Pages&& other) noexcept { *this = std::move(other); }

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  return *this;
}

void Pages::Unmap() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
  mapping_ = nullptr;
}

Result<Pages> Pages::Reserve(size_t bytes, bool huge) {
  Pages pages;
  pages.mapping_bytes_ = bytes + kHugePageBytes;
  void* mapping = mmap(nullptr, pages.mapping_bytes_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return Status(Code::kNoMemory,
                  "reserve " + std::to_string(bytes) + " bytes of address space: " +
                      std::string(Status::FromErrno("mmap", errno).message()));
  }
  pages.mapping_ = mapping;
  const uintptr_t start = reinterpret_cast<uintptr_t>(mapping);
  const uintptr_t aligned = (start + kHugePageBytes - 1) & ~(kHugePageBytes - 1);
  pages.data_ = reinterpret_cast<uint8_t*>(aligned);
  pages.size_ = bytes;
  // Advice only: a system without huge pages refuses it and nothing is lost but speed.
  madvise(pages.data_, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return pages;
}

void Pages::Release(size_t offset, size_t bytes) {
  madvise(data_ + offset, bytes, MADV_DONTNEED);
}

}  // namespace weft::cache
