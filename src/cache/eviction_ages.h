// cache/eviction_ages.h: how long evicted objects had not been used: percentiles of the last ones.
//
// A small figure says that the memory is short: what is dropped was used just before. Counts stand
// in steps of a quarter of each power of two of seconds. When there are many they are halved, so
// that old ones fade.
//
// Threads   any.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace weft::cache {

class EvictionAges {
 public:
  // One key in eight: the ages of these are recorded.
  static bool IsSample(uint64_t hash) { return (hash >> 24 & 7) == 0; }

  void Record(uint32_t age_s) {
    last_s_.store(age_s, std::memory_order_relaxed);
    counts_[StepOf(age_s)].fetch_add(1, std::memory_order_relaxed);
    if (total_.fetch_add(1, std::memory_order_relaxed) + 1 >= kKept) Halve();
  }

  uint32_t last_s() const { return last_s_.load(std::memory_order_relaxed); }
  // In seconds, rounded up to the end of a step; 0: nothing was recorded.
  uint32_t Percentile(uint32_t percent) const {
    uint64_t total = 0;
    for (const auto& count : counts_) total += count.load(std::memory_order_relaxed);
    uint64_t below = 0;
    for (uint32_t step = 0; step < kSteps; step++) {
      below += counts_[step].load(std::memory_order_relaxed);
      if (total != 0 && below * 100 >= total * percent) return EndOf(step);
    }
    return 0;
  }

 private:
  static constexpr uint32_t kSteps = 128;
  static constexpr uint32_t kKept = 1 << 16;

  // Up to 4 seconds one each.
  static uint32_t StepOf(uint32_t age_s) {
    if (age_s < 4) return age_s;
    const auto bits = static_cast<uint32_t>(std::bit_width(age_s));
    return (bits - 2) * 4 + (age_s >> (bits - 3) & 3);
  }
  // The longest of the step.
  static uint32_t EndOf(uint32_t step) {
    if (step < 4) return step;
    const uint32_t shift = step / 4 - 1;
    return static_cast<uint32_t>((uint64_t{4 + step % 4 + 1} << shift) - 1);
  }
  void Halve() {
    if (halving_.exchange(true)) return;  // by another thread, just now
    for (auto& count : counts_) {
      const uint32_t half = count.load(std::memory_order_relaxed) / 2;
      count.fetch_sub(half, std::memory_order_relaxed);
      total_.fetch_sub(half, std::memory_order_relaxed);
    }
    halving_ = false;
  }

  std::array<std::atomic<uint32_t>, kSteps> counts_{};
  std::atomic<uint32_t> total_{0};
  std::atomic<uint32_t> last_s_{0};
  std::atomic<bool> halving_{false};
};

}  // namespace weft::cache
