// bench/drive/latency_limit.h: what latency is good enough, as in service level objectives: "p99
// 1ms".
//
// Threads   values.
#pragma once

#include <string>
#include <string_view>

#include "base/histogram.h"
#include "weft/status.h"

namespace weft::bench {

struct LatencyLimit {
  double percent = 99;  // of the operations; 100: of all
  double most_us = 0;

  // "p99 1ms", "p99.9 500us", "max 20 ms", "mean 80us". kInvalidArgument says what is wrong.
  static Result<LatencyLimit> Parse(std::string_view text);
  std::string ToText() const;  // "p99 <= 1000 us"

  bool is_mean() const { return percent < 0; }
  double UsOf(const base::Histogram& latency_ns) const;
  bool Holds(const base::Histogram& latency_ns) const { return UsOf(latency_ns) <= most_us; }
};

}  // namespace weft::bench
