// cache/pages.h: a range of addresses from the system, backed by memory as it is touched.
//
// Threads: Release may run beside uses of other parts of the range.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/status.h"

namespace weft::cache {

class Pages {
 public:
  Pages() = default;
  ~Pages();
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;

  // Reserves `bytes` of zeroed address space, aligned to 2 MiB; nothing is resident yet.
  // `huge`: asks for 2 MiB pages, which the system may ignore.
  static Result<Pages> Reserve(size_t bytes, bool huge);

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

  // Gives the memory of a range back to the system; its next use reads zero.
  void Release(size_t offset, size_t bytes);

 private:
  void Unmap();

  uint8_t* data_ = nullptr;  // aligned start
  size_t size_ = 0;
  void* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
};

}  // namespace weft::cache
