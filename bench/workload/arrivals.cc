#include "bench/workload/arrivals.h"

#include <cmath>

#include "base/check.h"

namespace weft::bench {

Arrivals::Arrivals(const RateSchedule& schedule, uint64_t seed, uint32_t thread, uint32_t threads)
    : schedule_(schedule),
      threads_(threads),
      random_(base::Mix(seed) + thread),
      count_(schedule.is_poisson() ? 0 : thread) {
  WEFT_CHECK(thread < threads);
}

uint64_t Arrivals::NextNs() {
  if (schedule_.is_poisson()) count_ -= std::log1p(-random_.Unit()) * threads_;
  const double at_s = schedule_.TimeOf(count_);
  if (!schedule_.is_poisson()) count_ += threads_;
  return static_cast<uint64_t>(std::llround(at_s * 1e9));
}

}  // namespace weft::bench
