// lsm/within_memory.h: what a write does where the system gives no memory.
//
// Writers wait for each other, so that none may leave what it has begun: an exception would.
//
// Threads   any.
#pragma once

#include <new>

#include "weft/status.h"

namespace weft::lsm {

// kIoError. Allocates nothing, nor do its copies. Call it once while there is memory.
inline const Status& NoMemoryForAWrite() {
  static const Status* const status =
      new Status(Status::Permanent(Code::kIoError, "no memory for a write"));  // never freed
  return *status;
}

// What `work` says; NoMemoryForAWrite() where it finds none.
template <typename Work>
Status WithinMemory(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return NoMemoryForAWrite();
  }
}

}  // namespace weft::lsm
