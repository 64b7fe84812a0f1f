// bench/cost/sample_results_test_kit.h: made-up lines of results, for the tests of their readers.
//
// Threads   values.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace weft::bench {

// A line as weft-bench writes it, with nothing metered but CPU time.
inline nlohmann::json SampleLine(const std::string& host_class, double operations_per_s,
                                 int repetition = 0) {
  const double seconds = 10;
  return {
      {"format", "weft-bench run"},
      {"version", 1},
      {"experiment", "test"},
      {"command_line", "weft-bench run --workload ycsb-c"},
      {"machine", {{"host_class", host_class}, {"cpu_model", "sample CPU"}, {"cpus", 4}}},
      {"target", {{"name", "store"}, {"title", "store 1.0"}, {"settings", {{"threads", 4}}}}},
      {"workload",
       {{"name", "ycsb-c"}, {"records", 1000000}, {"key_bytes", "24"}, {"value_bytes", "1000"}}},
      {"load",
       {{"loop", "closed"},
        {"threads", 2},
        {"sessions", 8},
        {"depth", 32},
        {"rate_per_s", nullptr},
        {"repetition", repetition}}},
      {"result",
       {{"seconds", seconds},
        {"operations", operations_per_s * seconds},
        {"operations_per_s", operations_per_s},
        {"outcomes", {{"done", operations_per_s * seconds}, {"wrong", 0}}},
        {"latency_us", {{"all", {{"count", 9}, {"mean", 12.0}, {"p50", 10.0}, {"p99", 80.0}}}}},
        {"client", {{"saturated", false}}}}},
      {"meters",
       {{"cpu_s", {{"value", 20.0}, {"unit", "s"}, {"source", "/proc"}}},
        {"energy_j", {{"unavailable", "no RAPL on this machine"}}}}}};
}

inline nlohmann::json WithEnergy(nlohmann::json line, double joules,
                                 const std::string& source = "rapl package-0") {
  line["meters"]["energy_j"] = {{"value", joules}, {"unit", "J"}, {"source", source}};
  return line;
}

inline std::string LinesOf(const std::vector<nlohmann::json>& lines) {
  std::string text;
  for (const auto& line : lines) text += line.dump() + "\n";
  return text;
}

}  // namespace weft::bench
