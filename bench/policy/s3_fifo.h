// bench/policy/s3_fifo.h: S3-FIFO: a small queue tries objects, main keeps those in use.
//
// Queues    small has a tenth of the bytes and main the rest. Ghosts are records that small
//           dropped, of as many bytes as main may have. They hold nothing.
// Stored    an object goes to small; one whose record is a ghost goes to main.
// Dropped   from small while it has its tenth, otherwise from main. The oldest of small goes to
//           main if it was used twice since it was stored; otherwise it becomes a ghost. The oldest
//           of main goes if it was not used; otherwise it is the youngest again, with one use less.
//           Main forgets what it drops.
// Uses      each get, and each set of an object that is there, which keeps its place. They count up
//           to 3, and from 0 again in another queue.
// Sizes     an object larger than small's tenth may be alone there. The paper has one size.
// Threads   one at a time.
// Cost      constant time an operation, of a set with what it drops or moves; 16 bytes a record.
// Source    J. Yang, Y. Zhang, Z. Qiu, Y. Yue, K. V. Rashmi, FIFO queues are all you need for cache
//           eviction, SOSP'23. It moves what was used more than once, as libCacheSim does with its
//           threshold of 2. It fills small first, also beyond its tenth, as we do; recent versions
//           of libCacheSim fill main while nothing was dropped.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/policy/policy.h"

namespace weft::bench {

// Without ghosts, whatever is stored goes to small.
std::unique_ptr<Policy> MakeS3Fifo(uint64_t capacity, uint32_t records, bool with_ghosts);

}  // namespace weft::bench
