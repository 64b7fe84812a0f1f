// compaction/device/bounce_buffer.h: where small copies to and from a device wait for their turn,
// so that nobody has to wait for each of them.
//
// Threads   one thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/buffer_memory.h"

namespace weft::compaction::device {

class BounceBuffer {
 public:
  // `memory` must outlive it.
  explicit BounceBuffer(base::BufferMemory* memory) : memory_(*memory) {}
  BounceBuffer(const BounceBuffer&) = delete;
  BounceBuffer& operator=(const BounceBuffer&) = delete;
  ~BounceBuffer() {
    for (const Chunk& chunk : chunks_) memory_.Free(chunk.at, chunk.bytes);
  }

  // Room of its own until Clear.
  char* Take(size_t bytes) {
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    while (chunk_ < chunks_.size() && chunks_[chunk_].bytes - taken_ < bytes) {
      chunk_++;
      taken_ = 0;
    }
    if (chunk_ == chunks_.size()) {
      const size_t room = std::max(bytes, kChunkBytes);
      chunks_.reserve(chunks_.size() + 1);
      chunks_.push_back({memory_.Allocate(room), room});
    }
    taken_ += bytes;
    return chunks_[chunk_].at + (taken_ - bytes);
  }
  // All of it may be taken again.
  void Clear() {
    chunk_ = 0;
    taken_ = 0;
  }

 private:
  static constexpr size_t kAlignment = 16;
  static constexpr size_t kChunkBytes = size_t{1} << 20;

  struct Chunk {
    char* at;
    size_t bytes;
  };

  base::BufferMemory& memory_;
  std::vector<Chunk> chunks_;
  size_t chunk_ = 0;  // the one that is taken from
  size_t taken_ = 0;  // of it
};

}  // namespace weft::compaction::device
