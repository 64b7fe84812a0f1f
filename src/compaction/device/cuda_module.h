// compaction/device/cuda_module.h: what libweft_compaction_cuda.so hands to the program that loads
// it.
//
// Both sides say first whether they were made of the same interfaces (Fits): both compile this
// tree's headers.
//
// Threads   any.
#pragma once

#include <cstdint>
#include <memory>

#include "compaction/job.h"

namespace weft::compaction::device {

struct CudaModule {
  // Raised when anything changes that the two share and the sizes below do not tell.
  static constexpr uint32_t kVersion = 3;

  uint32_t version = kVersion;
  uint32_t job_bytes = sizeof(Job);
  uint32_t host_bytes = sizeof(JobHost);
  uint32_t result_bytes = sizeof(JobResult);
  // kUnsupported: there is no such device, or it can't be used.
  Result<std::unique_ptr<Executor>> (*make)(int number) = nullptr;

  bool Fits() const {
    return version == kVersion && job_bytes == sizeof(Job) && host_bytes == sizeof(JobHost) &&
           result_bytes == sizeof(JobResult);
  }
};

// The module's only symbol, of this type: constant, and there as long as the program runs.
inline constexpr const char* kCudaModuleSymbol = "weft_compaction_cuda_module";
using CudaModuleFunction = const CudaModule* (*)();

}  // namespace weft::compaction::device
