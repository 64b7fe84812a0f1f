#include "compaction/cuda/cuda_executor.h"

#include "compaction/cuda/cuda_device.cuh"
#include "compaction/device/device_executor.h"

namespace weft::compaction::device {

Result<std::unique_ptr<Executor>> NewCudaExecutor(int number, uint64_t piece_bytes) {
  Result<std::shared_ptr<CudaPool>> pool = CudaPool::Of(number);
  if (!pool) return pool.error();
  std::unique_ptr<Executor> executor = std::make_unique<DeviceExecutor<CudaDevice>>(
      "cuda:" + std::to_string(number), piece_bytes,
      [pool = *pool] { return CudaDevice::Create(pool); }, (*pool)->pinned());
  return Result<std::unique_ptr<Executor>>(std::move(executor));
}

}  // namespace weft::compaction::device
