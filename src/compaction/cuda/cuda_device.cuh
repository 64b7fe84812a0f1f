// compaction/cuda/cuda_device.cuh: a CUDA device as compactions use one: memory of a pool, copies,
// kernels and running sums. Kernels, and what must be in their order, are in one stream, uploads
// and downloads of whole pieces in one each.
//
// What it is, compaction/device/plain_device.h says. The first error stays, and nothing more is
// enqueued after it. Only Await waits: what CopyIn and Fetch copy goes through a bounce buffer.
//
// Waits     a piece waits some eight times, for tenths of a millisecond each. Where CPUs are idle
//           it looks again and again, which is quickest. On a loaded machine it sleeps: who has
//           used its slice by looking is put behind all others, who wakes goes to an idle CPU.
//           Whole pieces on their way back, which take milliseconds, are waited for asleep always.
//
// Layout    RunLanes gives each item to a warp: lane l of it is lane l. Both kinds of kernels walk
//           through their items with a grid that just fills the device.
// Threads   one thread at a time; it acts on the device that is current for the thread (Create).
// Errors    as base/cuda/cuda_status.h says.
#pragma once

#include <cuda_runtime.h>

#include <cstring>
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/cuda/cuda_status.h"
#include "base/idle_cpus.h"
#include "base/mutex.h"
#include "compaction/cuda/cufile_storage.h"
#include "compaction/cuda/pinned_memory.cuh"
#include "compaction/device/bounce_buffer.h"
#include "compaction/device/copies.h"
#include "compaction/device/kernel/checksum_lanes.h"
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

// Copies kBytes an item: at once where both ends are aligned for it.
struct CopyUnits {
  static constexpr uint64_t kBytes = sizeof(uint4);

  uint8_t* to;
  const uint8_t* from;
  uint64_t bytes;

  __device__ void operator()(uint64_t item) const {
    const uint64_t begin = item * kBytes;
    const uint64_t end = begin + kBytes < bytes ? begin + kBytes : bytes;
    const bool is_aligned =
        ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) % kBytes) == 0;
    if (is_aligned && end - begin == kBytes) {
      *reinterpret_cast<uint4*>(to + begin) = *reinterpret_cast<const uint4*>(from + begin);
      return;
    }
    for (uint64_t i = begin; i < end; i++) to[i] = from[i];
  }
};

// The device's memory, kept from one job to the next: to take a range of it is a matter of
// microseconds then. All executors of a process that use a device at once have one in common: what
// it keeps is there once, however many stores are open.
//
// Threads   any.
class CudaPool {
 public:
  CudaPool(const CudaPool&) = delete;
  CudaPool& operator=(const CudaPool&) = delete;
  ~CudaPool() {
    if (pool_ != nullptr) cudaMemPoolDestroy(pool_);  // nothing can be done about a failure
  }

  // The one that is in use, or a new one.
  static Result<std::shared_ptr<CudaPool>> Of(int number) {
    static base::Mutex mutex;
    static auto* const pools = new std::map<int, std::weak_ptr<CudaPool>>;  // for all threads' ends
    base::MutexLock lock(&mutex);
    std::weak_ptr<CudaPool>& known = (*pools)[number];
    if (std::shared_ptr<CudaPool> pool = known.lock(); pool != nullptr) return pool;
    Result<std::shared_ptr<CudaPool>> pool = Create(number);
    if (pool) known = *pool;
    return pool;
  }
  int number() const { return number_; }
  uint32_t multiprocessors() const { return static_cast<uint32_t>(multiprocessors_); }
  bool has_ecc() const { return has_ecc_ != 0; }
  // Most CPUs are busy.
  bool is_loaded() { return idle_cpus_.Count() < kIdleShareMin * idle_cpus_.cpus(); }
  cudaMemPool_t get() const { return pool_; }
  PinnedMemory* pinned() { return &pinned_; }
  DeviceStorage* storage() { return storage_.get(); }

 private:
  static constexpr double kIdleShareMin = 0.5;

  explicit CudaPool(int number) : number_(number), storage_(NewCufileStorage(number)) {}

  static Result<std::shared_ptr<CudaPool>> Create(int number) {
    std::shared_ptr<CudaPool> pool(new CudaPool(number));  // freed by the pointer
    WEFT_CUDA_TRY(cudaSetDevice(number));
    WEFT_CUDA_TRY(
        cudaDeviceGetAttribute(&pool->multiprocessors_, cudaDevAttrMultiProcessorCount, number));
    WEFT_CUDA_TRY(cudaDeviceGetAttribute(&pool->has_ecc_, cudaDevAttrEccEnabled, number));
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

  const int number_;
  base::IdleCpus idle_cpus_;
  int multiprocessors_ = 0;
  int has_ecc_ = 0;
  cudaMemPool_t pool_ = nullptr;
  PinnedMemory pinned_;
  const std::unique_ptr<DeviceStorage> storage_;  // null: there is no cuFile
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

  // A point that a stream comes to. kTimed: it tells when; kAsleep: Wait sleeps.
  class Event {
   public:
    static constexpr unsigned int kTimed = 1, kAsleep = 2;
    explicit Event(unsigned int kinds = 0)
        : flags_(((kinds & kTimed) != 0 ? 0 : cudaEventDisableTiming) |
                 ((kinds & kAsleep) != 0 ? cudaEventBlockingSync : 0)) {}
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() {
      if (event_ != nullptr) cudaEventDestroy(event_);
    }
    Status Record(cudaStream_t stream) {
      if (event_ == nullptr) {
        WEFT_CUDA_TRY(cudaEventCreateWithFlags(&event_, flags_));
      }
      WEFT_CUDA_TRY(cudaEventRecord(event_, stream));
      return Status::Ok();
    }
    // What is enqueued in `stream` from now on waits for it.
    Status HoldBack(cudaStream_t stream) const {
      WEFT_CUDA_TRY(cudaStreamWaitEvent(stream, event_));
      return Status::Ok();
    }
    Status Wait() const {
      WEFT_CUDA_TRY(cudaEventSynchronize(event_));
      return Status::Ok();
    }
    // Since `start`; 0 where a stream has not come to both. REQUIRES: both are timed
    uint64_t NsSince(const Event& start) const {
      float ms = 0;
      if (event_ == nullptr || start.event_ == nullptr ||
          cudaEventElapsedTime(&ms, start.event_, event_) != cudaSuccess) {
        (void)cudaGetLastError();  // a figure is missing, no more
        return 0;
      }
      return static_cast<uint64_t>(ms * 1e6f);
    }

   private:
    const unsigned int flags_;
    cudaEvent_t event_ = nullptr;
  };

  // As PlainDevice's; in a stream of its own, in which its memory is taken, too: else it would wait
  // for the kernels that are under way.
  class Upload {
   public:
    explicit Upload(CudaDevice* device) : device_(*device) {}
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;
    // Behind the kernels that use it. Where there are none, once the copy has ended: the host's
    // range may go after this.
    ~Upload() {
      if (to_ != nullptr && (!awaited_ || !device_.status_.ok()))
        cudaStreamSynchronize(device_.in_stream_);
      device_.times_.in_ns += copied_.NsSince(begun_);
      if (to_ != nullptr) cudaFreeAsync(to_, awaited_ ? device_.stream_ : device_.in_stream_);
    }
    void Begin(std::span<const RangeIn> ranges) {
      if (device_.status_.ok()) device_.Fail(TryBegin(ranges));
    }
    uint8_t* Await() {
      if (!device_.status_.ok()) return nullptr;
      Status status = copied_.HoldBack(device_.stream_);
      awaited_ = status.ok();
      device_.Fail(std::move(status));
      return static_cast<uint8_t*>(to_);
    }

   private:
    Status TryBegin(std::span<const RangeIn> ranges) {
      uint64_t bytes = 0;
      for (const RangeIn& range : ranges) bytes += range.bytes;
      WEFT_CUDA_TRY(cudaMallocFromPoolAsync(&to_, bytes == 0 ? 1 : bytes, device_.pool_->get(),
                                            device_.in_stream_));
      Status status = begun_.Record(device_.in_stream_);
      if (!status.ok()) return status;
      auto* to = static_cast<uint8_t*>(to_);
      for (const RangeIn& range : ranges) {
        if (range.bytes == 0) continue;
        WEFT_CUDA_TRY(cudaMemcpyAsync(to, range.from, range.bytes, cudaMemcpyHostToDevice,
                                      device_.in_stream_));
        to += range.bytes;
      }
      return copied_.Record(device_.in_stream_);
    }

    CudaDevice& device_;
    Event begun_{Event::kTimed};
    Event copied_{Event::kTimed};
    void* to_ = nullptr;
    bool awaited_ = false;
  };

  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  ~CudaDevice() {
    // What it copies through, and what is under way after an error, goes with it.
    for (const cudaStream_t stream : {stream_, in_stream_, out_stream_}) {
      if (stream != nullptr) cudaStreamSynchronize(stream);
    }
    for (const cudaStream_t stream : {stream_, in_stream_, out_stream_}) {
      if (stream != nullptr) cudaStreamDestroy(stream);  // as ~CudaPool
    }
  }

  static Result<std::unique_ptr<CudaDevice>> Create(std::shared_ptr<CudaPool> pool) {
    WEFT_CUDA_TRY(cudaSetDevice(pool->number()));
    std::unique_ptr<CudaDevice> device(new CudaDevice(std::move(pool)));  // freed by the pointer
    for (cudaStream_t* const stream :
         {&device->stream_, &device->in_stream_, &device->out_stream_}) {
      WEFT_CUDA_TRY(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    }
    return Result<std::unique_ptr<CudaDevice>>(std::move(device));
  }

  const Status& status() const { return status_; }
  void Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  // What error correction can't put right fails the next call.
  bool corrects_flips() const { return pool_->has_ecc(); }
  const CopyTimes& copy_times() const { return times_; }
  base::BufferMemory* host_memory() { return pool_->pinned(); }
  DeviceStorage* storage() { return pool_->storage(); }

  void CopyIn(void* to, const void* from, uint64_t bytes) {
    if (!status_.ok() || bytes == 0) return;
    char* const room = bounce_.Take(bytes);
    std::memcpy(room, from, bytes);
    CopyBounced(to, room, bytes, room, cudaMemcpyHostToDevice);
  }
  void Fetch(void* to, const void* from, uint64_t bytes) {
    if (!status_.ok() || bytes == 0) return;
    char* const room = bounce_.Take(bytes);
    CopyBounced(room, from, bytes, room, cudaMemcpyDeviceToHost);
    fetched_.push_back({to, room, bytes});
  }
  const Status& Await() {
    if (status_.ok()) Fail(Wait());
    if (status_.ok()) {
      for (const RangeOut& range : fetched_) std::memcpy(range.to, range.from, range.bytes);
    }
    fetched_.clear();
    // After an error something may still be under way.
    if (status_.ok()) bounce_.Clear();
    return status_;
  }
  const Status& CopyOut(void* to, const void* from, uint64_t bytes) {
    Fetch(to, from, bytes);
    return Await();
  }
  // As PlainDevice's, in a stream of its own.
  std::function<Status()> BeginCopyOut(std::vector<RangeOut> ranges, Memory memory) {
    auto download = std::make_shared<Download>(pool_->number(), std::move(memory), &times_);
    if (status_.ok()) Fail(TryDownload(ranges, download.get()));
    if (!status_.ok()) cudaStreamSynchronize(out_stream_);  // what was begun ends
    if (!status_.ok()) return [status = status_] { return status; };
    return [download] { return download->Wait(); };
  }
  void CopyThere(void* to, const void* from, uint64_t bytes) {
    if (status_.ok() && bytes != 0) Fail(TryCopy(to, from, bytes, cudaMemcpyDeviceToDevice));
  }
  void Drain() {
    for (const cudaStream_t stream : {stream_, in_stream_, out_stream_})
      cudaStreamSynchronize(stream);  // an error is known already
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
  // Its memory goes when the copy has ended.
  class Download {
   public:
    Download(int number, Memory memory, CopyTimes* times)
        : number_(number), memory_(std::move(memory)), times_(*times) {}
    ~Download() {
      if (begun) (void)Wait();  // else an error that is known already
    }
    Status Wait() {
      WEFT_CUDA_TRY(cudaSetDevice(number_));  // any thread's
      Status status = copied.Wait();
      if (status.ok() && !std::exchange(is_counted_, true)) times_.out_ns += copied.NsSince(start);
      return status;
    }

    Event made;  // what is copied
    Event start{Event::kTimed};
    Event copied{Event::kTimed | Event::kAsleep};
    bool begun = false;

   private:
    const int number_;
    Memory memory_;
    CopyTimes& times_;
    bool is_counted_ = false;
  };

  explicit CudaDevice(std::shared_ptr<CudaPool> pool)
      : pool_(std::move(pool)), sleeps_(pool_->is_loaded()), bounce_(pool_->pinned()) {}

  // By a kernel, which pinned memory is there for, too: a copy engine would do it behind the whole
  // piece that is on its way to or from the device. room: of the two the host's.
  void CopyBounced(void* to, const void* from, uint64_t bytes, const char* room,
                   cudaMemcpyKind kind) {
    if (!pool_->pinned()->IsLike(room)) return Fail(TryCopy(to, from, bytes, kind));
    Run((bytes + CopyUnits::kBytes - 1) / CopyUnits::kBytes,
        CopyUnits{static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), bytes});
  }

  Status TryDownload(const std::vector<RangeOut>& ranges, Download* download) {
    Status status = download->made.Record(stream_);
    if (status.ok()) status = download->made.HoldBack(out_stream_);
    if (status.ok()) status = download->start.Record(out_stream_);
    if (!status.ok()) return status;
    for (const RangeOut& range : ranges) {
      if (range.bytes == 0) continue;
      WEFT_CUDA_TRY(
          cudaMemcpyAsync(range.to, range.from, range.bytes, cudaMemcpyDeviceToHost, out_stream_));
    }
    status = download->copied.Record(out_stream_);
    download->begun = status.ok();
    return status;
  }

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
    if (sleeps_) {
      Status status = reached_.Record(stream_);
      return status.ok() ? reached_.Wait() : status;
    }
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
  const bool sleeps_;  // in Await
  Event reached_{Event::kAsleep};
  cudaStream_t stream_ = nullptr;      // of kernels
  cudaStream_t in_stream_ = nullptr;   // of uploads
  cudaStream_t out_stream_ = nullptr;  // of downloads
  BounceBuffer bounce_;
  std::vector<RangeOut> fetched_;  // from the bounce buffer
  CopyTimes times_;
  Status status_;
};

}  // namespace weft::compaction::device
