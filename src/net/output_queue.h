// net/output_queue.h: the bytes that a connection has to send, in order.
//
// Replies of one turn are written behind each other into one arena, which all connections of the
// loop share. So a turn of small replies touches few cache lines and allocates nothing. Bytes that
// the peer does not take at once move to blocks of the pool (KeepUnsent). Then the arena starts
// anew.
//
//   arena segment [begin_ .. end_) -> block -> block -> ...      (sent in this order)
//
// Threads: owned by the loop's thread.
// Errors: null or false when the system has no memory; nothing that was committed is lost.
// Cost: Reserve and Commit are a few instructions while one connection's replies are written
//   together; a connection that returns after another has written takes a block.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>

#include "base/check.h"
#include "net/buffer_pool.h"

namespace weft::net {

// The memory that the replies of one turn share.
class OutputArena {
 public:
  explicit OutputArena(size_t bytes)
      : base_(std::make_unique_for_overwrite<char[]>(bytes)), top_(base_.get()), bytes_(bytes) {}

  char* top() const { return top_; }
  size_t room() const { return bytes_ - static_cast<size_t>(top_ - base_.get()); }
  // REQUIRES: base <= top <= base + bytes
  void set_top(char* top) { top_ = top; }
  // REQUIRES: no queue holds a segment.
  void Reset() { top_ = base_.get(); }

 private:
  const std::unique_ptr<char[]> base_;
  char* top_;
  const size_t bytes_;
};

class OutputQueue {
 public:
  // Larger replies get a block of their own from the start.
  static constexpr size_t kArenaReplyBytesMax = size_t{64} << 10;

  size_t size() const { return pending_bytes_; }
  bool empty() const { return pending_bytes_ == 0; }
  // Bytes of pool blocks held.
  size_t held_bytes() const { return held_bytes_; }

  // Space for `n` contiguous bytes, valid until the next Reserve or Commit here.
  char* Reserve(size_t n, OutputArena& arena, BufferPool& pool) {
    // Behind this queue's last reply in the arena there is nothing: so it is for most replies.
    const bool goes_on = limit_ == arena.top() && tail_ == nullptr;
    if (!goes_on || n > kArenaReplyBytesMax || n > arena.room())
      return ReserveAnywhere(n, arena, pool);
    limit_ = end_ + n;
    arena.set_top(limit_);
    return end_;
  }
  // Makes the first `n` reserved bytes part of the output. REQUIRES: n <= what was reserved.
  void Commit(size_t n, OutputArena& arena) {
    pending_bytes_ += n;
    if (tail_ != nullptr) return CommitToBlock(n);
    WEFT_DCHECK(n <= static_cast<size_t>(limit_ - end_));
    end_ += n;
    if (limit_ == arena.top()) {
      limit_ = end_;
      arena.set_top(end_);
    }
  }

  // Fills up to `count_max` vectors from the front; how many.
  int Gather(iovec* vectors, int count_max) const;
  // Drops the first `n` bytes: they were sent.
  void Advance(size_t n, BufferPool& pool);
  // Drops all behind the first `n` bytes: they are not to be sent. REQUIRES: n <= size()
  void KeepFront(size_t n, BufferPool& pool);
  // Moves what lies in the arena to a block.
  bool KeepUnsent(BufferPool& pool);
  void Clear(BufferPool& pool);

 private:
  struct Block;
  char* ReserveAnywhere(size_t n, OutputArena& arena, BufferPool& pool);
  void CommitToBlock(size_t n);
  char* AppendBlock(size_t n, BufferPool& pool);
  Block* NewBlock(size_t n, BufferPool& pool);
  void PopBlock(BufferPool& pool);

  // The segment in the arena; null when there is none. limit_ ends what is reserved.
  char* begin_ = nullptr;
  char* end_ = nullptr;
  char* limit_ = nullptr;
  Block* head_ = nullptr;
  Block* tail_ = nullptr;
  size_t pending_bytes_ = 0;
  size_t held_bytes_ = 0;
};

}  // namespace weft::net
