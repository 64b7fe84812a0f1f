#include "base/ticks.h"

namespace weft::base {
namespace {

double MeasureNsPerTick() {
  constexpr uint64_t kMeasureNs = 2'000'000;
  const uint64_t start_ns = NowNs();
  const uint64_t start_ticks = ReadTicks();
  while (NowNs() - start_ns < kMeasureNs) {
  }
  return static_cast<double>(NowNs() - start_ns) / static_cast<double>(ReadTicks() - start_ticks);
}

}  // namespace

uint64_t NsOfTicks(uint64_t ticks) {
  static const double ns_per_tick = MeasureNsPerTick();
  return static_cast<uint64_t>(static_cast<double>(ticks) * ns_per_tick);
}

}  // namespace weft::base
