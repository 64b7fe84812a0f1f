// compaction/device/executors.h: the executor that a store's options ask for.
//
//   cpu      merges entry after entry on the calling thread; a job may be shared by several threads
//   cuda:N   on the N'th NVIDIA GPU, by libweft_compaction_cuda.so ($WEFT_COMPACTION_CUDA_MODULE)
//   auto     cuda:0 for jobs that it would do sooner (compaction/device/job_costs.h), where it is
//            there; else cpu
//   plain    what a GPU does, on the calling thread: slow, there to test it anywhere
//
// Threads   any.
// Errors    kInvalidArgument: no such name. kUnsupported: the device is not there.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compaction/job.h"

namespace weft::compaction::device {

// Says what is wrong with a name; asks no hardware.
Status CheckName(std::string_view device);

Result<std::unique_ptr<Executor>> NewExecutorOn(const std::string& device);

}  // namespace weft::compaction::device
