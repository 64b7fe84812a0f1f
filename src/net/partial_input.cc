#include "net/partial_input.h"

#include <algorithm>
#include <cstring>

namespace weft::net {

bool PartialInput::MoveTo(BufferPool& pool, size_t bytes, size_t from) {
  char* const block = pool.Take(&bytes);
  if (block == nullptr) return false;
  const size_t left = size_ - from;
  if (left > 0) std::memcpy(block, data() + from, left);
  if (data_ != nullptr) pool.Give(data_, capacity_);
  data_ = block;
  dropped_ = 0;
  size_ = left;
  capacity_ = bytes;
  return true;
}

char* PartialInput::Room(BufferPool& pool, size_t n, size_t total_hint) {
  const size_t needed = size_ + n;
  if (dropped_ + needed > capacity_ && needed <= capacity_ && size_ <= dropped_) {
    std::memmove(data_, data(), size_);
    dropped_ = 0;
  }
  if (dropped_ + needed > capacity_) {
    size_t wanted = std::max(needed, size_ * 2);
    // Doubling past the end of a request of known size would only waste.
    if (total_hint >= needed) wanted = std::min(wanted, total_hint);
    if (!MoveTo(pool, wanted, 0)) return nullptr;
  }
  return data_ + dropped_ + size_;
}

bool PartialInput::Append(BufferPool& pool, std::string_view bytes, size_t total_hint) {
  if (bytes.empty()) return true;
  char* const room = Room(pool, bytes.size(), total_hint);
  if (room == nullptr) return false;
  std::memcpy(room, bytes.data(), bytes.size());
  size_ += bytes.size();
  return true;
}

void PartialInput::DropFront(BufferPool& pool, size_t n) {
  const size_t left = size_ - n;
  if (left == 0) return Release(pool);
  if (n == 0) return;
  // A half request may wait long: it should not sit in the block of the large one before it.
  if (capacity_ > 4 * BufferPool::kBlockBytesMin && left < capacity_ / 4 && MoveTo(pool, left, n)) {
    return;
  }
  dropped_ += n;
  size_ = left;
}

void PartialInput::Release(BufferPool& pool) {
  if (data_ != nullptr) pool.Give(data_, capacity_);
  data_ = nullptr;
  dropped_ = size_ = capacity_ = 0;
}

}  // namespace weft::net
