#include "base/cuda/cuda_status.h"

#include <cuda_runtime.h>

namespace weft::base {
namespace {

Code CodeOf(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation: return Code::kNoMemory;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorNotSupported: return Code::kUnsupported;
    case cudaErrorInvalidValue: return Code::kInvalidArgument;
    default: return Code::kDeviceLost;
  }
}

}  // namespace

Status CudaStatus(int error, const char* what, const char* file, int line) {
  if (error == 0) return Status::Ok();
  const cudaError_t cuda = static_cast<cudaError_t>(error);
  int device = -1;
  if (cudaGetDevice(&device) != cudaSuccess) device = -1;
  cudaGetLastError();  // an error that can be got over is told once
  return {CodeOf(cuda), "cuda:" + std::to_string(device) + " " + what + ": " +
                            cudaGetErrorString(cuda) + " (" + cudaGetErrorName(cuda) + ") at " +
                            file + ":" + std::to_string(line)};
}

Status LaunchStatus(const char* what, const char* file, int line) {
  return CudaStatus(static_cast<int>(cudaGetLastError()), what, file, line);
}

}  // namespace weft::base
