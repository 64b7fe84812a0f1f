// bench/durable/contention_charts.h: one store's figures beside other work, as text, JSON and
// charts: those of paper 001 (LUDA), figures 7 to 13.
//
// Threads   pure, except for files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/drive/load.h"
#include "bench/harness/line_chart.h"

namespace weft::bench {

struct UsedSlice {
  double cpu_percent = 0;             // of one CPU, by this process
  std::optional<double> gpu_percent;  // none: unavailable
};

struct ContentionRun {
  LoadFigures fill;
  LoadFigures a;
  double cpu_s = 0;            // of the process, in A
  double settle_s = 0;         // of background work after A
  double compacted_bytes = 0;  // read and written by flushes and compactions, fill and A
  uint64_t compactions_by_device = 0;
  uint64_t compactions_left_to_cpu = 0;  // by the device
  std::vector<UsedSlice> used;           // of A
};

double OperationsPerSecond(const ContentionRun& run);  // of A
double UpdateP99Us(const ContentionRun& run);
nlohmann::json ToJson(const ContentionRun& run);
// One line: "A 123 k op/s in 8.1 s, ...".
std::string TextOf(const ContentionRun& run);

struct ContentionTable {
  std::vector<uint32_t> value_bytes;
  std::vector<int> taken;
  std::vector<std::string> stores;
  double slice_s = 1;
  // One for each repetition.
  std::map<std::tuple<uint32_t, int, std::string>, std::vector<ContentionRun>> runs;
};

// Figures by the length of values: medians of the repetitions, and their range as a line. A store
// has the same colour in all of them, and no point where nothing was measured.
std::vector<LineChart> ContentionUsageCharts(const ContentionTable& table);
// Writes figure-7.svg to figure-13.svg to `folder`, which is made. Those over time show the first
// repetition. kIoError.
Status WriteContentionCharts(const ContentionTable& table, const std::string& folder);

}  // namespace weft::bench
