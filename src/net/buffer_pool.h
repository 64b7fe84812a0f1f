// net/buffer_pool.h: blocks of bytes that a loop must hold beyond one turn: half requests, and
// replies that the peer has not taken. A connection that owes nothing holds none.
//
// Blocks come in sizes from 256 B to 1 MiB, four to a power of two; larger ones are whole pages.
// Blocks of kMappedBytesMin and more are mapped one by one. So the system gets a freed one at once,
// whatever was allocated behind it. Freed blocks are kept for reuse up to kKeepBytes; Trim gives
// back those that nobody has needed since the last Trim.
// Threads: owned by one loop's thread; only in_use_bytes may be read by any.
// Cost: Take and Give of a kept size are a few instructions.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "net/owned_counter.h"

namespace weft::net {

class BufferPool {
 public:
  static constexpr size_t kBlockBytesMin = 256;
  static constexpr size_t kBlockBytesKeptMax = size_t{1} << 20;
  static constexpr size_t kMappedBytesMin = size_t{64} << 10;
  static constexpr size_t kKeepBytes = size_t{2} << 20;

  BufferPool() = default;
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // A block of at least *bytes; sets *bytes to its whole size. Null when the system has no memory.
  char* Take(size_t* bytes);
  // REQUIRES: `bytes` as Take set it.
  void Give(char* block, size_t bytes);
  // Gives kept blocks back to the system: as many bytes as were never in use since the last call.
  void Trim();
  // The size that Take(&bytes) sets.
  static size_t BlockBytes(size_t bytes);

  // Bytes of all blocks in use.
  size_t in_use_bytes() const { return in_use_bytes_.value(); }
  size_t kept_bytes() const { return kept_bytes_; }

 private:
  static constexpr size_t kClassCount = 12 * 4 + 1;  // 2^8 .. 2^20
  static size_t ClassOf(size_t bytes);
  static char* Allocate(size_t bytes);
  static void Free(char* block, size_t bytes);

  std::array<std::vector<char*>, kClassCount> kept_;
  size_t kept_bytes_ = 0;
  size_t kept_bytes_least_ = 0;  // the least since the last Trim
  OwnedCounter in_use_bytes_;
};

}  // namespace weft::net
