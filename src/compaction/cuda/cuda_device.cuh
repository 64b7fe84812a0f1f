// compaction/cuda/cuda_device.cuh: a CUDA device as compactions use one: memory of a pool, copies,
// kernels and running sums, all in one stream.
//
// What it is, PieceRun's phases ask: compaction/device/plain_device.h says it. The first error
// stays, and nothing more is enqueued after it. Only CopyOut waits.
//
// Layout    RunLanes gives each item to a warp: lane l of it is lane l. Both kinds of kernels walk
//           through their items with a grid that just fills the device.
// Threads   one thread at a time; it acts on the device that is current for the thread (Use).
// Errors    as base/cuda/cuda_status.h says.
#pragma once

#include <cuda_runtime.h>

#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/cuda/cuda_status.h"
#include "compaction/device/checksum_lanes.h"
#include "weft/status.h"

namespace weft::compaction::device {

inline constexpr uint32_t kBlockThreads = 256;

template <typename Kernel>
__global__ void __launch_bounds__(kBlockThreads) RunKernel(uint64_t items, Kernel kernel) {
  const uint64_t threads = uint64_t{gridDim.x} * kBlockThreads;
  for (uint64_t i = uint64_t{blockIdx.x} * kBlockThreads + threadIdx.x; i < items; i += threads) {
    kernel(i);
  }
}

template <typename Kernel>
__global__ void __launch_bounds__(kBlockThreads) RunLanesKernel(uint64_t items, Kernel kernel) {
  constexpr uint32_t kBlockWarps = kBlockThreads / kLanes;
  const uint32_t lane = threadIdx.x % kLanes;
  const uint64_t warps = uint64_t{gridDim.x} * kBlockWarps;
  for (uint64_t i = uint64_t{blockIdx.x} * kBlockWarps + threadIdx.x / kLanes; i < items;
       i += warps) {
    const uint32_t sum = __reduce_xor_sync(~0u, kernel.Lane(i, lane));
    if (lane == 0) kernel.Finish(i, sum);
  }
}

// The device's memory, kept from one job to the next: to take a range of it is a matter of
// microseconds then.
class CudaPool {
 public:
  CudaPool(const CudaPool&) = delete;
  CudaPool& operator=(const CudaPool&) = delete;
  ~CudaPool() {
    if (pool_ != nullptr) cudaMemPoolDestroy(pool_);  // nothing can be done about a failure
  }

  static Result<std::shared_ptr<CudaPool>> Create(int number) {
    std::shared_ptr<CudaPool> pool(new CudaPool(number));  // freed by the pointer
    WEFT_CUDA_TRY(cudaSetDevice(number));
    WEFT_CUDA_TRY(
        cudaDeviceGetAttribute(&pool->multiprocessors_, cudaDevAttrMultiProcessorCount, number));
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = number;
    WEFT_CUDA_TRY(cudaMemPoolCreate(&pool->pool_, &properties));
    uint64_t keep_bytes = ~uint64_t{0};
    WEFT_CUDA_TRY(
        cudaMemPoolSetAttribute(pool->pool_, cudaMemPoolAttrReleaseThreshold, &keep_bytes));
    return Result<std::shared_ptr<CudaPool>>(std::move(pool));
  }
  int number() const { return number_; }
  uint32_t multiprocessors() const { return static_cast<uint32_t>(multiprocessors_); }
  cudaMemPool_t get() const { return pool_; }

 private:
  explicit CudaPool(int number) : number_(number) {}

  const int number_;
  int multiprocessors_ = 0;
  cudaMemPool_t pool_ = nullptr;
};

class CudaDevice {
 public:
  class Memory {
   public:
    explicit Memory(CudaDevice* device) : device_(device) {}
    Memory(Memory&&) = default;
    Memory& operator=(Memory&& other) noexcept {
      std::swap(device_, other.device_);
      std::swap(ranges_, other.ranges_);
      return *this;
    }
    // What is enqueued may still use it: the stream frees it behind that.
    ~Memory() {
      for (void* const range : ranges_) cudaFreeAsync(range, device_->stream_);
    }
    template <typename T>
    T* Take(uint64_t count) {
      void* const range = device_->Allocate(count * sizeof(T));
      if (range != nullptr) ranges_.push_back(range);
      return static_cast<T*>(range);
    }

   private:
    CudaDevice* device_;
    std::vector<void*> ranges_;
  };

  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  ~CudaDevice() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);  // as ~CudaPool
  }

  static Result<std::unique_ptr<CudaDevice>> Create(std::shared_ptr<CudaPool> pool) {
    WEFT_CUDA_TRY(cudaSetDevice(pool->number()));
    std::unique_ptr<CudaDevice> device(new CudaDevice(std::move(pool)));  // freed by the pointer
    WEFT_CUDA_TRY(cudaStreamCreateWithFlags(&device->stream_, cudaStreamNonBlocking));
    return Result<std::unique_ptr<CudaDevice>>(std::move(device));
  }

  const Status& status() const { return status_; }
  void Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  void CopyIn(void* to, const void* from, uint64_t bytes) {
    if (!status_.ok() || bytes == 0) return;
    Fail(TryCopy(to, from, bytes, cudaMemcpyHostToDevice));
  }
  // Waits for all that was enqueued, and tells what went wrong in it.
  void CopyOut(void* to, const void* from, uint64_t bytes) {
    if (!status_.ok() || bytes == 0) return;
    Fail(TryCopy(to, from, bytes, cudaMemcpyDeviceToHost));
    if (status_.ok()) Fail(Wait());
  }
  void Fill(void* at, uint8_t byte, uint64_t bytes) {
    if (!status_.ok() || bytes == 0) return;
    Fail(TryFill(at, byte, bytes));
  }

  template <typename Kernel>
  void Run(uint64_t items, const Kernel& kernel) {
    if (!status_.ok() || items == 0) return;
    RunKernel<<<Blocks(items), kBlockThreads, 0, stream_>>>(items, kernel);
    Fail(base::LaunchStatus("RunKernel", __FILE__, __LINE__));
  }
  template <typename Kernel>
  void RunLanes(uint64_t items, const Kernel& kernel) {
    if (!status_.ok() || items == 0) return;
    RunLanesKernel<<<Blocks(items * kLanes), kBlockThreads, 0, stream_>>>(items, kernel);
    Fail(base::LaunchStatus("RunLanesKernel", __FILE__, __LINE__));
  }
  void RunSums(const uint32_t* values, uint64_t count, uint64_t* sums) {
    if (!status_.ok()) return;
    Fail(TrySums(values, count, sums));
  }

 private:
  explicit CudaDevice(std::shared_ptr<CudaPool> pool) : pool_(std::move(pool)) {}

  uint32_t Blocks(uint64_t threads) const {
    constexpr uint32_t kBlocksOfMultiprocessor = 8;
    const uint64_t needed = (threads + kBlockThreads - 1) / kBlockThreads;
    const uint64_t most = uint64_t{pool_->multiprocessors()} * kBlocksOfMultiprocessor;
    return static_cast<uint32_t>(needed < most ? needed : most);
  }
  void* Allocate(uint64_t bytes) {
    if (!status_.ok()) return nullptr;
    void* range = nullptr;
    Fail(TryAllocate(bytes, &range));
    return range;
  }
  Status TryAllocate(uint64_t bytes, void** range) {
    // A range of no bytes has an address, too.
    WEFT_CUDA_TRY(cudaMallocFromPoolAsync(range, bytes == 0 ? 1 : bytes, pool_->get(), stream_));
    return Status::Ok();
  }
  Status TryCopy(void* to, const void* from, uint64_t bytes, cudaMemcpyKind kind) {
    WEFT_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, kind, stream_));
    return Status::Ok();
  }
  Status TryFill(void* at, uint8_t byte, uint64_t bytes) {
    WEFT_CUDA_TRY(cudaMemsetAsync(at, byte, bytes, stream_));
    return Status::Ok();
  }
  Status Wait() {
    WEFT_CUDA_TRY(cudaStreamSynchronize(stream_));
    return Status::Ok();
  }
  Status TrySums(const uint32_t* values, uint64_t count, uint64_t* sums) {
    WEFT_CUDA_TRY(cudaMemsetAsync(sums, 0, sizeof *sums, stream_));
    if (count == 0) return Status::Ok();
    const auto scan = [&](void* room, size_t* room_bytes) {
      return cub::DeviceScan::InclusiveScanInit(room, *room_bytes, values, sums + 1,
                                                cuda::std::plus<uint64_t>(), uint64_t{0}, count,
                                                stream_);
    };
    size_t room_bytes = 0;
    WEFT_CUDA_TRY(scan(nullptr, &room_bytes));
    Memory memory(this);
    void* const room = memory.Take<uint8_t>(room_bytes);
    if (!status_.ok()) return status_;
    WEFT_CUDA_TRY(scan(room, &room_bytes));
    return Status::Ok();
  }

  const std::shared_ptr<CudaPool> pool_;
  cudaStream_t stream_ = nullptr;
  Status status_;
};

}  // namespace weft::compaction::device
