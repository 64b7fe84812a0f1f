// table/output_buffer.h: bytes on their way into a file, written where they will be sent from.
//
// Grows like a string, but leaves new room as it is, and keeps its room when it is emptied: a
// builder that makes table after table allocates once.
//
// Threads   one thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/buffer_memory.h"
#include "base/check.h"
#include "base/copy_short.h"

namespace weft::table {

class OutputBuffer {
 public:
  OutputBuffer() : OutputBuffer(nullptr) {}
  // From `memory`, which must outlive it; null: from new.
  explicit OutputBuffer(base::BufferMemory* memory) : bytes_(nullptr, Release{memory, 0}) {}

  const char* data() const { return bytes_.get(); }
  char* data() { return bytes_.get(); }
  size_t size() const { return size_; }
  std::string_view From(size_t at) const { return {bytes_.get() + at, size_ - at}; }

  void Clear() { size_ = 0; }
  // REQUIRES: bytes <= size()
  void CutTo(size_t bytes) {
    WEFT_DCHECK(bytes <= size_);
    size_ = bytes;
  }

  // Room for `bytes` more behind the end; where it begins. Moves what data() returned.
  char* Reserve(size_t bytes) {
    if (capacity_ - size_ < bytes) [[unlikely]]
      Grow(bytes);
    return bytes_.get() + size_;
  }
  // Takes in what was written behind the end, up to `end`. REQUIRES: Reserve gave that room.
  void CommitTo(const char* end) {
    size_ = static_cast<size_t>(end - bytes_.get());
    WEFT_DCHECK(size_ <= capacity_);
  }
  void Append(std::string_view bytes) {
    char* const to = Reserve(bytes.size());
    base::CopyShort(to, bytes.data(), bytes.size());
    CommitTo(to + bytes.size());
  }

 private:
  struct Release {
    base::BufferMemory* memory;
    size_t bytes;
    void operator()(char* at) const {
      if (memory == nullptr) {
        delete[] at;
      } else {
        memory->Free(at, bytes);
      }
    }
  };

  // Twice as large, so that bytes are moved once in the mean; from kLargeBytes on by an eighth and
  // with an eighth to spare: what is filled again and again, a little more each time, would else
  // soon have twice what it needs.
  static size_t CapacityFor(size_t needed, size_t capacity) {
    const size_t grown = capacity < kLargeBytes ? capacity * 2 : capacity + capacity / 8;
    const size_t spare = needed < kLargeBytes ? 0 : needed / 8;
    return std::max<size_t>({4096, grown, needed + spare});
  }
  static constexpr size_t kLargeBytes = size_t{16} << 20;

  [[gnu::noinline]] void Grow(size_t bytes) {
    const size_t capacity = CapacityFor(size_ + bytes, capacity_);
    base::BufferMemory* const memory = bytes_.get_deleter().memory;
    // Freed by Release.
    char* const room = memory == nullptr ? new char[capacity] : memory->Allocate(capacity);
    std::unique_ptr<char[], Release> grown(room, Release{memory, capacity});
    if (size_ != 0) std::memcpy(grown.get(), bytes_.get(), size_);
    bytes_ = std::move(grown);
    capacity_ = capacity;
  }

  std::unique_ptr<char[], Release> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace weft::table
