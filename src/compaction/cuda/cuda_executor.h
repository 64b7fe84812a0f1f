// compaction/cuda/cuda_executor.h: compacts on a CUDA device. No CUDA header is needed to call.
//
// Threads   as compaction/job.h says; several jobs at once share the device.
// Errors    those of making it are Status; what goes wrong in a job leaves that to the CPU.
#pragma once

#include <cstdint>
#include <memory>

#include "compaction/job.h"

namespace weft::compaction::device {

// What a device does at once: enough to keep it busy, and a small part of its memory.
inline constexpr uint64_t kCudaPieceBytes = 64u << 20;

// On device `number`. kUnsupported: there is none, or no driver for it.
Result<std::unique_ptr<Executor>> NewCudaExecutor(int number,
                                                  uint64_t piece_bytes = kCudaPieceBytes);

}  // namespace weft::compaction::device
