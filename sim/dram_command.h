// sim/dram_command.h: `weft-sim dram`, which plays a trace on a memory without cores and caches,
// and `weft-sim check`, which checks a command trace that it wrote.
//
// Threads   one at a time.
// Errors    those of sim/dram: preset.h, organization.h, controller.h, address_map.h,
// dramsim3_trace.h,
//           command_trace.h. kIoError: a file can't be written. kCorruption: commands break rules.
#pragma once

#include <cstdint>
#include <string>

#include "sim/dram/preset.h"
#include "sim/dram/timing.h"
#include "weft/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::sim {

struct DramOptions {
  std::string preset{kDefaultPreset};
  std::string map = "rank-il";
  int channels = 1;
  int ranks = 0;  // of a channel; 0: the preset's
  std::string trace;
  Clock clocks = 0;
  bool no_skip = false;
  bool no_refresh = false;
  std::string writes = "unified";  // or "buffer"
  std::string policy = "frfcfs";   // or "fcfs"
  std::string page = "open";       // or "closed"
  std::string refresh = "all";     // or "bank"
  int row_hits_max = 4;            // 0: unlimited
  bool refresh_drain = false;
  bool power_down = false;
  std::string currents;       // those to use instead of the preset's; empty: the preset's
  std::string compat;         // "dramsim2", or empty
  std::string command_trace;  // channel N's go to command_trace + "." + N; empty: nowhere
};

// What is given must outlive the parsing; what it has is the default.
void AddDram(CLI::App* app, DramOptions* options);
void AddCheck(CLI::App* app, DramOptions* options);

// Prints the figures (replay.h) as JSON.
Status RunDram(const DramOptions& options);
// Prints each violation, and how many commands there were.
Status RunCheck(const DramOptions& options);

}  // namespace weft::sim
