// processor/cuda/mirror_kernels.h: the kernels that keep a mirror in device memory up to date.
//
// Threads   any. A call enqueues on the stream and returns.
// Memory    what they read may lie in pinned host memory: each byte is read once.
#pragma once

#include "processor/cuda/kernels.h"
#include "processor/mirror_memory.h"

namespace weft::processor {

// Copies `count` pieces to their places in the table.
Status ScatterPieces(const MirrorMemory::Piece* pieces, uint32_t count, task::Bucket* buckets,
                     CudaStream stream);

// What MirrorMemory::SetResident says of a segment.
struct Residency {
  uint64_t base;
  uint32_t segment;
  uint32_t units;
};

// Enters `count` of them, no two of one segment.
Status EnterResidency(const Residency* list, uint32_t count, uint32_t* resident, uint64_t* bases,
                      CudaStream stream);

}  // namespace weft::processor
