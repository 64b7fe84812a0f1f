// bench/drive/latency_limit.h: which latency is good enough, as in service level objectives: "p99
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

  // "p99 1ms", "p99.9 500us", "max 20 ms", "mean 800ns". kInvalidArgument says what is wrong.
  static Result<LatencyLimit> Parse(std::string_view text);
  std::string ToText() const;      // for people: "p99 <= 1 ms"
  std::string RecordText() const;  // for result files, always in us: "p99 <= 1000 us"

  std::string Which() const;  // "p99", "mean"
  bool is_mean() const { return percent < 0; }
  double UsOf(const base::Histogram& latency_ns) const;
  bool Holds(const base::Histogram& latency_ns) const { return UsOf(latency_ns) <= most_us; }
};

// "1 ms", "26.84 s": in the largest unit, from ns to s, of which there is one; to `digits` digits.
std::string TimeText(double us, int digits);

}  // namespace weft::bench
