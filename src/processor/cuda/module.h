// processor/cuda/module.h: what libweft_cuda.so hands to the program that loads it.
//
// A program built without a CUDA compiler finds the module beside it all the same, so the two say
// first whether they were made of the same interfaces (Fits): both compile this tree's headers.
//
// Threads   any.
#pragma once

#include <memory>
#include <vector>

#include "processor/device_info.h"
#include "processor/mirror_device.h"

namespace weft::processor {

struct CudaModule {
  // Raised when anything changes that the two share and the sizes below do not tell.
  static constexpr uint32_t kVersion = 3;

  uint32_t version = kVersion;
  uint32_t job_bytes = sizeof(task::QueryJob);
  uint32_t description_bytes = sizeof(Description);
  // All CUDA devices, also those that can't be used, with the reason.
  std::vector<DeviceInfo> (*list)() = nullptr;
  // kUnsupported: there is no such device, or it can't be used.
  Result<std::unique_ptr<MirrorDevice>> (*open)(uint32_t number) = nullptr;

  bool Fits() const {
    return version == kVersion && job_bytes == sizeof(task::QueryJob) &&
           description_bytes == sizeof(Description);
  }
};

// The module's only symbol, of this type: constant, and there as long as the program runs.
inline constexpr const char* kCudaModuleSymbol = "weft_cuda_module";
using CudaModuleFunction = const CudaModule* (*)();

}  // namespace weft::processor
