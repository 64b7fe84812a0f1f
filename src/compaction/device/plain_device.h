// compaction/device/plain_device.h: runs a device's kernels on the calling thread, item after item.
//
// Shows what the phases of a piece need of a device: its own memory, copies, kernels and running
// sums. The first error stays, and everything asked for after it is skipped: whoever needs a result
// looks at status().
//
// Threads   one thread at a time, except as BeginCopyOut says.
// Errors    kNoMemory beyond memory_bytes_max.
// Cost      a small part of a GPU's speed: it is there so that every machine can test what kernels
//           do, lanes included.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/buffer_memory.h"
#include "base/clock.h"
#include "compaction/device/copies.h"
#include "compaction/device/device_storage.h"
#include "compaction/device/kernel/checksum_lanes.h"
#include "weft/status.h"

namespace weft::compaction::device {

class PlainDevice {
 public:
  // Ranges of the device's memory that are freed together.
  class Memory {
   public:
    explicit Memory(PlainDevice* device) : device_(device) {}
    Memory(Memory&&) = default;
    Memory& operator=(Memory&& other) noexcept {
      std::swap(device_, other.device_);
      std::swap(ranges_, other.ranges_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Memory() {
      if (!ranges_.empty()) device_->bytes_taken_ -= bytes_;
    }
    // Room for `count` of T, with unknown content; null if there is none.
    template <typename T>
    T* Take(uint64_t count) {
      const uint64_t bytes = count * sizeof(T);
      if (!device_->Reserve(bytes)) return nullptr;
      bytes_ += bytes;
      ranges_.push_back(std::make_unique_for_overwrite<uint64_t[]>((bytes + 7) / 8));
      return reinterpret_cast<T*>(ranges_.back().get());
    }

   private:
    PlainDevice* device_;
    std::vector<std::unique_ptr<uint64_t[]>> ranges_;
    uint64_t bytes_ = 0;
  };

  // Copies to the device while kernels run. Here nothing is copied before it must be, so that
  // errors about the lifetimes of both ranges show.
  template <typename Device>
  class UploadTo {
   public:
    explicit UploadTo(Device* device) : device_(device), memory_(device) {}
    // The ranges must stay as they are until the device has been waited for after Await.
    void Begin(std::span<const RangeIn> ranges) {
      uint64_t bytes = 0;
      for (const RangeIn& range : ranges) bytes += range.bytes;
      to_ = memory_.template Take<uint8_t>(bytes);
      ranges_.assign(ranges.begin(), ranges.end());
    }
    // Where the bytes are for all kernels run from now on, while this lives.
    uint8_t* Await() {
      if (!device_->status().ok()) return nullptr;
      const uint64_t start_ns = base::NowNs();
      uint8_t* to = to_;
      for (const RangeIn& range : ranges_) {
        device_->CopyIn(to, range.from, range.bytes);
        to += range.bytes;
      }
      device_->times_.in_ns += base::NowNs() - start_ns;
      return to_;
    }

   private:
    Device* device_;
    typename Device::Memory memory_;
    uint8_t* to_ = nullptr;
    std::vector<RangeIn> ranges_;
  };
  using Upload = UploadTo<PlainDevice>;

  explicit PlainDevice(uint64_t memory_bytes_max = ~uint64_t{0}, DeviceStorage* storage = nullptr)
      : memory_bytes_max_(memory_bytes_max), storage_(storage) {}

  const Status& status() const { return status_; }
  void Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  // Whether a bit that flips in its memory is corrected, or found.
  bool corrects_flips() const { return true; }
  // Of uploads that were sent, and of copies that BeginCopyOut's function waited for.
  const CopyTimes& copy_times() const { return times_; }
  // The host memory that is copied fastest; null: any.
  base::BufferMemory* host_memory() { return nullptr; }
  // For reading files itself; null: it can't.
  DeviceStorage* storage() { return storage_; }

  // To the device. The host's range may be used again at once.
  void CopyIn(void* to, const void* from, uint64_t bytes) {
    if (status_.ok() && bytes != 0) std::memcpy(to, from, bytes);
  }
  // Back: `to` has the bytes after the next Await, if that finds no error.
  void Fetch(void* to, const void* from, uint64_t bytes) {
    if (status_.ok() && bytes != 0) fetched_.push_back({to, from, bytes});
  }
  // Waits for all that was asked for, and returns the first error.
  const Status& Await() {
    for (const RangeOut& range : fetched_) std::memcpy(range.to, range.from, range.bytes);
    fetched_.clear();
    return status_;
  }
  const Status& CopyOut(void* to, const void* from, uint64_t bytes) {
    Fetch(to, from, bytes);
    return Await();
  }
  // Copies back while further kernels run. The returned function waits for it, on any thread, as
  // long as the device lives. The ranges lie in `memory`, which is freed with the function.
  std::function<Status()> BeginCopyOut(std::vector<RangeOut> ranges, Memory memory) {
    if (!status_.ok()) return [status = status_] { return status; };
    return [this, ranges = std::move(ranges), kept = std::make_shared<Memory>(std::move(memory))] {
      const uint64_t start_ns = base::NowNs();
      for (const RangeOut& range : ranges) {
        if (range.bytes != 0) std::memcpy(range.to, range.from, range.bytes);
      }
      times_.out_ns += base::NowNs() - start_ns;
      return Status::Ok();
    };
  }
  // From one range on the device to another.
  void CopyThere(void* to, const void* from, uint64_t bytes) {
    if (status_.ok() && bytes != 0) std::memcpy(to, from, bytes);
  }
  // Waits for all that was asked for, whatever went wrong.
  void Drain() {}
  void Fill(void* at, uint8_t byte, uint64_t bytes) {
    if (status_.ok() && bytes != 0) std::memset(at, byte, bytes);
  }

  // kernel(i) of every i below `items`.
  template <typename Kernel>
  void Run(uint64_t items, const Kernel& kernel) {
    for (uint64_t i = 0; i < items && status_.ok(); i++) kernel(i);
  }
  // Each item by kLanes lanes.
  template <typename Kernel>
  void RunLanes(uint64_t items, const Kernel& kernel) {
    for (uint64_t i = 0; i < items && status_.ok(); i++) {
      uint32_t sum = 0;
      for (uint32_t lane = 0; lane < kLanes; lane++) sum ^= kernel.Lane(i, lane);
      kernel.Finish(i, sum);
    }
  }
  // sums[i]: of the values before i; count + 1 of them.
  void RunSums(const uint32_t* values, uint64_t count, uint64_t* sums) {
    if (!status_.ok()) return;
    sums[0] = 0;
    for (uint64_t i = 0; i < count; i++) sums[i + 1] = sums[i] + values[i];
  }

 private:
  bool Reserve(uint64_t bytes) {
    if (!status_.ok()) return false;
    if (bytes > memory_bytes_max_ - bytes_taken_.load()) {
      Fail({Code::kNoMemory, "the device has no memory for a piece"});
      return false;
    }
    bytes_taken_ += bytes;
    return true;
  }
  const uint64_t memory_bytes_max_;
  DeviceStorage* const storage_;
  std::atomic<uint64_t> bytes_taken_{0};  // any thread frees
  std::vector<RangeOut> fetched_;
  CopyTimes times_;
  Status status_;
};

}  // namespace weft::compaction::device
