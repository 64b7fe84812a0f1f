// tool/top/sample.h: what a server said at one moment, and what it did between two.
//
// Threads   plain values.
// Units     rates: a second; latencies: nanoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tool/top/report.h"
#include "weft/status.h"

namespace weft::tool {

// The reports of one moment. Those that the server does not have are empty.
struct Sample {
  uint64_t at_ns = 0;
  StatsReport general;
  StatsReport pipeline, latency, data;

  bool is_weft() const { return !pipeline.empty(); }
};

// Asks for all of them.
Result<Sample> TakeSample(StatsClient* client, uint64_t (*now_ns)());

struct Percentiles {
  uint64_t requests = 0;
  double p50_ns = 0, p99_ns = 0, p999_ns = 0;
};

struct TaskShare {
  std::string task;
  double share = 0;         // of the time of all tasks
  double ns_per_query = 0;  // 0: it is not timed, or did nothing
  double queries_per_s = 0;
};

// Between two samples of one server that did not start anew.
struct Activity {
  double seconds = 0;
  std::map<std::string, double, std::less<>> rates;  // of each line of the reports that counts up
  double requests_per_s = 0;
  double hit_percent = -1;                     // below 0: nothing was read
  std::map<std::string, Percentiles> latency;  // by class; "all"
  std::vector<TaskShare> tasks;
  double batch_queries = 0;

  double RateOf(std::string_view line) const;
};

// Whether `after` is of the same run of a server as `before`.
bool IsSameRun(const Sample& before, const Sample& after);

// REQUIRES: IsSameRun, and some time between them
Activity ActivityBetween(const Sample& before, const Sample& after);

}  // namespace weft::tool
