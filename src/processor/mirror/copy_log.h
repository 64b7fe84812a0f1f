// processor/mirror/copy_log.h: copies a piece of the object log to a mirror while others note
// accesses in its objects (task/object.h).
//
// Threads   any; each word is copied whole, and shows one of the values that it had meanwhile.
// Cost      a load and a store for each 8 bytes.
#pragma once

#include <cstdint>

#include "task/portable.h"

namespace weft::processor {

// REQUIRES: `to` and `from` are aligned to 8 bytes, and `bytes` is a multiple of 8
inline void CopyLog(uint8_t* to, const uint8_t* from, uint64_t bytes) {
  const auto* const source = reinterpret_cast<const uint64_t*>(from);
  auto* const target = reinterpret_cast<uint64_t*>(to);
  for (uint64_t word = 0; word < bytes / sizeof *target; word++)
    target[word] = task::LoadAcquire64(&source[word]);
}

}  // namespace weft::processor
