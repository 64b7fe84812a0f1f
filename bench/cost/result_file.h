// bench/cost/result_file.h: reads files of results, as weft-bench writes them: one JSON object a
// line, one line a repetition ("format": "weft-bench run", "version": 1). The reader takes out and
// checks only what a comparison needs; lines may have more.
//
// Units     as named; latencies in microseconds, as in the file.
// Threads   pure functions; a ResultRun is a value.
// Errors    kIoError: the file can't be read. kInvalidArgument: what isn't a result, as
//           "FILE:LINE: what is wrong"; lines of several machines; a file without a result.
#pragma once

#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/cost/units.h"
#include "weft/status.h"

namespace weft::bench {

// One meter's figure, or why there is none.
struct MeterReading {
  std::optional<double> value;
  std::string source;
  std::string unavailable;  // the reason, if there is no value
  bool modelled = false;
};

// A line of the file: one repetition of one workload on one target.
struct ResultRun {
  int line = 0;
  std::string experiment;
  std::string target, target_title;
  std::string workload;  // "ycsb-a, 24 B keys, 1000 B values"
  double records = 0;
  // "closed loop, 2 threads, 8 sessions, depth 32", and what else the run differs in: "no hog".
  std::string load;
  std::string machine;    // its host_class
  std::string cpu_model;  // for the reader; may be empty
  int cpus = 0;
  nlohmann::json settings;  // of the target
  std::string command_line;
  Seconds duration;
  OperationsPerSecond throughput;
  double wrong = 0;  // answers
  bool client_saturated = false;
  std::map<std::string, double> latency_us;  // of all operations: "mean", "p50", ..., "max"
  std::map<std::string, MeterReading> meters;

  // "no such meter" if the file has none of that name.
  MeterReading Meter(const std::string& name) const;
};

// `name` is the file's, for messages.
Result<std::vector<ResultRun>> ReadResults(std::istream& in, const std::string& name);
Result<std::vector<ResultRun>> ReadResultFile(const std::string& path);

}  // namespace weft::bench
