// compaction/device/flipping_device_test_kit.h: a device in whose memory one bit flips, between two
// of the things that it is asked to run. For tests.
//
// Where a bit flips  in a range that somebody has taken and not given back; where only bytes may
//           flip, in one of bytes: what has been parsed, and is written. A number that a kernel
//           believes may send it anywhere, which on the host is the end of the test.
// Threads   as the device's.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/buffer_memory.h"
#include "compaction/device/copies.h"
#include "compaction/device/device_storage.h"
#include "weft/status.h"

namespace weft::compaction::device {

// When a bit flips, and which.
struct Flip {
  uint64_t before_run = ~uint64_t{0};  // number of all that is run, from 0 on
  uint64_t random = 0;                 // says range, byte and bit
  bool bytes_only = true;
  std::function<void()> instead{};  // of flipping one; null: one flips
};

// What devices of one executor have seen, for the test.
struct FlipCounts {
  uint64_t runs = 0;
  uint64_t flips = 0;
};

template <typename Base>
class FlippingDevice {
 public:
  class Memory {
   public:
    explicit Memory(FlippingDevice* device) : device_(device), memory_(device->base_.get()) {}
    Memory(Memory&&) = default;
    Memory& operator=(Memory&& other) noexcept {
      std::swap(device_, other.device_);
      std::swap(memory_, other.memory_);
      std::swap(taken_, other.taken_);
      return *this;
    }
    ~Memory() {
      for (uint8_t* const at : taken_) device_->taken_.erase(at);
    }
    template <typename T>
    T* Take(uint64_t count) {
      T* const at = memory_.template Take<T>(count);
      if (at != nullptr && count != 0 &&
          (std::is_same_v<T, uint8_t> || !device_->flip_.bytes_only)) {
        taken_.push_back(reinterpret_cast<uint8_t*>(at));
        device_->taken_[taken_.back()] = count * sizeof(T);
      }
      return at;
    }

   private:
    friend FlippingDevice;
    FlippingDevice* device_;
    typename Base::Memory memory_;
    std::vector<uint8_t*> taken_;
  };

  class Upload {
   public:
    explicit Upload(FlippingDevice* device) : upload_(device->base_.get()) {}
    void Begin(std::span<const RangeIn> ranges) { upload_.Begin(ranges); }
    uint8_t* Await() { return upload_.Await(); }

   private:
    typename Base::Upload upload_;
  };

  FlippingDevice(std::unique_ptr<Base> base, const Flip& flip, FlipCounts* counts)
      : base_(std::move(base)), flip_(flip), counts_(*counts) {}

  bool corrects_flips() const { return false; }
  const Status& status() const { return base_->status(); }
  void Fail(Status status) { base_->Fail(std::move(status)); }
  const CopyTimes& copy_times() const { return base_->copy_times(); }
  base::BufferMemory* host_memory() { return base_->host_memory(); }
  DeviceStorage* storage() { return base_->storage(); }
  void CopyIn(void* to, const void* from, uint64_t bytes) { base_->CopyIn(to, from, bytes); }
  void Fetch(void* to, const void* from, uint64_t bytes) { base_->Fetch(to, from, bytes); }
  const Status& Await() { return base_->Await(); }
  const Status& CopyOut(void* to, const void* from, uint64_t bytes) {
    return base_->CopyOut(to, from, bytes);
  }
  std::function<Status()> BeginCopyOut(std::vector<RangeOut> ranges, Memory memory) {
    return base_->BeginCopyOut(std::move(ranges), std::move(memory.memory_));
  }
  void CopyThere(void* to, const void* from, uint64_t bytes) { base_->CopyThere(to, from, bytes); }
  void Drain() { base_->Drain(); }
  void Fill(void* at, uint8_t byte, uint64_t bytes) { base_->Fill(at, byte, bytes); }
  template <typename Kernel>
  void Run(uint64_t items, const Kernel& kernel) {
    FlipWhenDue();
    base_->Run(items, kernel);
  }
  template <typename Kernel>
  void RunLanes(uint64_t items, const Kernel& kernel) {
    FlipWhenDue();
    base_->RunLanes(items, kernel);
  }
  void RunSums(const uint32_t* values, uint64_t count, uint64_t* sums) {
    FlipWhenDue();
    base_->RunSums(values, count, sums);
  }

 private:
  void FlipWhenDue() {
    if (counts_.runs++ != flip_.before_run) return;
    if (flip_.instead != nullptr) return flip_.instead();
    if (taken_.empty()) return;
    auto range = taken_.begin();
    std::advance(range, static_cast<ptrdiff_t>(flip_.random % taken_.size()));
    uint8_t* const at = range->first + (flip_.random >> 16) % range->second;
    uint8_t byte = 0;
    base_->CopyOut(&byte, at, 1);
    byte = static_cast<uint8_t>(byte ^ (1u << (flip_.random >> 8) % 8));
    base_->CopyIn(at, &byte, 1);
    counts_.flips++;
  }

  const std::unique_ptr<Base> base_;
  const Flip flip_;
  FlipCounts& counts_;
  std::map<uint8_t*, uint64_t> taken_;  // bytes of each
};

}  // namespace weft::compaction::device
