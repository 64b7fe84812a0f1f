// sim/command/gen_command.h: `weft-sim gen`, which writes a generated workload into a folder.
//
// Threads   one at a time.
// Errors    those of workload_options.h and file_trace.h.
#pragma once

#include <cstdint>
#include <string>

#include "sim/base/given.h"
#include "sim/generator/workload_options.h"
#include "weft/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::sim {

struct GenOptions {
  WorkloadOptions workload;
  uint64_t seed = 1;
  uint64_t memory_gib = 16;
  std::string out;  // a folder
  Given given = {};
};

// `options` must outlive the parsing; its values are the defaults.
void AddGen(CLI::App* app, GenOptions* options);

Status RunGen(const GenOptions& options);

}  // namespace weft::sim
