// sim/run/run_options.h: a run of the machine, as a command line asks for it: cores, caches,
// memory, what becomes of prefetched lines, and the workload.
//
// Threads   one at a time.
// Errors    those of memory_options.h and workload_options.h. kInvalidArgument: options that no
//           machine has.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "sim/base/given.h"
#include "sim/generator/workload_options.h"
#include "sim/machine/machine.h"
#include "sim/run/memory_options.h"
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
  int64_t fast_forward = 0;  // operations before them that take no time
  uint64_t seed = 1;
  int64_t epoch_clocks = 100'000;
  std::string out;   // a folder
  Given given = {};  // which options were given, with those that others add to the app
};

// `options` must outlive the parsing; its values are the defaults.
void AddRun(CLI::App* app, RunOptions* options);

// Its warm-up is 0, because that depends on the number of operations.
Result<MachineOptions> MachineOf(const RunOptions& options, const ControlledMemory& memory);
// The machine's options by name, except for where results go.
nlohmann::ordered_json ConfigOf(const RunOptions& options);

}  // namespace weft::sim
