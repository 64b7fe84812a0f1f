// bench/durable/latency.h: percentiles of times, in microseconds.
//
// Threads   pure.
#pragma once

#include "base/histogram.h"

namespace weft::bench {

inline double PercentileUs(const base::Histogram& latency_ns, double percent) {
  return static_cast<double>(latency_ns.Percentile(percent)) * 1e-3;
}

}  // namespace weft::bench
