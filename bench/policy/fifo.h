// bench/policy/fifo.h: the object that has been there longest goes, whatever its use.
//
// Age       since it was first stored: a set of an object that is there leaves it in its place.
// Threads   one at a time.
// Cost      constant time an operation, of a set with what it drops; 16 bytes a record.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/policy/policy.h"

namespace weft::bench {

std::unique_ptr<Policy> MakeFifo(uint64_t capacity, uint32_t records);

}  // namespace weft::bench
