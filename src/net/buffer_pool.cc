#include "net/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace weft::net {
namespace {

constexpr size_t kPageBytes = 4096;

}  // namespace

BufferPool::~BufferPool() {
  kept_bytes_least_ = kept_bytes_;
  Trim();
}

size_t BufferPool::BlockBytes(size_t bytes) {
  if (bytes <= kBlockBytesMin) return kBlockBytesMin;
  const size_t step = bytes > kBlockBytesKeptMax ? kPageBytes : std::bit_floor(bytes - 1) / 4;
  return (bytes + step - 1) / step * step;
}

// REQUIRES: a size of BlockBytes, at most kBlockBytesKeptMax
size_t BufferPool::ClassOf(size_t bytes) {
  const size_t power = static_cast<size_t>(std::bit_width(bytes)) - 1;
  const size_t quarter = (bytes - (size_t{1} << power)) >> (power - 2);
  return (power - std::countr_zero(kBlockBytesMin)) * 4 + quarter;
}

char* BufferPool::Allocate(size_t bytes) {
  if (bytes < kMappedBytesMin) return static_cast<char*>(std::malloc(bytes));
  void* const block =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return block == MAP_FAILED ? nullptr : static_cast<char*>(block);
}

void BufferPool::Free(char* block, size_t bytes) {
  if (bytes < kMappedBytesMin) return std::free(block);
  munmap(block, bytes);
}

char* BufferPool::Take(size_t* bytes) {
  *bytes = BlockBytes(*bytes);
  if (*bytes <= kBlockBytesKeptMax) {
    std::vector<char*>& blocks = kept_[ClassOf(*bytes)];
    if (!blocks.empty()) {
      char* const block = blocks.back();
      blocks.pop_back();
      kept_bytes_ -= *bytes;
      kept_bytes_least_ = std::min(kept_bytes_least_, kept_bytes_);
      in_use_bytes_.Add(*bytes);
      return block;
    }
  }
  char* const block = Allocate(*bytes);
  if (block != nullptr) in_use_bytes_.Add(*bytes);
  return block;
}

void BufferPool::Give(char* block, size_t bytes) {
  in_use_bytes_.Set(in_use_bytes_.value() - bytes);
  if (bytes > kBlockBytesKeptMax || kept_bytes_ + bytes > kKeepBytes) return Free(block, bytes);
  kept_[ClassOf(bytes)].push_back(block);
  kept_bytes_ += bytes;
}

void BufferPool::Trim() {
  // Largest first: few calls give most back.
  for (size_t i = kClassCount; i-- > 0;) {
    std::vector<char*>& blocks = kept_[i];
    const size_t bytes = ((i % 4) + 4) << (i / 4 + std::countr_zero(kBlockBytesMin) - 2);
    while (!blocks.empty() && bytes <= kept_bytes_least_) {
      Free(blocks.back(), bytes);
      blocks.pop_back();
      kept_bytes_ -= bytes;
      kept_bytes_least_ -= bytes;
    }
  }
  kept_bytes_least_ = kept_bytes_;
}

}  // namespace weft::net
