// processor/cuda/module.h: what libweft_cuda.so gives to the program that loads it.
//
// Even a program built without a CUDA compiler finds the module beside it. So the two first check
// that they were made from the same interfaces (Fits): both compile this tree's headers.
//
// Threads   any.
#pragma once

#include <memory>
#include <vector>

#include "processor/device_info.h"
#include "processor/mirror/mirror_device.h"

namespace weft::processor {

struct CudaModule {
  // Raised when a shared interface changes in a way that the sizes below do not show.
  static constexpr uint32_t kVersion = 3;

  uint32_t version = kVersion;
  uint32_t job_bytes = sizeof(task::QueryJob);
  uint32_t description_bytes = sizeof(Description);
  // All CUDA devices; those that can't be used have the reason.
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
