// sim/command/trace_command.h: `weft-sim trace info`, which shows what is in a trace, and `weft-sim
// trace convert`, from and to the formats of others.
//
// Threads   one at a time.
// Errors    those of file_trace.h and text_trace.h. kInvalidArgument: an option has a wrong value.
#pragma once

#include <cstdint>
#include <string>

#include "sim/base/given.h"
#include "sim/trace/text_trace.h"
#include "weft/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::sim {

struct TraceOptions {
  std::string in;   // a folder, or a file of text
  std::string out;  // convert's: likewise; info has none
  std::string from = "folder";
  std::string to = "folder";
  int core = 0;  // whose accesses go into a file of text
  uint64_t memory_gib = 16;
  TextOptions text;
  Given given = {};
};

// `options` must outlive the parsing; its values are the defaults.
void AddTrace(CLI::App* app, TraceOptions* options);

// The subcommand that was parsed: info's facts are printed as JSON.
Status RunTrace(const TraceOptions& options);

}  // namespace weft::sim
