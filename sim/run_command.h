// sim/run_command.h: `weft-sim run`, which plays a source's records on the whole machine and writes
// what came of it (run/report.h).
//
// Threads   one at a time.
// Errors    those of memory_options.h, machine.h, prefetch_options.h, workload_options.h and
//           report.h, and of the source. kInvalidArgument: options that no machine has.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/generator/workload_options.h"
#include "sim/machine/machine.h"
#include "sim/memory_options.h"
#include "sim/prefetch/prefetch_options.h"
#include "weft/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::sim {

struct RunOptions {
  MemoryOptions memory{.channels = 2};
  double plain_cpi = 0.25;  // or 0.5, 1
  int window = 128;
  int mshrs = 16;  // of a core
  int store_buffer = 16;
  int64_t l1_kb = 16;
  int l1_ways = 4;
  int64_t l2_kb = 4096;
  int l2_ways = 16;
  int l2_cycles = 12;           // of a bank's access
  int l2_mshrs = 32;            // of a bank
  std::string noc = "free";     // or "busy"
  std::string dest = "llc";     // or "mcbuf"
  std::string filter = "none";  // or "oracle"
  bool demand_first = false;
  int64_t drop_age = 0;  // clocks; 0: never
  int staging = 64;
  WorkloadOptions workload;  // ops 0: all that a trace has
  double warmup = 0.1;       // of them
  uint64_t seed = 1;
  int64_t epoch_clocks = 100'000;
  std::string out;  // a folder
};

// What is given must outlive the parsing; what it has is the default.
void AddRun(CLI::App* app, RunOptions* options);

// Whose warm-up is 0: that is of a number of operations.
Result<MachineOptions> MachineOf(const RunOptions& options, const ControlledMemory& memory);
// The options by name, but those of where results go.
nlohmann::ordered_json ConfigOf(const RunOptions& options);

// Where a run's records come from, and the units that watch it.
struct RunParts {
  // Called again to count the operations, where all are played.
  std::function<Result<std::unique_ptr<TraceSource>>()> make_source;
  // None, or one a channel; empty: none. The table outlives them.
  std::function<Result<std::vector<std::unique_ptr<Prefetcher>>>(const StoreShape&,
                                                                 const TableImage&)>
      make_units;
  nlohmann::ordered_json config;  // of theirs, added to the report's
  // What the units counted, after the run, for the report; may be empty.
  std::function<nlohmann::ordered_json()> unit_figures = {};
};

// The units of `prefetch`, for a run of `options`. Both must outlive the run.
void AddUnits(const RunOptions& options, const PrefetchOptions& prefetch, RunParts* parts);

// Plays the records, writes the report, and prints its summary. On a terminal, stderr shows how far
// it is.
Status RunOn(const RunOptions& options, const RunParts& parts);

// The same of options.workload, with the units of `prefetch`.
Status RunSource(const RunOptions& options, const PrefetchOptions& prefetch);

}  // namespace weft::sim
