#include "compaction/device/cuda_module.h"

#include "compaction/cuda/cuda_executor.h"

extern "C" __attribute__((visibility("default"))) const weft::compaction::device::CudaModule*
weft_compaction_cuda_module() {
  static const weft::compaction::device::CudaModule module = [] {
    weft::compaction::device::CudaModule made;
    made.make = [](int number) { return weft::compaction::device::NewCudaExecutor(number); };
    return made;
  }();
  return &module;
}
