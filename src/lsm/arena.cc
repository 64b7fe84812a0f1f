// lsm/arena.cc: see arena.h.
#include "lsm/arena.h"

#include <algorithm>
#include <new>

namespace weft::lsm {
namespace {

// The shard this thread used last, of any arena: a hint.
thread_local uint32_t last_shard = 0;

size_t PaddingFor(const char* at, size_t alignment) {
  return (alignment - reinterpret_cast<uintptr_t>(at) % alignment) % alignment;
}

// A thread's with a shard: ends also where there is no memory.
class Turn {
 public:
  explicit Turn(std::atomic<bool>* busy) : busy_(busy) {}
  ~Turn() { busy_->store(false, std::memory_order_release); }  // pairs with AllocateFrom's exchange
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>* const busy_;
};

}  // namespace

Arena::~Arena() {
  const base::MutexLock lock(&mutex_);
  for (char* block : blocks_) ::operator delete (block, std::align_val_t{kLineBytes});
  for (char* block : huge_blocks_) {
    if (pool_ != nullptr) {
      pool_->Give(block);
    } else {
      BlockPool::Free(block);
    }
  }
}

char* Arena::AllocateFrom(size_t bytes, size_t alignment) {
  uint32_t index = last_shard;
  for (;;) {
    Shard& shard = shards_[index];
    // Acquire: pairs with the release below, so that this thread sees where the last one stopped.
    if (!shard.busy.exchange(true, std::memory_order_acquire)) {
      const Turn turn(&shard.busy);
      last_shard = index;
      return Cut(&shard, bytes, alignment);
    }
    index = (index + 1) % kShards;
  }
}

char* Arena::Cut(Shard* shard, size_t bytes, size_t alignment) {
  const size_t padding = PaddingFor(shard->next, alignment);
  if (static_cast<size_t>(shard->end - shard->next) < bytes + padding) {
    const size_t share = MemoryUsage() / (8 * kShards) / kChunkBytesMin * kChunkBytesMin;
    const size_t chunk_bytes = std::clamp(share, kChunkBytesMin, kChunkBytesMax);
    if (bytes > chunk_bytes / 4) return NewBlock(bytes);
    shard->next = NewChunk(chunk_bytes);
    shard->end = shard->next + chunk_bytes;
    char* piece = shard->next;
    shard->next += bytes;
    return piece;
  }
  char* piece = shard->next + padding;
  shard->next = piece + bytes;
  return piece;
}

char* Arena::NewChunk(size_t bytes) {
  // Relaxed: a sum that guards nothing.
  const size_t before = reserved_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  const base::MutexLock lock(&mutex_);
  if (before < kBytesBeforeHugeBlocks) return NewBlockLocked(bytes);
  if (static_cast<size_t>(huge_end_ - huge_next_) < bytes) {
    huge_blocks_.reserve(huge_blocks_.size() + 1);  // what is taken must be given back
    huge_next_ = pool_ != nullptr ? pool_->Take() : BlockPool::New();
    huge_end_ = huge_next_ + kHugeBlockBytes;
    huge_blocks_.push_back(huge_next_);
  }
  char* chunk = huge_next_;
  huge_next_ += bytes;
  return chunk;
}

char* Arena::NewBlock(size_t bytes) {
  reserved_bytes_.fetch_add(bytes, std::memory_order_relaxed);  // a sum that guards nothing
  const base::MutexLock lock(&mutex_);
  return NewBlockLocked(bytes);
}

char* Arena::NewBlockLocked(size_t bytes) {
  blocks_.push_back(nullptr);
  // Freed by the destructor.
  blocks_.back() = static_cast<char*>(::operator new (bytes, std::align_val_t{kLineBytes}));
  return blocks_.back();
}

}  // namespace weft::lsm
