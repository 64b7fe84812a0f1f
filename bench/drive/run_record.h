// bench/drive/run_record.h: one run as a line of a result file: what was measured, on what, with
// which settings, and the outcome. docs/formats/bench-results.md has the fields.
//
// Threads   pure.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/drive/load.h"
#include "bench/meter/meters.h"
#include "bench/meter/reading.h"
#include "bench/target/target.h"
#include "bench/workload/mix.h"

namespace weft::bench {

// What a run was part of.
struct RunContext {
  std::string experiment;    // "run", "quick"
  std::string command_line;  // that repeats it
  std::string target_name;   // as in --target: "start:memcached"
  int repetition = 0;
};

// What the meters found, over the whole run and in its slices.
struct RunMeters {
  Readings readings;
  std::vector<MeterSlice> slices;
};

nlohmann::json RunRecord(const RunContext& context, const Target& target, const OperationMix& mix,
                         const LoadOptions& options, const LoadFigures& figures,
                         const RunMeters& meters);

// What should have been measured and could not be. Empty texts: all of them.
struct LeftOut {
  std::string target;    // as in --target
  std::string workload;  // its name
  std::string load;      // "at 5 k/s"
};

// The line of a result file that says so.
nlohmann::json LeftOutRecord(const LeftOut& what, const std::string& why);

// {"count": 5, "mean": 12.1, "min": ..., "p50": ..., ..., "max": ...}: microseconds.
nlohmann::json LatencyJson(const base::Histogram& latency_ns);

}  // namespace weft::bench
