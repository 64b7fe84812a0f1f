// bench/policy/one_queue.h: the two policies that keep all objects in one queue.
//
// FIFO      the object that has been there longest goes, whatever its use. A set of an object that
//           is there leaves it in its place.
// LRU       the object that was used least recently goes; each get and each set is a use.
// Threads   one at a time.
// Cost      constant time an operation, of a set with what it drops; 16 bytes a record.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/policy/policy.h"

namespace weft::bench {

std::unique_ptr<Policy> MakeFifo(uint64_t capacity, uint32_t records);
std::unique_ptr<Policy> MakeLru(uint64_t capacity, uint32_t records);

}  // namespace weft::bench
