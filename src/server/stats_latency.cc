#include "server/stats_writer.h"

namespace weft::server {
namespace {

std::string MicrosecondsText(double ns) { return fmt::format("{:.1f}", ns / 1000); }

void WriteSummary(std::string_view name, const LatencyCells& cells, StatsWriter* out) {
  const LatencySummary summary = Summarize(cells);
  out->Line(fmt::format("{}:requests", name), summary.count);
  const std::pair<std::string_view, double> rows[] = {
      {"mean", summary.mean_ns},
      {"p50", static_cast<double>(summary.p50_ns)},
      {"p90", static_cast<double>(summary.p90_ns)},
      {"p99", static_cast<double>(summary.p99_ns)},
      {"p999", static_cast<double>(summary.p999_ns)},
      {"max", static_cast<double>(summary.max_ns)}};
  for (const auto& [row, ns] : rows)
    out->Line(fmt::format("{}:{}_us", name, row), MicrosecondsText(ns));
}

void WriteCells(std::string_view name, const LatencyCells& cells, StatsWriter* out) {
  for (size_t cell = 0; cell < kLatencyCells; cell++) {
    if (cells[cell] == 0) continue;
    out->Line(
        fmt::format("{}:ns:{}-{}", name, LatencyCellBegin(cell), LatencyCellBegin(cell + 1) - 1),
        cells[cell]);
  }
}

}  // namespace

std::string LatencyStats(const ServerSnapshot& s, bool as_cells) {
  StatsWriter out;
  const auto write = as_cells ? WriteCells : WriteSummary;
  write("all", s.latency.Sum(), &out);
  for (size_t i = 0; i < kLatencyClasses; i++) {
    const auto of = static_cast<LatencyClass>(i);
    write(LatencyClassName(of), s.latency.Of(of), &out);
  }
  return out.End();
}

}  // namespace weft::server
