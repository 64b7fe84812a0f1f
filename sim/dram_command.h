// sim/dram_command.h: `weft-sim dram`, which plays a trace on a memory without cores and caches,
// and `weft-sim check`, which checks a command trace that it wrote.
//
// Threads   one at a time.
// Errors    those of memory_options.h, and of sim/dram: dramsim3_trace.h, command_trace.h.
//           kCorruption: commands break rules.
#pragma once

#include <cstdint>
#include <string>

#include "sim/dram/timing.h"
#include "sim/run/memory_options.h"
#include "weft/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::sim {

struct DramOptions {
  MemoryOptions memory;
  std::string trace;
  Clock clocks = 0;
};

// What is given must outlive the parsing; what it has is the default.
void AddDram(CLI::App* app, DramOptions* options);
void AddCheck(CLI::App* app, DramOptions* options);

// Prints the figures (replay.h) as JSON.
Status RunDram(const DramOptions& options);
// Prints each violation, and how many commands there were.
Status RunCheck(const DramOptions& options);

}  // namespace weft::sim
