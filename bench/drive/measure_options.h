// bench/drive/measure_options.h: the options of `weft-bench run` and `quick`.
//
// Threads   a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/drive/load_options.h"
#include "bench/drive/run_log_options.h"
#include "bench/meter/meters.h"
#include "bench/target/target_options.h"

namespace weft::bench {

struct MeasureOptions {
  // In the form of bench/target/targets.h.
  std::vector<std::string> targets = {};
  // Built in (bench/workload/builtin_mixes.h) or from the file; "ycsb": all of it.
  std::vector<std::string> workloads = {};
  std::string workload_file = {};                // TOML; empty: none
  uint64_t records = 0;                          // 0: the workload's own
  std::string key_bytes = {}, value_bytes = {};  // size_distribution.h; empty: the workload's own
  std::string rate = {};                         // rate_schedule.h; empty: the workload's, or none
  LoadOptions load{.warmup_s = 0.5, .seconds = 5};
  int fill_threads = 0;  // that fill the store first; 0: as many as measure
  TargetOptions target = {};
  MeterOptions meters = {};
  double idle_s = 3;  // for measuring the machine's idle power, before the first run
  int repetitions = 1;
  double quiet_s = 60;  // limit of a store's background work, before each run
  std::string experiment = "run";
  nlohmann::json notes = nlohmann::json::object();  // members that each line gets
  std::string command_line = {};
  RunLogOptions log = {};
};

}  // namespace weft::bench
