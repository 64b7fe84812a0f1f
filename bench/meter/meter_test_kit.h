// bench/meter/meter_test_kit.h: time, work and waiting for the tests of meters.
//
// Threads   any.
#pragma once

#include <unistd.h>

#include <cstdint>

#include "base/clock.h"
#include "bench/meter/now.h"
#include "bench/meter/power_sampler.h"

namespace weft::bench {

// Works for so much of the calling thread's own CPU time.
inline void Spin(uint64_t cpu_ns) {
  const uint64_t end = base::ThreadCpuNs() + cpu_ns;
  while (base::ThreadCpuNs() < end) {
  }
}

// Of a PowerSampler whose readings are what is tested: a busy machine keeps it from some.
inline constexpr Seconds kAnyGap(60);

// Waits until `sampler` has a device's failure for an answer: the thread that asks the device may
// not be running, and then what is missing is readings alone.
inline Status FailureOf(PowerSampler* sampler) {
  for (;;) {  // Ends: the device is gone. Otherwise whoever runs the test ends it.
    auto used = sampler->Used();
    if (!used && used.error().code() != Code::kInvalidArgument) return used.error();
    usleep(10'000);
  }
}

}  // namespace weft::bench
