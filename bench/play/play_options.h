// bench/play/play_options.h: the options of `weft-bench trace`.
//
// Threads   a value.
#pragma once

#include <string>
#include <vector>

#include "bench/play/play_target.h"
#include "bench/target/target_options.h"
#include "bench/trace/trace.h"

namespace weft::bench {

struct TraceBenchOptions {
  std::vector<std::string> files;
  TraceOptions read;
  std::vector<std::string> targets = {"start:weft", "start:memcached"};  // bench/target/targets.h
  std::vector<std::string> policies = {"lru", "s3-fifo", "belady"};
  std::vector<std::string> memory = {"5%", "10%", "20%", "40%"};  // as MemoryOf reads them
  bool memory_is_given = false;  // otherwise servers that are there decide
  TargetOptions target;
  TracePlayOptions play;
  std::string json;   // a file that a line a table row is appended to; empty: none
  std::string chart;  // a file for charts (SVG); empty: none
  std::string command_line;
};

// MiB: "64", or "10%" of the bytes of all keys of the trace as they would lie in memory
// (bench/play/play_policy.h), at least 1. kInvalidArgument: neither.
Result<uint64_t> MemoryOf(const std::string& text, const Trace& trace);

// Bytes of all keys: each with its last value.
uint64_t BytesOfAllKeys(const Trace& trace);

// Plays each file at each size of memory on each target, all of these at the same time, and on each
// policy. Prints a table. kInvalidArgument: no such target or policy, or one that drops nothing.
Status RunTraceBench(const TraceBenchOptions& options);

}  // namespace weft::bench
