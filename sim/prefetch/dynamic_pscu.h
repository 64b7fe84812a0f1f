// sim/prefetch/dynamic_pscu.h: the mean size of the values that lookups found, which software
// writes into a register now and then.
//
// Software knows each lookup's size. Here it comes with the lookup's kHit: the size of the object
// in the slot. Lookups that found nothing in the bucket itself are left out. All controllers'
// registers are written at once, with the mean over all their lookups, so they share one.
//
// Units     bytes.
// Threads   one owner.
// Source    paper 004, section 3.4; the simulator's specification, section 1.3.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sim/prefetch/lines.h"
#include "sim/prefetch/static_pscu.h"
#include "sim/prefetch/unit_counts.h"

namespace weft::sim {

class SizeRegister {
 public:
  // Before the first window is full: one line.
  static constexpr uint64_t kFirstBytes = kLineBytes;

  // REQUIRES: window > 0
  explicit SizeRegister(int window) : window_(static_cast<uint64_t>(window)) {}

  uint64_t bytes() const { return bytes_; }
  // True: a window is full, and its mean, rounded up to whole lines, was written.
  bool Learn(uint64_t value_bytes) {
    sum_ += value_bytes;
    if (++count_ < window_) return false;
    const uint64_t lines = (sum_ + window_ * kLineBytes - 1) / (window_ * kLineBytes);
    bytes_ = (lines == 0 ? 1 : lines) * kLineBytes;
    sum_ = 0;
    count_ = 0;
    return true;
  }

 private:
  const uint64_t window_;
  uint64_t bytes_ = kFirstBytes;
  uint64_t sum_ = 0;
  uint64_t count_ = 0;
};

class DynamicPscu final : public Pscu {
 public:
  DynamicPscu(std::shared_ptr<SizeRegister> size, SizeMode mode, const StoreShape& shape,
              UnitCounts* counts)
      : size_(std::move(size)), mode_(mode), shape_(shape), counts_(counts) {}

  uint64_t LinesAtOnce(const TableSlot& object) const override {
    return LineCount(object.addr, BytesToFetch(size_->bytes(), mode_, shape_));
  }
  void OnHit(const TableSlot& object) override {
    if (size_->Learn(shape_.ValueBytes(object.bytes))) ++counts_->size_registrations;
  }

 private:
  const std::shared_ptr<SizeRegister> size_;
  const SizeMode mode_;
  const StoreShape shape_;
  UnitCounts* const counts_;
};

}  // namespace weft::sim
