// bench/harness/cpu_load.h: other work on all of the machine's CPUs, a share of their time, as
// stress-ng makes it: what a store has to live with beside other programs.
//
// Threads   one owner. The load ends with the object, or with this process.
// Errors    kUnsupported where stress-ng is not installed, or ends by itself.
#pragma once

#include <memory>
#include <string>

#include "bench/harness/process.h"

namespace weft::bench {

class CpuLoad {
 public:
  // Why none can be made here; empty where it can.
  static std::string WhyUnavailable();
  // percent of each CPU's time, 0 to 100; of 0 there is none, and nothing needs to be installed.
  static Result<std::unique_ptr<CpuLoad>> Start(int percent);

  // Whether it has been there all the time.
  Status Check();

 private:
  explicit CpuLoad(std::unique_ptr<Process> process) : process_(std::move(process)) {}

  const std::unique_ptr<Process> process_;  // null: no load
};

}  // namespace weft::bench
