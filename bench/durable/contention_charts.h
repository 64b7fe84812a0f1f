// bench/durable/contention_charts.h: what one store did beside other work, as text, JSON and
// charts: those of paper 001 (LUDA), figures 7 to 13.
//
// Threads   pure, but for files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/durable/ycsb.h"

namespace weft::bench {

struct UsedSlice {
  double cpu_percent = 0;             // of one CPU, by this process
  std::optional<double> gpu_percent;  // none: unavailable
};

struct ContentionRun {
  YcsbResult load;
  YcsbResult a;
  double cpu_s = 0;            // of the process, in A
  double settle_s = 0;         // of background work after A
  double compacted_bytes = 0;  // read and written by flushes and compactions, load and A
  uint64_t compactions_by_device = 0;
  uint64_t compactions_left_to_cpu = 0;  // by it
  std::vector<UsedSlice> used;           // of A
};

// Of A.
double OperationsPerSecond(const ContentionRun& run);
double UpdateP99Us(const ContentionRun& run);
nlohmann::json ToJson(const ContentionRun& run);
// One line: "A 123 k op/s in 8.1 s, ...".
std::string TextOf(const ContentionRun& run);

struct ContentionTable {
  std::vector<uint32_t> value_bytes;
  std::vector<int> taken;
  std::vector<std::string> stores;
  double slice_s = 1;
  std::map<std::tuple<uint32_t, int, std::string>, const ContentionRun*> runs;
};

// Files figure-7.svg to figure-13.svg in `folder`, which is made. kIoError.
Status WriteContentionCharts(const ContentionTable& table, const std::string& folder);

}  // namespace weft::bench
