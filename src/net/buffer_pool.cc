#include "net/buffer_pool.h"

#include <bit>
#include <cstdlib>

namespace weft::net {

BufferPool::~BufferPool() {
  for (auto& blocks : kept_) {
    for (char* block : blocks) std::free(block);
  }
}

size_t BufferPool::ClassOf(size_t bytes) {
  return static_cast<size_t>(std::countr_zero(bytes) - std::countr_zero(kBlockBytesMin));
}

char* BufferPool::Take(size_t* bytes) {
  constexpr size_t kPageBytes = 4096;
  if (*bytes > kBlockBytesKeptMax) {
    *bytes = (*bytes + kPageBytes - 1) & ~(kPageBytes - 1);
  } else {
    *bytes = std::bit_ceil(*bytes < kBlockBytesMin ? kBlockBytesMin : *bytes);
    std::vector<char*>& blocks = kept_[ClassOf(*bytes)];
    if (!blocks.empty()) {
      char* const block = blocks.back();
      blocks.pop_back();
      kept_bytes_ -= *bytes;
      in_use_bytes_.Add(*bytes);
      return block;
    }
  }
  char* const block = static_cast<char*>(std::malloc(*bytes));
  if (block != nullptr) in_use_bytes_.Add(*bytes);
  return block;
}

void BufferPool::Give(char* block, size_t bytes) {
  in_use_bytes_.Set(in_use_bytes_.value() - bytes);
  if (bytes > kBlockBytesKeptMax || kept_bytes_ + bytes > kKeepBytes) {
    std::free(block);
    return;
  }
  kept_[ClassOf(bytes)].push_back(block);
  kept_bytes_ += bytes;
}

}  // namespace weft::net
