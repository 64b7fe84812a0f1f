// cache/pages.h: a range of addresses, backed by memory as it is touched.
//
// Memory comes from a PageSource: the system, a device that is to see it too (processor/), or a
// file that keeps it when the process ends (cache/memory_file.h).
//
// Threads: Back, Populate and Release may run beside uses of other parts of the range. A
// PageSource: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "weft/status.h"

namespace weft::cache {

inline constexpr size_t kHugePageBytes = 2u << 20;

class Pages {
 public:
  Pages() = default;
  // Somebody's memory, which goes with the last copy of `owner`. `given_back`: Release may give
  // its parts to the system.
  Pages(uint8_t* data, size_t bytes, std::shared_ptr<void> owner, bool given_back)
      : data_(data), size_(bytes), owner_(std::move(owner)), given_back_(given_back) {}
  // A file's bytes from `file_offset` on, which the descriptor has as long as `owner` lives.
  Pages(uint8_t* data, size_t bytes, std::shared_ptr<void> owner, int fd, uint64_t file_offset)
      : data_(data),
        size_(bytes),
        owner_(std::move(owner)),
        given_back_(true),
        fd_(fd),
        file_offset_(file_offset) {}
  Pages(Pages&& other) noexcept { *this = std::move(other); }
  Pages& operator=(Pages&& other) noexcept;

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

  // Has memory behind these bytes, so that their use cannot fail. Only a file needs it: of one
  // whose file system is full, a touched page would end the process. False: there is none.
  [[nodiscard]] bool Back(size_t offset, size_t bytes);
  // Maps bytes of a file that have memory behind them, to be used soon. False: some have none.
  [[nodiscard]] bool Populate(size_t offset, size_t bytes);
  // The bytes are not needed any more: the system may have the memory until its next use. They read
  // as zeroes afterwards.
  void Release(size_t offset, size_t bytes);
  // Whether huge pages are wanted there, instead of what Reserve was told. Advice: nothing happens
  // where the system does not listen, or the memory is somebody else's.
  void AskForHuge(size_t offset, size_t bytes, bool huge);

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  std::shared_ptr<void> owner_;
  bool given_back_ = false;
  int fd_ = -1;  // of a file; -1: none
  uint64_t file_offset_ = 0;
};

class PageSource {
 public:
  virtual ~PageSource() = default;
  // `bytes` of zeroed memory, aligned to 64 bytes at least. `huge`: asks for 2 MiB pages, where
  // that means anything. kNoMemory where there is not as much.
  virtual Result<Pages> Reserve(size_t bytes, bool huge) = 0;
};

// The process's own memory: address space aligned to 2 MiB, nothing resident yet.
PageSource* SystemPages();

}  // namespace weft::cache
