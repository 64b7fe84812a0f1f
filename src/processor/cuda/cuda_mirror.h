// processor/cuda/cuda_mirror.h: a mirror of the store in the memory of a CUDA device.
//
// Everything that is written to the mirror and every group of jobs go through one stream, so they
// take effect in their order. Columns lie in pinned host memory, which the kernels read and write
// in place: a batch costs no copy and one launch, which it shares with the batches that wait
// beside it.
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
