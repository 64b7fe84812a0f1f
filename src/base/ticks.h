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

// What it measures, over any clock and counter. It reads both together several times at either end,
// and goes by the readings with the least time between: a pause in the midst of one spoils nothing.
double MeasureNsPerTick(uint64_t (*now_ns)(), uint64_t (*read_ticks)());

}  // namespace weft::base
