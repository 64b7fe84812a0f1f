#include "base/ticks.h"

namespace weft::base {
namespace {

constexpr uint64_t kMeasureNs = 2'000'000;
constexpr int kReadings = 16;

// The counter, and the clock within `width_ns` of then.
struct Reading {
  uint64_t ns = 0, ticks = 0, width_ns = UINT64_MAX;
};

Reading ReadBoth(uint64_t (*now_ns)(), uint64_t (*read_ticks)()) {
  Reading best;
  for (int i = 0; i < kReadings; i++) {
    const uint64_t before_ns = now_ns();
    const uint64_t ticks = read_ticks();
    const uint64_t width_ns = now_ns() - before_ns;
    if (width_ns < best.width_ns) best = {before_ns + width_ns / 2, ticks, width_ns};
  }
  return best;
}

}  // namespace

double MeasureNsPerTick(uint64_t (*now_ns)(), uint64_t (*read_ticks)()) {
  const Reading start = ReadBoth(now_ns, read_ticks);
  while (now_ns() - start.ns < kMeasureNs) {
  }
  const Reading end = ReadBoth(now_ns, read_ticks);
  return static_cast<double>(end.ns - start.ns) / static_cast<double>(end.ticks - start.ticks);
}

uint64_t NsOfTicks(uint64_t ticks) {
  static const double ns_per_tick = MeasureNsPerTick(NowNs, ReadTicks);
  return static_cast<uint64_t>(static_cast<double>(ticks) * ns_per_tick);
}

}  // namespace weft::base
