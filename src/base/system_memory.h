// base/system_memory.h: how much memory there is to measure with.
//
// Threads   any.
#pragma once

#include <cstdint>

namespace weft::base {

// Bytes that can be had without anybody else's loss, here or in the group that this process belongs
// to; 0: the system does not say.
uint64_t MemoryToBeHad();

}  // namespace weft::base
