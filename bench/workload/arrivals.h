// bench/workload/arrivals.h: when each request of a schedule is due, for one thread of several
// that share the schedule.
//
// Even: request i of all is due when the rate's integral reaches i, and the threads take them in
// turns. Poisson: each thread's requests are a Poisson process of its share of the rate, so all of
// them together are one of the whole rate.
//
// Units     nanoseconds since the schedule's beginning.
// Threads   one owner.
// Cost      RateSchedule::TimeOf's, and for Poisson a logarithm.
// Source    D. Cox and P. Lewis: a unit-rate process on the integral's scale is one of that rate.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "bench/workload/rate_schedule.h"

namespace weft::bench {

class Arrivals {
 public:
  // The same seed for all threads. REQUIRES: thread < threads
  Arrivals(const RateSchedule& schedule, uint64_t seed, uint32_t thread = 0, uint32_t threads = 1);

  // When the next one is due: never before the one before.
  uint64_t NextNs();

 private:
  const RateSchedule schedule_;
  const uint32_t threads_;
  base::Random random_;
  double count_;  // on the integral's scale
};

}  // namespace weft::bench
