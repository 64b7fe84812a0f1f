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

// A gap for tests of readings: a busy machine may keep the sampler from some.
inline constexpr Seconds kAnyGap(60);

// Waits until `sampler` has a device's failure for an answer: the thread that asks the device may
// not be running, and then what is missing is readings alone. Ok: it has had none for a minute.
inline Status FailureOf(PowerSampler* sampler) {
  for (int looks = 0; looks < 6000; looks++) {  // a minute
    auto used = sampler->Used();
    if (!used && used.error().code() != Code::kInvalidArgument) return used.error();
    usleep(10'000);
  }
  return Status::Ok();
}

}  // namespace weft::bench
