#include "bench/pipeline/folding.h"

#include <numeric>

#include "base/check.h"

namespace weft::bench {

std::vector<double> Fold(std::span<const uint64_t> slots, size_t slots_of_cycle, double slot_s) {
  const size_t cycles = slots.size() / slots_of_cycle;
  if (cycles < 2) return {};
  std::vector<double> folded(slots_of_cycle);
  for (size_t i = slots_of_cycle; i < cycles * slots_of_cycle; ++i)
    folded[i % slots_of_cycle] += static_cast<double>(slots[i]);
  for (double& each : folded) each /= static_cast<double>(cycles - 1) * slot_s;
  return folded;
}

Recovery RecoveryOf(std::span<const double> slots) {
  WEFT_CHECK(!slots.empty());
  const size_t last = (slots.size() + 2) / 3;
  Recovery recovery;
  recovery.steady = std::accumulate(slots.end() - static_cast<ptrdiff_t>(last), slots.end(), 0.0) /
                    static_cast<double>(last);
  recovery.slots = slots.size();
  while (recovery.slots > 0 && slots[recovery.slots - 1] >= kNearShare * recovery.steady)
    --recovery.slots;
  return recovery;
}

}  // namespace weft::bench
