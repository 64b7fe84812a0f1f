// bench/server/command_line.h: weft-bench's subcommands that measure servers against memcached:
// server, latency, scaling, memory, hit-ratio.
//
// Threads   one at a time.
// Errors    of the functions that measure: those of bench/server/options.h.
#pragma once

#include <string>
#include <vector>

#include "bench/harness/promise_command.h"
#include "bench/server/options.h"

namespace weft::bench {

// What the command line says to them.
struct ServerArguments {
  CommonArguments common;
  std::string subject = WEFT_SOURCE_DIR "/build/release/src/server/weft";
  std::string subject_command;
  std::string peer = "/usr/bin/memcached";
  std::string peer_command;
  std::string server_cpus = std::to_string(defaults::kServerCpu);
  std::string client_cpus = std::to_string(defaults::kClientCpu);
  ServerOptions server;
  std::vector<std::string> cases;
  std::string protocol = "text";
  bool tls = false;
  LatencyOptions latency;
  HitRatioOptions hit_ratio;
  uint32_t items = defaults::kMemoryItems;
};

// The options that most of them share, beyond the common ones. `arguments` must outlive the
// parsing.
void AddServers(CLI::App* app, ServerArguments* arguments);

Status MeasureServer(const ServerArguments& arguments, Report& report);
Status MeasureLatency(const ServerArguments& arguments, Report& report);
Status MeasureScaling(const ServerArguments& arguments, Report& report);
Status MeasureMemory(const ServerArguments& arguments, Report& report);
Status MeasureHitRatio(const ServerArguments& arguments, Report& report);

CommandGroup ServerCommands();

}  // namespace weft::bench
