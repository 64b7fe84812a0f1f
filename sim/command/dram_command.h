// sim/command/dram_command.h: `weft-sim dram` plays a trace on a memory without cores and caches,
// `weft-sim check` checks a command trace that it wrote, and `weft-sim memory` shows the memories.
//
// Threads   one at a time.
// Errors    those of memory_options.h, and of sim/dram: dramsim3_trace.h, command_trace.h.
//           kCorruption: commands break rules.
#pragma once

#include <cstdint>
#include <string>

#include "sim/base/given.h"
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
  Clock clocks = 0;  // 0: until all requests are served
  Given given = {};
};

// `options` must outlive the parsing; its values are the defaults.
void AddDram(CLI::App* app, DramOptions* options);
void AddCheck(CLI::App* app, DramOptions* options);

// The name of a memory.
void AddMemoryText(CLI::App* app, std::string* preset);

// Prints the memory in the form of a file (memory_file.h), or the names of all.
Status RunMemoryText(const std::string& name);
// Prints the figures (replay.h) as JSON, and on stderr how many requests --clocks cut off.
Status RunDram(const DramOptions& options);
// Prints each violation, and how many commands there were.
Status RunCheck(const DramOptions& options);

}  // namespace weft::sim
