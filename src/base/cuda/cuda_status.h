// base/cuda/cuda_status.h: the one place where an error of CUDA becomes a Status.
//
//   kNoMemory      the device has not enough memory: ask for less
//   kUnsupported   no device, no driver, or one too old for this program: go on without
//   kDeviceLost    anything else: results since the last wait are worth nothing
#pragma once

#include "weft/status.h"

namespace weft::base {

// Status of a cudaError_t (an int here, so that callers need no CUDA header). `what`: the call.
Status CudaStatus(int error, const char* what, const char* file, int line);

// Of the last launch.
Status LaunchStatus(const char* what, const char* file, int line);

}  // namespace weft::base

// Returns from the function where `call`, which gives a cudaError_t, fails.
#define WEFT_CUDA_TRY(call)                                                        \
  do {                                                                             \
    const int weft_cuda_error = static_cast<int>(call);                            \
    if (weft_cuda_error != 0)                                                      \
      return ::weft::base::CudaStatus(weft_cuda_error, #call, __FILE__, __LINE__); \
  } while (false)
