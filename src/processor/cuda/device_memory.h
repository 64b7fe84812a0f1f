// processor/cuda/device_memory.h: memory of a CUDA device, and what a host does with it. No CUDA
// header is needed to call.
//
// Threads   values; distinct ones may be used at once. All of it acts on the device that is current
//           for the calling thread (SetDevice).
// Errors    as base/cuda/cuda_status.h says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "processor/cuda/kernels.h"
#include "weft/status.h"

namespace weft::processor {

struct DeviceFacts {
  std::string name;
  uint64_t memory_bytes = 0;
  uint64_t cache_bytes = 0;  // of the second level
  uint32_t multiprocessors = 0;
  int driver = 0;  // CUDA version that the driver knows: 13000 is 13.0
};

// kUnsupported: no driver, or one that is too old.
Result<int> DeviceCount();
// Makes device `number` the calling thread's. kUnsupported: there is none.
Status SetDevice(int number);
// Asks the driver alone: nothing is made on the device. kUnsupported: there is none, or it takes no
// programs.
Result<DeviceFacts> FactsOfDevice(int number);
// Bytes of the current device's memory that are free.
Result<uint64_t> FreeBytes();

// Enqueue. `to` is pinned.
Status CopyToHost(void* to, const void* from, size_t bytes, CudaStream stream);

// Waits until all that was enqueued is done; tells what went wrong in it.
Status WaitForStream(CudaStream stream);

// A stream of its own.
class Stream {
 public:
  Stream() = default;
  Stream(Stream&& other) noexcept { *this = std::move(other); }
  Stream& operator=(Stream&& other) noexcept;
  ~Stream();
  static Result<Stream> Create();
  CudaStream get() const { return stream_; }

 private:
  CudaStream stream_ = nullptr;
};

// A point in a stream.
class Event {
 public:
  Event() = default;
  Event(Event&& other) noexcept { *this = std::move(other); }
  Event& operator=(Event&& other) noexcept;
  ~Event();
  static Result<Event> Create();

  Status Record(CudaStream stream);
  // Whether the stream has come to it, or can't any more; true where it was never recorded.
  bool IsPassed() const;
  // Waits until it has, and tells what went wrong before it.
  Status Wait() const;
  // What is enqueued in `stream` from now on waits for it there; for nothing where it was never
  // recorded.
  Status HoldBack(CudaStream stream) const;

 private:
  CUevent_st* event_ = nullptr;
};

// A range of device memory, freed with its owner.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  // Bytes of unknown content.
  static Result<DeviceBuffer> Create(size_t bytes);

  void* data() const { return data_; }
  size_t size() const { return size_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

  // All of it, or its first bytes. Waits until done.
  Status CopyIn(const void* from, size_t bytes);
  Status CopyOut(void* to, size_t bytes) const;
  // Enqueues.
  Status Fill(uint8_t byte, CudaStream stream);

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

// Host memory that the device copies from and to at full speed.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  PinnedBuffer(PinnedBuffer&& other) noexcept { *this = std::move(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;
  ~PinnedBuffer();
  static Result<PinnedBuffer> Create(size_t bytes);
  void* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace weft::processor
