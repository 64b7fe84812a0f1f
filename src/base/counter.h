// base/counter.h: a statistics counter with one writer and any number of readers.
//
// Threads   Add: one thread. value: any, a moment old.
// Cost      a plain load, add and store: no locked instruction.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::base {

class Counter {
 public:
  void Add(uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace weft::base
