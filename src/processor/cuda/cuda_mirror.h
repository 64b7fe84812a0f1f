// processor/cuda/cuda_mirror.h: a mirror of the store in the memory of a CUDA device.
//
// Writes to the mirror go through one stream, groups of jobs through several beside it:
// processor/cuda/group_streams.h says which waits for which. Columns lie in pinned host memory,
// which the kernels read and write in place. So a batch costs no copy, and shares one launch with
// the batches that wait beside it.
//
// Memory    the log has addresses for all of its segments and memory for those held, up to a share
//           of the device; the index has the rest.
// Threads   as MirrorDevice.
#pragma once

#include <memory>

#include "processor/cuda/device_memory.h"
#include "processor/mirror/mirror_device.h"

namespace weft::processor {

Description DescriptionOf(int number, const DeviceFacts& facts);

// kUnsupported: there is no such device, or it can't be used.
Result<std::unique_ptr<MirrorDevice>> OpenCudaMirror(uint32_t number);

}  // namespace weft::processor
