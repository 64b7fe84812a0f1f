#include "lsm/write_throttle.h"

#include <ctime>

#include <algorithm>

namespace weft::lsm {

namespace {

// Debt up to this is normal work: compaction of a small store, or an eighth of a large one, or
// level 0 on its way down, which pushes as much on from each level that is full.
constexpr uint64_t kDebtBytesFree = 256u << 20;
constexpr uint64_t kDebtShareFree = 8;
constexpr uint64_t kDebtLevelsFree = 4;  // times level 1
// Debt slows; it alone never stops.
constexpr double kDebtPressureMax = 0.9;
// Slower than this helps nobody.
constexpr double kBytesPerSecondMin = 1 << 20;

}  // namespace

void ThrottleClock::Sleep(uint64_t ns) {
  timespec time{static_cast<time_t>(ns / 1'000'000'000u), static_cast<long>(ns % 1'000'000'000u)};
  nanosleep(&time, nullptr);
}

uint64_t WriteThrottle::DebtNs() const {
  const uint64_t now = clock_.now_ns();
  const uint64_t free_at = free_at_ns_.load(std::memory_order_relaxed);
  return free_at > now ? free_at - now : 0;
}

uint64_t WriteThrottle::Wait(uint64_t bytes, uint64_t rate) {
  const uint64_t cost_ns = bytes * 1'000'000'000u / rate;
  const uint64_t now = clock_.now_ns();
  const uint64_t end_max = now + kDebtNsMax;
  uint64_t free_at = free_at_ns_.load(std::memory_order_relaxed);
  uint64_t begin;
  uint64_t end;
  do {
    begin = std::min(std::max(free_at, now), end_max);
    end = std::min(begin + cost_ns, end_max);
  } while (!free_at_ns_.compare_exchange_weak(free_at, end, std::memory_order_relaxed));
  const bool is_large = cost_ns > kWaitNsMax;
  const uint64_t until = is_large ? end : begin;
  if (until - now < kWaitNsMin) return 0;
  uint64_t at = now;
  do {
    clock_.sleep_ns(std::min(until - at, kWaitNsMax));
    at = clock_.now_ns();
  } while (is_large && at < until && this->rate() != kFree);
  return (at - now) / 1000;
}

double WritePressure(const WriteLag& lag) {
  double pressure = 0;
  if (lag.level0_tables >= lag.level0_slowdown_trigger) {
    const double steps = std::max(1, lag.level0_stop_trigger - lag.level0_slowdown_trigger + 1);
    pressure = (lag.level0_tables - lag.level0_slowdown_trigger + 1) / steps;
  }
  // The active memtable is all the room that is left: fill it no faster than tables are written.
  if (lag.immutable_memtables >= lag.immutable_memtables_max) pressure = std::max(pressure, 0.5);
  const uint64_t free = std::max(
      {kDebtBytesFree, lag.store_bytes / kDebtShareFree, lag.level1_bytes * kDebtLevelsFree});
  if (lag.debt_bytes > free) {
    const double over = static_cast<double>(lag.debt_bytes - free) / static_cast<double>(free);
    pressure = std::max(pressure, std::min(over, kDebtPressureMax));
  }
  return std::min(pressure, 1.0);
}

uint64_t WriteRate(double pressure, double drain_rate) {
  if (pressure <= 0) return WriteThrottle::kFree;
  const double rate = drain_rate * 2 * (1 - pressure);
  return static_cast<uint64_t>(std::max(rate, kBytesPerSecondMin));
}

}  // namespace weft::lsm
