// server/stats_writer.h: builds the text of one stats reply, and the reports that do.
//
// Threads: one writer, one thread.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "server/stats.h"

namespace weft::server {

class StatsWriter {
 public:
  void Line(std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(text_), "STAT {} {}\r\n", name, value);
  }
  void Line(std::string_view name, std::unsigned_integral auto value) {
    fmt::format_to(std::back_inserter(text_), "STAT {} {}\r\n", name, value);
  }
  // Each name with the value 0: what cannot happen here.
  void Zeros(std::initializer_list<std::string_view> names) {
    for (std::string_view name : names) Line(name, 0u);
  }
  std::string End() {
    text_ += "END\r\n";
    return std::move(text_);
  }

 private:
  std::string text_;
};

std::string GeneralStats(const ServerSnapshot& snapshot, const ServerOptions& options);
std::string SettingsStats(const ServerSnapshot& snapshot, const ServerOptions& options);
std::string ItemsStats(const ServerSnapshot& snapshot, const ServerOptions& options);
std::string SlabsStats(const ServerSnapshot& snapshot);
std::string ConnsStats(const ServerSnapshot& snapshot);
std::string DataStats(const ServerSnapshot& snapshot, const ServerOptions& options);
std::string PipelineStats(const ServerSnapshot& snapshot);
// `as_cells`: what was counted, instead of a summary.
std::string LatencyStats(const ServerSnapshot& snapshot, bool as_cells);

}  // namespace weft::server
