// sim/dram/latency_counts.h: how many requests took how long, exactly, and percentiles of them.
//
// A percentile is by nearest rank: of N latencies in ascending order, p % is the one at place
// ceil(N x p / 100), the first being 1. So it is a latency that a request had, and at least p %
// took no longer. Of fewer than 100 requests 99 % is the longest.
//
// Units     clocks.
// Threads   one owner.
// Cost      8 bytes for each clock up to the longest latency, or to 4096; a node of a tree for each
//           different one above.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/dram/timing.h"

namespace weft::sim {

class LatencyCounts {
 public:
  // REQUIRES: latency >= 0
  void Add(Clock latency);

  int64_t count() const { return count_; }
  double mean() const;  // 0 if there are none
  // `per_mille`: 500 is the median. REQUIRES: count() > 0, per_mille is 1 to 1000
  Clock Percentile(int per_mille) const;

 private:
  std::vector<int64_t> short_;       // by latency
  std::map<Clock, int64_t> longer_;  // the others
  int64_t count_ = 0;
  int64_t sum_ = 0;
};

}  // namespace weft::sim
