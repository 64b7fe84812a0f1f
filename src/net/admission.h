// net/admission.h: how many connections may be open at once, over all loops.
//
// Threads: any. The counters carry no data, so relaxed order is enough.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::net {

class Admission {
 public:
  explicit Admission(uint32_t connections_max) : connections_max_(connections_max) {}

  // Counts one connection in; false (and counted as refused) when the house is full.
  bool TryEnter() {
    uint32_t open = open_.load(std::memory_order_relaxed);
    do {
      if (open >= connections_max_) {
        refused_.fetch_add(1, std::memory_order_relaxed);
        return false;
      }
    } while (!open_.compare_exchange_weak(open, open + 1, std::memory_order_relaxed));
    return true;
  }
  // REQUIRES: one TryEnter that said true.
  void Leave() { open_.fetch_sub(1, std::memory_order_relaxed); }

  uint32_t connections_max() const { return connections_max_; }
  uint32_t open() const { return open_.load(std::memory_order_relaxed); }
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  const uint32_t connections_max_;
  std::atomic<uint32_t> open_{0};
  std::atomic<uint64_t> refused_{0};
};

}  // namespace weft::net
