// base/buffer_memory.h: where buffers have their memory from.
//
// Threads   as each says.
#pragma once

#include <cstddef>

namespace weft::base {

class BufferMemory {
 public:
  virtual ~BufferMemory() = default;
  // Never null: what has none throws std::bad_alloc, as new does.
  virtual char* Allocate(size_t bytes) = 0;
  virtual void Free(char* at, size_t bytes) = 0;
  // Whether what lies there is memory of this kind, whoever took it.
  virtual bool IsLike(const void* at) const { return (void)at, false; }
};

}  // namespace weft::base
