// bench/policy/lru.h: the object that was used least recently goes.
//
// Uses      each get and each set.
// Threads   one at a time.
// Cost      constant time an operation, of a set with what it drops; 16 bytes a record.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/policy/policy.h"

namespace weft::bench {

std::unique_ptr<Policy> MakeLru(uint64_t capacity, uint32_t records);

}  // namespace weft::bench
