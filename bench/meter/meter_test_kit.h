// bench/meter/meter_test_kit.h: time and work for the tests of meters.
//
// Threads   any.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "bench/meter/now.h"

namespace weft::bench {

// Works for so much of the calling thread's own CPU time.
inline void Spin(uint64_t cpu_ns) {
  const uint64_t end = base::ThreadCpuNs() + cpu_ns;
  while (base::ThreadCpuNs() < end) {
  }
}

}  // namespace weft::bench
