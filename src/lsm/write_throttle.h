// lsm/write_throttle.h: admits writes at the rate at which compaction keeps up.
//
// A store that falls behind with compaction must slow its writers down, or it has to stop them.
// LevelDB does so by sleeping a millisecond for each write, and by stopping. Here every write is
// put off by its own size, at a rate that follows how far behind the store is. So writers feel an
// even rate instead of pauses.
//
//   rate = drain rate x 2 x (1 - pressure),   pressure from 0 (none) to 1 (stop)
//
// At pressure 1/2 writes come in exactly as fast as they are worked off, so a steady overload
// settles there.
//
// The delay has a bound: behind one batch of many megabytes others wait a quarter of a second, not
// the minute that it may count for. A large write waits for its own bytes, up to that bound; the
// excess comes in at once, and the store stops writers if that is too much.
//
// Threads   Admit: any. Set: one at a time.
// Cost      an atomic load while writes are free.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace weft::lsm {

// The time that a throttle goes by: tests give their own.
struct ThrottleClock {
  static void Sleep(uint64_t ns);

  uint64_t (*now_ns)() = base::NowNs;
  void (*sleep_ns)(uint64_t ns) = Sleep;
};

class WriteThrottle {
 public:
  static constexpr uint64_t kFree = 0;

  explicit WriteThrottle(ThrottleClock clock = {}) : clock_(clock) {}

  // Bytes a second from now on; kFree: no limit.
  void Set(uint64_t bytes_per_second) { rate_.store(bytes_per_second, std::memory_order_relaxed); }
  uint64_t rate() const { return rate_.load(std::memory_order_relaxed); }

  // Nobody waits longer than this for earlier writes.
  static constexpr uint64_t kDebtNsMax = 250'000'000;
  // How long the next write would have to wait.
  uint64_t DebtNs() const;

  // Waits until `bytes` may be written and returns the microseconds it took, mostly 0.
  uint64_t Admit(uint64_t bytes) {
    const uint64_t rate = this->rate();
    return rate == kFree ? 0 : Wait(bytes, rate);
  }

 private:
  // Shorter waits are saved up: a sleep takes some 50 us longer than asked for.
  static constexpr uint64_t kWaitNsMin = 60'000;
  // One sleep is never longer, so that a better rate is noticed soon. A small write sleeps once and
  // leaves the rest of its wait to those behind it. One that counts for longer waits for itself.
  static constexpr uint64_t kWaitNsMax = 20'000'000;

  uint64_t Wait(uint64_t bytes, uint64_t rate);

  const ThrottleClock clock_;
  std::atomic<uint64_t> rate_{kFree};
  std::atomic<uint64_t> free_at_ns_{0};  // when what was admitted so far has passed
};

// What the store knows of its own lag. The functions on it are pure, and tested alone.
struct WriteLag {
  int level0_tables = 0;
  int level0_slowdown_trigger = 8;
  int level0_stop_trigger = 12;
  int immutable_memtables = 0;
  int immutable_memtables_max = 2;
  uint64_t debt_bytes = 0;
  uint64_t store_bytes = 0;   // all tables
  uint64_t level1_bytes = 0;  // level 1's target: about what level 0 brings at once
};

// From 0 (none) to 1.
double WritePressure(const WriteLag& lag);

// Bytes a second that writers may bring under that pressure, if `drain_rate` is worked off.
uint64_t WriteRate(double pressure, double drain_rate);

}  // namespace weft::lsm
