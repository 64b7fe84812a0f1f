// cache/carry_account.h: how much evictions may carry forward instead of freeing it.
//
// Each evicted victim pays in a share of what it holds, and draws what it carries. So the rest is
// freed in the mean, even where everything was used, and a victim that was used more than others is
// not cut down for it: what others did not need pays for it. What is saved up is bounded, to that
// of sixteen victims. The account begins full.
//
// Threads   any.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace weft::cache {

class CarryAccount {
 public:
  // Of what is copied. What lies alone only gets another place in its queue and is read less often
  // for it (Emptying::KeepRun), so that nearly all of it may.
  static constexpr uint64_t kCarryPercent = 90;
  static constexpr uint64_t kStayPercent = 98;
  static constexpr uint64_t kVictimsSaved = 16;

  CarryAccount(uint64_t segment_units, uint64_t percent)
      : segment_units_(segment_units), percent_(percent) {}

  // A victim of `fill_units` is evicted, of which `wanted` are worth carrying. Returns how many of
  // them may be.
  uint64_t Draw(uint64_t fill_units, uint64_t wanted) {
    return Change(fill_units, [&](uint64_t units) { return std::min(units, wanted); });
  }
  // The same where all of it stays or nothing.
  bool DrawWhole(uint64_t fill_units) {
    return Change(fill_units,
                  [&](uint64_t units) { return units < fill_units ? 0 : fill_units; }) != 0;
  }
  // What was drawn and not carried.
  void Return(uint64_t units) {
    uint64_t lacks = lacks_.load(std::memory_order_relaxed);
    while (!lacks_.compare_exchange_weak(lacks, lacks - std::min(lacks, units),
                                         std::memory_order_relaxed)) {
    }
  }

 private:
  // Pays in a victim's share and draws what `grant` says of the sum.
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
  std::atomic<uint64_t> lacks_{0};  // units, of what may be saved up
};

}  // namespace weft::cache
