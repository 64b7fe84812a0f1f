// net/owned_counter.h: a number that one thread writes and any thread may read.
//
// Cheaper than a fetch_add: the writer is alone, so a plain load and store do.
// Threads: Add, Set by the owner; value by any. Relaxed: the number orders nothing else.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::net {

class OwnedCounter {
 public:
  void Add(uint64_t n) { Set(value() + n); }
  void Set(uint64_t n) { value_.store(n, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace weft::net
