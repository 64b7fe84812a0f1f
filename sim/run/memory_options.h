// sim/run/memory_options.h: the memory and the control of its channels, as a command line asks for
// them.
//
// Threads   one at a time.
// Errors    those of sim/dram: preset.h, memory_file.h, organization.h, controller.h and
//           address_map.h. kIoError: a file can't be opened or written.
#pragma once

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "sim/dram/address_map.h"
#include "sim/dram/controller.h"
#include "sim/dram/preset.h"
#include "weft/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::sim {

struct MemoryOptions {
  std::string preset{kDefaultPreset};  // a name, or "file:" and a path
  std::string map = "rank-il";
  int channels = 1;
  int ranks = 0;  // of a channel; 0: the preset's
  bool no_skip = false;
  bool no_refresh = false;
  std::string writes = "unified";  // or "buffer"
  std::string policy = "frfcfs";   // or "fcfs"
  std::string page = "open";       // or "closed"
  std::string refresh = "all";     // or "bank"
  int row_hits_max = 4;            // 0: unlimited
  bool refresh_drain = false;
  bool power_down = false;
  std::string currents = {};       // those to use instead of the preset's; empty: the preset's
  std::string compat = {};         // "dramsim2", or empty
  std::string command_trace = {};  // channel N's go to command_trace + "." + N; empty: nowhere
};

// `options` must outlive the parsing; its values are the defaults. First the options that judging
// its commands needs;
void AddMemory(CLI::App* app, MemoryOptions* options);
// then all others.
void AddControl(CLI::App* app, MemoryOptions* options);

// The memory that --preset names: one of preset.h, or that of a file.
Result<Preset> PresetOf(const std::string& name);

// A memory, and how its channels are controlled.
struct ControlledMemory {
  Preset preset;
  ControllerOptions controller;
  Interleave interleave = Interleave::kRank;
};
Result<ControlledMemory> MemoryOf(const MemoryOptions& options);

// Where commands are written, a file a channel.
class CommandFiles {
 public:
  using OnCommand = std::function<void(int channel, const IssuedCommand&)>;
  // What to call for each command; this must outlive it. Empty if nothing is written.
  Result<OnCommand> Open(const MemoryOptions& options);
  Status Close();

 private:
  std::vector<std::string> paths_;
  std::vector<std::ofstream> files_;
};

}  // namespace weft::sim
