// bench/harness/cpu_load.h: other work on all of the machine's CPUs, for a share of their time, by
// stress-ng: a store has to live with it beside other programs.
//
// Threads   one owner. The load ends with the object, or with this process.
// Errors    kUnsupported if stress-ng is not installed, or ends by itself.
#pragma once

#include <memory>
#include <string>

#include "bench/harness/process.h"

namespace weft::bench {

class CpuLoad {
 public:
  // Why there can be no load here; empty if there can.
  static std::string WhyUnavailable();
  // percent of each CPU's time, 0 to 100. 0: no load, and nothing needs to be installed.
  static Result<std::unique_ptr<CpuLoad>> Start(int percent);

  // Whether the load has been there all the time.
  Status Check();

 private:
  explicit CpuLoad(std::unique_ptr<Process> process) : process_(std::move(process)) {}

  const std::unique_ptr<Process> process_;  // null: no load
};

}  // namespace weft::bench
