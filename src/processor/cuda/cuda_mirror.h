// processor/cuda/cuda_mirror.h: a mirror of the store in the memory of a CUDA device.
//
// What is written to the mirror goes through one stream, groups of jobs through several beside it:
// processor/cuda/group_streams.h says who waits for whom. Columns lie in pinned host memory, which
// the kernels read and write in place, so a batch costs no copy, and one launch, which it shares
// with the batches that wait beside it.
//
// Memory    the log has addresses for all of its segments and memory for those held, up to a share
//           of the device; the index has what is left.
// Threads   as MirrorDevice.
#pragma once

#include <memory>

#include "processor/cuda/device_memory.h"
#include "processor/mirror_device.h"

namespace weft::processor {

Description DescriptionOf(int number, const DeviceFacts& facts);

// kUnsupported: there is no such device, or it can't be used.
Result<std::unique_ptr<MirrorDevice>> OpenCudaMirror(uint32_t number);

}  // namespace weft::processor
