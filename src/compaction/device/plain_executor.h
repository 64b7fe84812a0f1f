// compaction/device/plain_executor.h: the device's way of compacting, on the host, to test it.
//
// Threads   as compaction/job.h says.
#pragma once

#include <cstdint>
#include <memory>

#include "compaction/job.h"

namespace weft::compaction::device {

std::unique_ptr<Executor> NewPlainExecutor(uint64_t piece_bytes,
                                           uint64_t memory_bytes_max = ~uint64_t{0});

}  // namespace weft::compaction::device
