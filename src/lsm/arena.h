// lsm/arena.h: memory that many threads take piece by piece and that is freed all at once.
//
// A few shards each cut pieces from a chunk. A thread takes the shard that it used last; if another
// thread is at work there, it goes on to the next and stays. So one writer at a time, whichever
// thread it is, fills a single chunk, and four writers soon have one each.
//
// Threads   Allocate, AllocateAligned and the counters: any at once.
// Memory    a chunk is a 64th of what there is already, at least 4 KiB, at most 256 KiB: the unused
//           rests of all eight shards together stay below an eighth of MemoryUsage. A piece larger
//           than a quarter of a chunk gets its own memory. Once there is 1 MiB, chunks are cut from
//           blocks of 2 MiB for which huge pages are asked. Otherwise searches, which jump about,
//           would wait for page tables as well as for memory.
// Cost      one atomic exchange; every few hundredth time a chunk, under a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "lsm/block_pool.h"

namespace weft::lsm {

class Arena {
 public:
  static constexpr size_t kChunkBytesMin = size_t{4} << 10;
  static constexpr size_t kChunkBytesMax = size_t{256} << 10;
  static constexpr size_t kHugeBlockBytes = BlockPool::kBlockBytes;
  static constexpr size_t kBytesBeforeHugeBlocks = size_t{1} << 20;
  static constexpr size_t kLineBytes = 64;

  // With a pool: huge blocks come from there, and go there.
  explicit Arena(std::shared_ptr<BlockPool> pool = nullptr) : pool_(std::move(pool)) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // `bytes` of memory at any address, until the arena goes. REQUIRES: bytes > 0
  char* Allocate(size_t bytes) { return AllocateFrom(bytes, 1); }
  // As Allocate, at the start of a cache line.
  char* AllocateAligned(size_t bytes) { return AllocateFrom(bytes, kLineBytes); }

  // Pieces and the rest of chunks. Also reserved, but not counted because nothing uses it, is the
  // rest of the huge block that chunks are cut from, up to kHugeBlockBytes.
  size_t MemoryUsage() const { return reserved_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kShards = 8;

  struct alignas(kLineBytes) Shard {
    std::atomic<bool> busy{false};
    // For the thread that set `busy`.
    char* next = nullptr;
    char* end = nullptr;
  };

  char* AllocateFrom(size_t bytes, size_t alignment);
  // A piece of `shard`'s chunk, or of a new one. The caller holds shard->busy.
  char* Cut(Shard* shard, size_t bytes, size_t alignment);
  char* NewChunk(size_t bytes) WEFT_EXCLUDES(mutex_);
  char* NewBlock(size_t bytes) WEFT_EXCLUDES(mutex_);
  char* NewBlockLocked(size_t bytes) WEFT_REQUIRES(mutex_);

  const std::shared_ptr<BlockPool> pool_;
  Shard shards_[kShards];
  std::atomic<size_t> reserved_bytes_{0};
  base::Mutex mutex_;
  std::vector<char*> blocks_ WEFT_GUARDED_BY(mutex_);
  std::vector<char*> huge_blocks_ WEFT_GUARDED_BY(mutex_);
  char* huge_next_ WEFT_GUARDED_BY(mutex_) = nullptr;
  char* huge_end_ WEFT_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace weft::lsm
