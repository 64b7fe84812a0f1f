// base/ticks.h: the cheapest clock: the processor's time stamp counter, for timing tasks.
//
// Threads: any. Where there is no such counter, the monotonic clock takes its place.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace weft::base {

inline uint64_t ReadTicks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return NowNs();
#endif
}

// Nanoseconds of so many ticks. Measures the counter against the clock once, for 2 ms.
uint64_t NsOfTicks(uint64_t ticks);

}  // namespace weft::base
