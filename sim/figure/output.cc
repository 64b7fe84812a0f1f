#include "sim/figure/output.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/harness/line_chart.h"
#include "bench/harness/machine.h"
#include "sim/base/text_file.h"
#include "sim/run/idle_options.h"

namespace weft::sim {
namespace {

using Json = nlohmann::ordered_json;
using PointFigures = std::vector<std::pair<std::string, Estimate>>;

Estimate SpeedUpOf(const Measured& measured) {
  std::vector<double> ratios = measured.Ratios(&RunFigures::m2_cycles);
  for (double& ratio : ratios) ratio = 1 / ratio - 1;
  return EstimateOf(ratios);
}

template <typename Of>
Estimate OfRuns(const Measured& measured, const Of& of) {
  return EstimateOf(measured.Each(of));
}

void AddLines(const Measured& measured, PointFigures* columns) {
  std::vector<double> coverage;
  for (size_t seed = 0; seed < measured.run.size(); ++seed) {
    coverage.push_back(measured.Coverage(seed));
  }
  columns->emplace_back("coverage", EstimateOf(coverage));
  const auto add = [&](const std::string& name, const auto& of) {
    columns->emplace_back(name, OfRuns(measured, of));
  };
  add("accuracy", [](const RunFigures& run) { return run.prefetch.accuracy(); });
  add("timeliness", [](const RunFigures& run) { return run.prefetch.timeliness(); });
  add("address_accuracy", [](const RunFigures& run) { return run.units.address_accuracy(); });
  add("hit_accuracy", [](const RunFigures& run) { return run.units.hit_accuracy(); });
  add("lines_asked", [](const RunFigures& run) { return static_cast<double>(run.prefetch.asked); });
  for (size_t i = 0; i < kPrefetchOutcomes; ++i) {
    add(kOutcomeNames[i],
        [i](const RunFigures& run) { return static_cast<double>(run.prefetch.outcomes[i]); });
  }
  add("lost_l2_hits", [](const RunFigures& run) { return static_cast<double>(run.lost_l2_hits); });
}

PointFigures ColumnsOf(const Measured& measured) {
  PointFigures columns;
  columns.emplace_back("m2_gain", EstimateOf(measured.Gains(Metric::kM2)));
  columns.emplace_back("m2_speed_up", SpeedUpOf(measured));
  columns.emplace_back("m1_gain", EstimateOf(measured.Gains(Metric::kM1)));
  columns.emplace_back("m3_gain", EstimateOf(measured.Gains(Metric::kM3)));
  const std::pair<const char*, double RunFigures::*> ratios[] = {
      {"op_latency", &RunFigures::op_cycles},
      {"op_p99", &RunFigures::op_p99_cycles},
      {"ops_per_second", &RunFigures::ops_per_second},
      {"nj_per_op", &RunFigures::nj_per_op},
      {"power", &RunFigures::power_w}};
  for (const auto& [name, figure] : ratios) {
    columns.emplace_back(std::string(name) + "_ratio", EstimateOf(measured.Ratios(figure)));
  }
  const auto add = [&](const char* name, double RunFigures::*figure) {
    columns.emplace_back(name,
                         OfRuns(measured, [figure](const RunFigures& run) { return run.*figure; }));
  };
  add("m2_cycles", &RunFigures::m2_cycles);
  add("m_ops_per_second", &RunFigures::ops_per_second);
  columns.back().second.mean /= 1e6;
  columns.back().second.half_width /= 1e6;
  add("bus_utilization", &RunFigures::bus_utilization);
  add("power_w", &RunFigures::power_w);
  add("nj_per_op", &RunFigures::nj_per_op);
  AddLines(measured, &columns);
  return columns;
}

std::string MetricOf(const JudgedClaim& judged) {
  return judged.claim.by_latency ? NameOf(judged.metric) : "-";
}
const char* Verdict(const Claim& claim) {
  if (!claim.is_known) return "unknown";
  return claim.holds ? "holds" : "fails";
}

// ---- Markdown

std::string ClaimsTable(const std::vector<const Finished*>& figures) {
  std::string text = "| claim | by | band | ours | |\n| --- | --- | --- | --- | --- |\n";
  for (const Finished* finished : figures) {
    for (const JudgedClaim& judged : finished->claims) {
      const Claim& claim = judged.claim;
      const bool fails = claim.is_known && !claim.holds;
      text += fmt::format("| {} {} | {} | {} | {} | {} |\n", claim.id, claim.what, MetricOf(judged),
                          claim.band, claim.ours, fails ? "**fails**" : Verdict(claim));
    }
  }
  return text + "\n";
}

// What "beyond 95 %" means in their claims.
std::string SeedsOf(const std::vector<const Finished*>& figures) {
  const size_t seeds = figures.front()->figure.points().front().run.size();
  if (seeds > 1) return fmt::format("{} runs of each, by seed.\n\n", seeds);
  return "One run of each, so its accuracy is unknown and \"beyond 95 %\" means any "
         "difference.\n\n";
}

std::string Cell(const Finished& finished, const Measured& measured) {
  const Quantity quantity = finished.spec.quantity;
  const Estimate estimate = quantity == Quantity::kLatency ? EstimateOf(measured.Gains(Metric::kM2))
                                                           : EstimateOf(measured.Drawn(quantity));
  if (!std::isfinite(estimate.mean)) return "";
  return quantity == Quantity::kEnergy ? fmt::format("{:.3f}", estimate.mean)
                                       : fmt::format("{:.1f}", 100 * estimate.mean);
}

bool DrawsBySeed(const Measured& measured) {
  return DependsOnSeed(measured.point.of.run, measured.point.of.prefetch);
}

// How far to believe its cells.
std::string IntervalOf(const Finished& finished) {
  const auto& points = finished.figure.points();
  std::optional<double> widest;  // none where each is of one run
  for (const Measured& measured : points) {
    const Estimate drawn = EstimateOf(measured.Drawn(finished.spec.quantity));
    if (drawn.has_half_width && std::isfinite(drawn.half_width)) {
      widest = std::max(widest.value_or(0), drawn.half_width);
    }
  }
  const auto draw = std::count_if(points.begin(), points.end(), DrawsBySeed);
  if (draw == 0) return "No 95 % interval: a recorded trace is replayed the same way each time.";
  if (!widest) return "No 95 % interval: each point is from one run.";
  std::string text = finished.spec.quantity == Quantity::kItself
                         ? fmt::format("Widest 95 % interval of M2: +- {:.1f} cycles.", *widest)
                         : fmt::format("Widest 95 % interval: +- {:.4f} of the ratio.", *widest);
  if (draw < std::ssize(points)) text += " Points that replay a trace have none.";
  return text;
}

// A Markdown table's first two lines.
std::string HeadOf(const std::string& corner, const std::vector<std::string>& columns) {
  std::string text = fmt::format("| {} |", corner);
  std::string rule = "| --- |";
  for (const std::string& column : columns) {
    text += fmt::format(" {} |", column);
    rule += " ---: |";
  }
  return text + "\n" + rule + "\n";
}

std::string GainsTable(const Finished& finished) {
  std::vector<std::string> xs;
  std::vector<std::string> series;
  std::map<std::pair<std::string, std::string>, std::string> cells;
  const auto add = [](std::vector<std::string>* names, const std::string& name) {
    if (std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
  };
  for (const Measured& measured : finished.figure.points()) {
    add(&xs, measured.point.x);
    add(&series, measured.point.series);
    cells[{measured.point.series, measured.point.x}] = Cell(finished, measured);
  }
  std::string text = HeadOf(finished.spec.x_name, xs);
  for (const std::string& name : series) {
    text += fmt::format("| {} |", name);
    for (const std::string& x : xs) {
      const auto cell = cells.find({name, x});
      text += fmt::format(" {} |", cell == cells.end() ? "" : cell->second);
    }
    text += "\n";
  }
  return text;
}

// A row for each point, of what it is itself.
std::string FiguresTable(const Finished& finished) {
  std::string text = HeadOf(finished.spec.x_name, {"M2, cycles", "operation, cycles", "its p99",
                                                   "M operations/s", "bus, %", "nJ an operation"});
  for (const Measured& measured : finished.figure.points()) {
    const auto mean = [&](double RunFigures::*figure) {
      return OfRuns(measured, std::mem_fn(figure)).mean;
    };
    const double nj = mean(&RunFigures::nj_per_op);
    text += fmt::format("| {} | {:.1f} | {:.0f} | {:.0f} | {:.3f} | {:.1f} | {} |\n",
                        measured.point.series, mean(&RunFigures::m2_cycles),
                        mean(&RunFigures::op_cycles), mean(&RunFigures::op_p99_cycles),
                        mean(&RunFigures::ops_per_second) / 1e6,
                        100 * mean(&RunFigures::bus_utilization),
                        nj == 0 ? "" : fmt::format("{:.0f}", nj));  // 0: no currents are known
  }
  return text;
}

std::string TableOf(const Finished& finished) {
  const std::string table =
      finished.spec.quantity == Quantity::kItself ? FiguresTable(finished) : GainsTable(finished);
  return fmt::format("{}\n{}\n\n", table, IntervalOf(finished));
}

const char* CellsAre(Quantity quantity) {
  switch (quantity) {
    case Quantity::kLatency: return "Gains in M2, percent (1 - L/L0)";
    case Quantity::kEnergy: return "DRAM energy an operation, relative to that without a unit";
    case Quantity::kAccuracy: return "Triggers with the right address, percent";
    case Quantity::kItself: return "Means; no run has a unit (--pacu), so there is no gain";
  }
  return "";
}

// In their order.
std::vector<std::pair<std::string, std::vector<const Finished*>>> BySetting(
    const std::vector<Finished>& figures) {
  std::vector<std::pair<std::string, std::vector<const Finished*>>> groups;
  for (const Finished& finished : figures) {
    if (groups.empty() || groups.back().first != finished.setting) {
      groups.push_back({finished.setting, {}});
    }
    groups.back().second.push_back(&finished);
  }
  return groups;
}

// ---- SVG

std::vector<std::string> Wrapped(const std::string& text) {
  constexpr size_t kLettersMax = 132;
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.size(), begin + kLettersMax);
    if (end < text.size()) {
      const size_t space = text.rfind(' ', end);
      if (space != std::string::npos && space > begin) end = space;
    }
    lines.push_back((begin == 0 ? "" : "      ") + text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

const char* AxisOf(Quantity quantity) {
  switch (quantity) {
    case Quantity::kLatency: return "mean latency of requests (M2), over that without prefetching";
    case Quantity::kEnergy: return "nJ an operation, over those without prefetching";
    case Quantity::kAccuracy: return "share of triggers";
    case Quantity::kItself: return "mean latency of requests (M2), core cycles";
  }
  return "";
}

bench::LineChart ChartOf(const Finished& finished) {
  bench::LineChart chart;
  chart.title = finished.spec.title;
  if (!finished.setting.empty()) chart.title += " (" + finished.setting + ")";
  chart.x_name = finished.spec.x_name;
  chart.y_name = AxisOf(finished.spec.quantity);
  const bool is_ratio =
      finished.spec.quantity == Quantity::kLatency || finished.spec.quantity == Quantity::kEnergy;
  if (is_ratio) chart.reference_y = 1;
  chart.marks_points = true;
  std::map<double, std::string> names;
  for (const Measured& measured : finished.figure.points()) {
    if (!measured.point.is_drawn) continue;
    names.emplace(measured.point.at, measured.point.x);
    if (chart.lines.empty() || chart.lines.back().name != measured.point.series) {
      chart.lines.push_back({.name = measured.point.series, .x = {}, .y = {}});
    }
    const Estimate estimate = EstimateOf(measured.Drawn(finished.spec.quantity));
    if (!std::isfinite(estimate.mean)) continue;
    chart.lines.back().x.push_back(measured.point.at);
    chart.lines.back().y.push_back(estimate.mean);
    chart.lines.back().y_error.push_back(estimate.half_width);  // 0 where there is none
  }
  for (bench::LineChart::Line& line : chart.lines) {
    const bool has_errors = std::any_of(line.y_error.begin(), line.y_error.end(),
                                        [](double error) { return error > 0; });
    if (!has_errors) line.y_error.clear();
  }
  for (const auto& [x, name] : names) chart.ticks.push_back({x, name});
  for (const JudgedClaim& judged : finished.claims) {
    if (judged.metric != kMetrics[0]) continue;
    const Claim& claim = judged.claim;
    for (std::string& line :
         Wrapped(fmt::format("{} {}: {} [{}]. Here: {}", claim.id, Verdict(claim), claim.what,
                             claim.band, claim.ours))) {
      chart.notes.push_back(std::move(line));
    }
  }
  return chart;
}

// ---- files

std::string JsonLines(const std::vector<Finished>& figures, const std::string& command) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const Json context = {{"command_line", command},
                        {"commit", bench::ThisMachine().commit},
                        {"date", fmt::format("{:%FT%TZ}", fmt::gmtime(now))},
                        {"machine", bench::ToJson(bench::ThisMachine())}};
  std::string text;
  for (const Finished& finished : figures) {
    const Json of = {{"figure", finished.spec.name}, {"setting", finished.setting}};
    for (const JudgedClaim& judged : finished.claims) {
      const Claim& claim = judged.claim;
      Json line = of;
      line.update({{"claim", claim.id},
                   {"metric", MetricOf(judged)},
                   {"what", claim.what},
                   {"band", claim.band},
                   {"ours", claim.ours},
                   {"holds", claim.is_known ? Json(claim.holds) : Json(nullptr)}});
      line.update(context);
      text += line.dump() + "\n";
    }
    for (const Measured& measured : finished.figure.points()) {
      Json line = of;
      line["series"] = measured.point.series;
      line["x"] = measured.point.x;
      line["seeds"] = measured.run.size();
      for (const auto& [name, estimate] : ColumnsOf(measured)) {
        const Json half_width = estimate.has_half_width ? Json(estimate.half_width) : Json(nullptr);
        line[name] = Json::array({estimate.mean, half_width});
      }
      line["commit"] = context["commit"];
      text += line.dump() + "\n";
    }
  }
  return text;
}

}  // namespace

std::string CsvOf(const std::vector<Finished>& figures) {
  std::string text;
  for (const Finished& finished : figures) {
    for (const Measured& measured : finished.figure.points()) {
      const PointFigures columns = ColumnsOf(measured);
      if (text.empty()) {
        text = "setting,figure,series,x,seeds";
        for (const auto& [name, estimate] : columns) text += fmt::format(",{0},{0}_95", name);
        text += "\n";
      }
      text += fmt::format("{},{},{},{},{}", CsvField(finished.setting), finished.spec.name,
                          CsvField(measured.point.series), CsvField(measured.point.x),
                          measured.run.size());
      for (const auto& [name, estimate] : columns) {
        const bool is_known = std::isfinite(estimate.mean);
        text += is_known ? fmt::format(",{:.6g},", estimate.mean) : ",,";
        if (is_known && estimate.has_half_width) text += fmt::format("{:.3g}", estimate.half_width);
      }
      text += "\n";
    }
  }
  return text;
}

std::string ClaimsCsv(const std::vector<Finished>& figures) {
  std::string text = "setting,figure,claim,metric,what,band,ours,verdict\n";
  for (const Finished& finished : figures) {
    for (const JudgedClaim& judged : finished.claims) {
      const Claim& claim = judged.claim;
      text += fmt::format("{},{},{},{},{},{},{},{}\n", CsvField(finished.setting),
                          finished.spec.name, claim.id, MetricOf(judged), CsvField(claim.what),
                          CsvField(claim.band), CsvField(claim.ours), Verdict(claim));
    }
  }
  return text;
}

std::string MarkdownOf(const std::vector<Finished>& figures, const std::string& command) {
  std::string text = fmt::format("`{}`, commit {}\n\n", command, bench::ThisMachine().commit);
  for (const auto& [setting, group] : BySetting(figures)) {
    if (!setting.empty()) text += fmt::format("# {}\n\n", setting);
    const bool has_claims = std::any_of(group.begin(), group.end(), [](const Finished* finished) {
      return !finished->claims.empty();
    });
    if (has_claims) text += SeedsOf(group) + ClaimsTable(group);
    for (const Finished* finished : group) {
      text +=
          fmt::format("## {}\n\n{}.\n\n", finished->spec.title, CellsAre(finished->spec.quantity));
      text += TableOf(*finished);
    }
  }
  return text;
}

Status WriteFigures(const std::string& folder, const std::vector<Finished>& figures,
                    const std::string& command) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Status::FromErrno("create " + folder, error.value());
  std::map<std::string, std::vector<Finished>> by_name;
  for (const Finished& finished : figures) by_name[finished.spec.name].push_back(finished);
  for (const auto& [name, all] : by_name) {
    const std::string path = folder + "/figure-" + name;
    Status status = WriteText(path + ".csv", CsvOf(all));
    for (size_t i = 0; status.ok() && i < all.size(); ++i) {
      if (all[i].spec.x_name.empty()) continue;  // nothing to draw it over
      status = bench::WriteSvg(ChartOf(all[i]),
                               path + (i == 0 ? "" : fmt::format("-{}", i + 1)) + ".svg");
    }
    if (!status.ok()) return status;
  }
  Status status = WriteText(folder + "/claims.csv", ClaimsCsv(figures));
  if (status.ok()) status = WriteText(folder + "/figures.md", MarkdownOf(figures, command));
  if (status.ok()) status = WriteText(folder + "/figures.jsonl", JsonLines(figures, command));
  return status;
}

}  // namespace weft::sim
