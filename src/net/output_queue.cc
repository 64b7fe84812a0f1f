#include "net/output_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace weft::net {

// A pool block with its bookkeeping in front of its bytes.
struct OutputQueue::Block {
  Block* next;
  size_t whole_bytes;  // of the pool block, this header included
  size_t begin;
  size_t end;

  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  size_t room() const { return whole_bytes - sizeof(Block) - end; }
};

OutputQueue::Block* OutputQueue::NewBlock(size_t n, BufferPool& pool) {
  size_t bytes = n + sizeof(Block);
  char* const memory = pool.Take(&bytes);
  if (memory == nullptr) return nullptr;
  held_bytes_ += bytes;
  return new (memory) Block{nullptr, bytes, 0, 0};
}

char* OutputQueue::AppendBlock(size_t n, BufferPool& pool) {
  // The more is waiting, the more is likely to come: fewer, larger blocks then.
  constexpr size_t kUsualBytesMin = 4096 - sizeof(Block);
  constexpr size_t kUsualBytesMax = kArenaReplyBytesMax - sizeof(Block);
  Block* const block =
      NewBlock(std::max(n, std::clamp(pending_bytes_, kUsualBytesMin, kUsualBytesMax)), pool);
  if (block == nullptr) return nullptr;
  (tail_ == nullptr ? head_ : tail_->next) = block;
  tail_ = block;
  return block->bytes();
}

char* OutputQueue::ReserveAnywhere(size_t n, OutputArena& arena, BufferPool& pool) {
  if (tail_ != nullptr) {
    return tail_->room() >= n ? tail_->bytes() + tail_->end : AppendBlock(n, pool);
  }
  if (n > kArenaReplyBytesMax) return AppendBlock(n, pool);
  if (begin_ == nullptr) {
    if (arena.room() < n) return AppendBlock(n, pool);
    begin_ = end_ = arena.top();
  } else if (limit_ == arena.top()) {
    if (arena.room() + static_cast<size_t>(limit_ - end_) < n) return AppendBlock(n, pool);
  } else {
    const bool fits = static_cast<size_t>(limit_ - end_) >= n;
    return fits ? end_ : AppendBlock(n, pool);
  }
  limit_ = end_ + n;
  arena.set_top(limit_);
  return end_;
}

void OutputQueue::CommitToBlock(size_t n) {
  WEFT_DCHECK(n <= tail_->room());
  tail_->end += n;
}

int OutputQueue::Gather(iovec* vectors, int count_max) const {
  int count = 0;
  if (end_ != begin_) vectors[count++] = {begin_, static_cast<size_t>(end_ - begin_)};
  for (Block* block = head_; block != nullptr && count < count_max; block = block->next) {
    if (block->end == block->begin) continue;
    vectors[count++] = {block->bytes() + block->begin, block->end - block->begin};
  }
  return count;
}

void OutputQueue::PopBlock(BufferPool& pool) {
  Block* const block = head_;
  head_ = block->next;
  if (head_ == nullptr) tail_ = nullptr;
  held_bytes_ -= block->whole_bytes;
  pool.Give(reinterpret_cast<char*>(block), block->whole_bytes);
}

void OutputQueue::Advance(size_t n, BufferPool& pool) {
  WEFT_DCHECK(n <= pending_bytes_);
  pending_bytes_ -= n;
  const size_t from_arena = std::min(n, static_cast<size_t>(end_ - begin_));
  begin_ += from_arena;
  n -= from_arena;
  if (begin_ == end_) begin_ = end_ = limit_ = nullptr;
  while (head_ != nullptr) {
    const size_t from_block = std::min(n, head_->end - head_->begin);
    head_->begin += from_block;
    n -= from_block;
    if (head_->begin != head_->end) break;
    PopBlock(pool);
  }
}

void OutputQueue::KeepFront(size_t n, BufferPool& pool) {
  WEFT_DCHECK(n <= pending_bytes_);
  pending_bytes_ = n;
  const size_t in_arena = std::min(n, static_cast<size_t>(end_ - begin_));
  end_ = begin_ + in_arena;
  n -= in_arena;
  Block* last = nullptr;  // that keeps any
  for (Block* block = head_; block != nullptr; block = block->next) {
    const size_t in_block = std::min(n, block->end - block->begin);
    block->end = block->begin + in_block;
    n -= in_block;
    if (in_block != 0) last = block;
  }
  Block* const first = last == nullptr ? nullptr : head_;
  if (last != nullptr) head_ = std::exchange(last->next, nullptr);
  while (head_ != nullptr) PopBlock(pool);
  head_ = first;
  tail_ = last;
}

bool OutputQueue::KeepUnsent(BufferPool& pool) {
  const size_t bytes = static_cast<size_t>(end_ - begin_);
  if (bytes > 0) {
    Block* const block = NewBlock(bytes, pool);
    if (block == nullptr) return false;
    std::memcpy(block->bytes(), begin_, bytes);
    block->end = bytes;
    block->next = head_;
    head_ = block;
    if (tail_ == nullptr) tail_ = block;
  }
  begin_ = end_ = limit_ = nullptr;
  return true;
}

void OutputQueue::Clear(BufferPool& pool) {
  begin_ = end_ = limit_ = nullptr;
  while (head_ != nullptr) PopBlock(pool);
  pending_bytes_ = 0;
}

}  // namespace weft::net
