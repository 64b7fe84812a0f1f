// cache/carry_account.h: how much evictions may carry forward instead of freeing it.
//
// Each evicted victim pays in a share of what it holds, and draws what it carries. So on average
// the rest is freed, even where everything was used. A victim that was used more than others need
// not be cut down: it draws what others did not need. Savings are bounded by the shares of sixteen
// victims. The account begins full.
//
// Threads   any.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace weft::cache {

class CarryAccount {
 public:
  // For what is copied. A lone object only moves in its queue and counts one read less
  // (Emptying::KeepRun), so nearly all of it may stay.
  static constexpr uint64_t kCarryPercent = 90;
  static constexpr uint64_t kStayPercent = 98;
  static constexpr uint64_t kVictimsSaved = 16;

  CarryAccount(uint64_t segment_units, uint64_t percent)
      : segment_units_(segment_units), percent_(percent) {}

  // A victim of `fill_units` is evicted, and `wanted` of its units are worth carrying. Returns how
  // many of them may be carried.
  uint64_t Draw(uint64_t fill_units, uint64_t wanted) {
    return Change(fill_units, [&](uint64_t units) { return std::min(units, wanted); });
  }
  // The same where all of it stays, or none.
  bool DrawWhole(uint64_t fill_units) {
    return Change(fill_units,
                  [&](uint64_t units) { return units < fill_units ? 0 : fill_units; }) != 0;
  }
  // Gives back what was drawn and not carried.
  void Return(uint64_t units) {
    uint64_t lacks = lacks_.load(std::memory_order_relaxed);
    while (!lacks_.compare_exchange_weak(lacks, lacks - std::min(lacks, units),
                                         std::memory_order_relaxed)) {
    }
  }

 private:
  // Pays in a victim's share and draws what `grant` allows of the sum.
  template <typename Grant>
  uint64_t Change(uint64_t fill_units, Grant grant) {
    const uint64_t share = fill_units * percent_ / 100;
    const uint64_t saved_max = std::max(segment_units_, fill_units) * kVictimsSaved;
    uint64_t lacks = lacks_.load(std::memory_order_relaxed);
    for (;;) {  // Ends: another thread has changed it each time.
      const uint64_t left = lacks - std::min(lacks, share);
      const uint64_t granted = grant(saved_max - std::min(saved_max, left));
      if (lacks_.compare_exchange_weak(lacks, left + granted, std::memory_order_relaxed))
        return granted;
    }
  }

  const uint64_t segment_units_;
  const uint64_t percent_;
  std::atomic<uint64_t> lacks_{0};  // units missing from the most that may be saved up
};

}  // namespace weft::cache
