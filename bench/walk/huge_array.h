// bench/walk/huge_array.h: zeroed memory for walks, on 2 MiB pages where the system grants them
// (madvise, as the cache asks for its own).
//
// Threads: the memory's owner decides.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"

namespace weft::bench {

class HugeArray {
 public:
  HugeArray(size_t words, bool huge_pages)
      : bytes_((words * 8 + kPage - 1) / kPage * kPage + kPage), words_(words) {
    map_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    WEFT_CHECK(map_ != MAP_FAILED);
    madvise(map_, bytes_, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    const auto start = (reinterpret_cast<uintptr_t>(map_) + kPage - 1) / kPage * kPage;
    first_ = reinterpret_cast<uint64_t*>(start);
  }
  ~HugeArray() { munmap(map_, bytes_); }
  HugeArray(const HugeArray&) = delete;
  HugeArray& operator=(const HugeArray&) = delete;

  // Starts on a 2 MiB boundary.
  std::span<uint64_t> words() { return {first_, words_}; }
  const uint64_t* data() const { return first_; }
  size_t size() const { return words_; }

 private:
  static constexpr size_t kPage = size_t{2} << 20;

  const size_t bytes_;
  const size_t words_;
  void* map_;
  uint64_t* first_;
};

}  // namespace weft::bench
