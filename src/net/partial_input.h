// net/partial_input.h: the received bytes that a connection could not use yet, in one piece.
//
// Grows by what arrives: a request that declares 1 GiB and sends 10 bytes holds 256. Empty, it
// holds nothing.
// Threads: owned by the loop's thread.
// Errors: false or null when the system has no memory; the bytes held stay as they were.
// Cost: appending copies; room at least doubles, so a long request is copied about twice in all.
//   Dropping moves nothing: what is left moves when it is no more than what was dropped before it.
//   So taking long input off piece by piece costs no more than receiving it.
#pragma once

#include <cstddef>
#include <string_view>

#include "net/buffer_pool.h"

namespace weft::net {

class PartialInput {
 public:
  const char* data() const { return data_ == nullptr ? nullptr : data_ + dropped_; }
  size_t size() const { return size_; }
  size_t held_bytes() const { return capacity_; }

  // Space for `n` more bytes behind the present ones; `total_hint` caps the growth where it is
  // known how large the request ends up. Added says how many were written.
  char* Room(BufferPool& pool, size_t n, size_t total_hint);
  void Added(size_t n) { size_ += n; }
  bool Append(BufferPool& pool, std::string_view bytes, size_t total_hint);
  // Drops the first `n` bytes. Little that is left moves to a smaller block, nothing to none.
  void DropFront(BufferPool& pool, size_t n);
  void Release(BufferPool& pool);

 private:
  bool MoveTo(BufferPool& pool, size_t bytes, size_t from);

  char* data_ = nullptr;  // the block
  size_t dropped_ = 0;    // of its front
  size_t size_ = 0;       // behind that
  size_t capacity_ = 0;
};

}  // namespace weft::net
