// base/striped_counters.h: counters that many threads add to, cheap enough for every operation.
//
// Threads   any. Each thread adds to one of several stripes, so that threads rarely share a line;
//           Sum adds the stripes up and is a moment old.
// Cost      Add: one locked addition on a line that is mostly the thread's own.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::base {

// A small number that stays the same for a thread and differs between most threads.
inline size_t ThreadStripe() {
  static std::atomic<size_t> next{0};
  thread_local const size_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

template <size_t kCounters>
class StripedCounters {
 public:
  void Add(size_t counter, uint64_t n) {
    stripes_[ThreadStripe() % kStripes].counters[counter].fetch_add(n, std::memory_order_relaxed);
  }
  uint64_t Sum(size_t counter) const {
    uint64_t sum = 0;
    for (const Stripe& stripe : stripes_) {
      sum += stripe.counters[counter].load(std::memory_order_relaxed);
    }
    return sum;
  }

 private:
  static constexpr size_t kStripes = 16;
  struct alignas(64) Stripe {
    std::array<std::atomic<uint64_t>, kCounters> counters{};
  };
  std::array<Stripe, kStripes> stripes_;
};

}  // namespace weft::base
