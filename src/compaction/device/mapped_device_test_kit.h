// compaction/device/mapped_device_test_kit.h: a device whose memory is one large range of zeros
// around what was taken, so that a stray read or write meets no fault. For tests: a GPU's memory is
// like that, so a flipped number may keep a kernel at work for hours.
//
// Memory    is never given back before Reset.
// Threads   one; one such device at a time.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "compaction/device/plain_device.h"

namespace weft::compaction::device {

class MappedDevice : public PlainDevice {
 public:
  static constexpr uint64_t kBytes = uint64_t{16} << 30;  // address space
  static constexpr uint64_t kBytesToTake = kBytes / 2;

  class Memory {
   public:
    explicit Memory(MappedDevice* device) : device_(device) {}
    Memory(Memory&&) = default;
    Memory& operator=(Memory&& other) noexcept {
      std::swap(device_, other.device_);
      return *this;
    }
    template <typename T>
    T* Take(uint64_t count) {
      return reinterpret_cast<T*>(device_->TakeBytes(count, sizeof(T)));
    }

   private:
    MappedDevice* device_;
  };

  using Upload = UploadTo<MappedDevice>;

  // Forgets all memory. REQUIRES: no device is in use
  static void Reset() {
    range_ = nullptr;
    taken_ = 0;
  }
  // Whether a kernel is at work on this thread: then a fault is the kernel's.
  static bool in_kernel() { return in_kernel_; }

  template <typename Kernel>
  void Run(uint64_t items, const Kernel& kernel) {
    in_kernel_ = true;
    PlainDevice::Run(items, kernel);
    in_kernel_ = false;
  }
  template <typename Kernel>
  void RunLanes(uint64_t items, const Kernel& kernel) {
    in_kernel_ = true;
    PlainDevice::RunLanes(items, kernel);
    in_kernel_ = false;
  }
  std::function<Status()> BeginCopyOut(std::vector<RangeOut> ranges, Memory) {
    return PlainDevice::BeginCopyOut(std::move(ranges), PlainDevice::Memory(this));
  }

 private:
  char* TakeBytes(uint64_t count, uint64_t size) {
    constexpr uint64_t kAlignment = 256;  // as of a GPU's allocations
    if (range_ == nullptr) {
      void* const mapped = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (mapped != MAP_FAILED) range_ = static_cast<char*>(mapped);
    }
    const uint64_t left = kBytesToTake - std::min(kBytesToTake, taken_ + kAlignment);
    if (range_ == nullptr || count > left / size) {
      Fail({Code::kNoMemory, "the device has no memory for a piece"});
      return nullptr;
    }
    char* const at = range_ + taken_;
    taken_ += (count * size + kAlignment) / kAlignment * kAlignment;
    return at;
  }

  static inline char* range_ = nullptr;  // stays mapped
  static inline uint64_t taken_ = 0;
  // Atomic, so that a signal handler sees each store of it.
  static inline thread_local std::atomic<bool> in_kernel_ = false;
};

}  // namespace weft::compaction::device
