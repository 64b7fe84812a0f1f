// compaction/device/plain_executor.h: the device's way of compacting, on the host, to test it.
//
// Threads   as compaction/job.h says.
#pragma once

#include <cstdint>
#include <memory>

#include "compaction/device/device_storage.h"
#include "compaction/job.h"

namespace weft::compaction::device {

// storage: reads files past direct I/O's memory of the host, and outlives it; null: the host does.
std::unique_ptr<Executor> NewPlainExecutor(uint64_t piece_bytes,
                                           uint64_t memory_bytes_max = ~uint64_t{0},
                                           DeviceStorage* storage = nullptr);

}  // namespace weft::compaction::device
