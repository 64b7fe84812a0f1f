#include "bench/cost/compare_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/harness/report.h"

namespace weft::bench {
namespace {

using nlohmann::json;

// One line of a table: a name, and the text of each server.
struct TableRow {
  std::string name;
  std::vector<std::string> cells;
};

constexpr const char* kLatencies[] = {"mean", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max"};

TableRow RowOf(std::string name, const std::vector<ServerFigures>& servers, auto&& figure_of) {
  TableRow row{std::move(name), {}};
  for (const ServerFigures& server : servers) {
    const Figure* figure = figure_of(server);
    row.cells.push_back(figure == nullptr ? "unavailable: not in the file" : TextOf(*figure));
  }
  return row;
}

std::string NameOfCost(const CostPoint& point) {
  const std::string electricity = fmt::format("${:g}/kWh", point.electricity.value());
  if (!point.price) return "energy, $/h, at " + electricity;
  return fmt::format("cost, $/h, at {}, {:g} years, ${:g} a server", electricity,
                     point.lifetime->value(), point.price->value());
}

const CostPoint* Find(const ServerFigures& server, const CostPoint& like) {
  const auto found =
      std::find_if(server.costs.begin(), server.costs.end(), [&](const CostPoint& point) {
        return point.price == like.price && point.lifetime == like.lifetime &&
               point.electricity == like.electricity;
      });
  return found == server.costs.end() ? nullptr : &*found;
}

// Of each price that any of the servers has; the others have a dash.
std::vector<TableRow> CostRows(const std::vector<ServerFigures>& servers) {
  std::vector<TableRow> rows;
  for (const ServerFigures& of : servers) {
    for (const CostPoint& point : of.costs) {
      TableRow row{NameOfCost(point), {}};
      for (const ServerFigures& server : servers) {
        const CostPoint* same = Find(server, point);
        row.cells.push_back(same == nullptr ? "-" : TextOf(same->dollars_per_h));
      }
      const auto has = [&](const TableRow& other) { return other.name == row.name; };
      if (std::none_of(rows.begin(), rows.end(), has)) rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<TableRow> RowsOf(const ComparedCase& of) {
  const std::vector<ServerFigures>& servers = of.servers;
  std::vector<TableRow> rows = {{"", {}}, {"machine", {}}, {"load", {}}};
  for (const ServerFigures& server : servers) {
    rows[0].cells.push_back(server.server);
    rows[1].cells.push_back(server.machine);
    rows[2].cells.push_back(server.load);
  }
  const auto add = [&](std::string name, auto&& figure_of) {
    rows.push_back(RowOf(std::move(name), servers, figure_of));
  };
  add("throughput, op/s", [](const ServerFigures& s) { return &s.throughput_per_s; });
  for (const char* name : kLatencies) {
    const auto has = [&](const ServerFigures& s) { return s.latency_us.contains(name); };
    if (std::none_of(servers.begin(), servers.end(), has)) continue;
    add(fmt::format("latency {}, us", name), [&](const ServerFigures& s) -> const Figure* {
      const auto found = s.latency_us.find(name);
      return found == s.latency_us.end() ? nullptr : &found->second;
    });
  }
  add("operations per joule", [](const ServerFigures& s) { return &s.operations_per_j; });
  add("power of a server, W", [](const ServerFigures& s) { return &s.power_w; });
  add("servers for the target", [](const ServerFigures& s) { return &s.servers; });
  for (TableRow& row : CostRows(servers)) rows.push_back(std::move(row));
  return rows;
}

// Reasons below the table, each once: in it they would make columns wider than any screen. Takes
// them out of the cells.
std::string TakeReasons(std::vector<TableRow>* rows) {
  constexpr std::string_view kBegin = "unavailable: ";
  std::vector<std::string> reasons;
  for (TableRow& row : *rows) {
    for (std::string& cell : row.cells) {
      if (!cell.starts_with(kBegin)) continue;
      const std::string reason = cell.substr(kBegin.size());
      auto found = std::find(reasons.begin(), reasons.end(), reason);
      if (found == reasons.end()) found = reasons.insert(found, reason);
      cell = fmt::format("unavailable ({})", found - reasons.begin() + 1);
    }
  }
  std::string text;
  for (size_t i = 0; i < reasons.size(); ++i) text += fmt::format("  ({}) {}\n", i + 1, reasons[i]);
  return text;
}

std::string TableText(const std::vector<TableRow>& rows) {
  std::vector<size_t> widths(rows.front().cells.size() + 1, 0);
  for (const TableRow& row : rows) {
    widths[0] = std::max(widths[0], row.name.size());
    for (size_t i = 0; i < row.cells.size(); ++i)
      widths[i + 1] = std::max(widths[i + 1], row.cells[i].size());
  }
  std::string text;
  for (const TableRow& row : rows) {
    std::string line = fmt::format("  {:<{}}", row.name, widths[0]);
    for (size_t i = 0; i < row.cells.size(); ++i)
      line += fmt::format("  {:<{}}", row.cells[i], widths[i + 1]);
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string ComparisonText(const ComparedCase& of, const ServerPair& pair, const std::string& name,
                           const Comparison& comparison) {
  std::string text = fmt::format("    {}: ", name);
  if (comparison.ratio > 0) text += fmt::format("ratio {:.3g}, ", comparison.ratio);
  switch (comparison.winner) {
    case Winner::kNone: return text + fmt::format("no winner ({})\n", comparison.reason);
    case Winner::kFirst: return text + fmt::format("{} wins\n", of.servers[pair.first].server);
    case Winner::kSecond: return text + fmt::format("{} wins\n", of.servers[pair.second].server);
  }
  return text;
}

std::string BreakEvenText(const ComparedCase& of, const BreakEven& point) {
  const std::string& other = of.servers[point.other].server;
  std::string text = fmt::format(
      "    break-even: {} at ${:.0f}, ${:g}/kWh, {:g} years: ", of.servers[point.priced].server,
      point.price.value(), point.electricity.value(), point.lifetime.value());
  if (point.other_price.value() < 0) return text + fmt::format("{} is dearer at any price", other);
  return text + fmt::format("{} costs as much at ${:.0f}", other, point.other_price.value());
}

std::string PairText(const ComparedCase& of, const ServerPair& pair) {
  const ServerFigures &a = of.servers[pair.first], &b = of.servers[pair.second];
  std::string text = fmt::format("  {} / {}\n", a.server, b.server);
  for (const auto& [name, comparison] : pair.comparisons)
    text += ComparisonText(of, pair, name, comparison);
  const bool modelled = a.power_w.modelled || b.power_w.modelled;
  for (const BreakEven& point : pair.break_even)
    text += BreakEvenText(of, point) + (modelled ? " (modelled)\n" : "\n");
  if (!pair.no_break_even.empty())
    text += fmt::format("    break-even: unavailable: {}\n", pair.no_break_even);
  return text;
}

std::string CaseText(const ComparedCase& of) {
  std::string text =
      fmt::format("{}{}{}, {}\n  {}\n", of.experiment, of.experiment.empty() ? "" : ": ", of.target,
                  of.workload, of.load);
  std::vector<TableRow> rows = RowsOf(of);
  const std::string reasons = TakeReasons(&rows);
  text += TableText(rows) + reasons;
  for (const ServerFigures& server : of.servers) {
    if (!server.power_w.source.empty())
      text += fmt::format("  power of {}: {}\n", server.server, server.power_w.source);
    for (const std::string& note : server.notes)
      text += fmt::format("  note, {}: {}\n", server.server, note);
  }
  for (const ServerPair& pair : of.pairs) text += PairText(of, pair);
  return text + "\n";
}

json CostsJson(const ServerFigures& server) {
  json costs = json::array();
  for (const CostPoint& point : server.costs) {
    json cost = {{"electricity_dollars_per_kwh", point.electricity.value()},
                 {"dollars_per_h", ToJson(point.dollars_per_h)}};
    if (point.price) cost["price_dollars"] = point.price->value();
    if (point.lifetime) cost["lifetime_years"] = point.lifetime->value();
    costs.push_back(std::move(cost));
  }
  return costs;
}

json ServerJson(const ServerFigures& server) {
  json latency = json::object();
  for (const auto& [name, figure] : server.latency_us) latency[name] = ToJson(figure);
  return {{"server", server.server},
          {"machine", server.machine},
          {"title", server.title},
          {"load", server.load},
          {"command_line", server.command_line},
          {"operations_per_s", ToJson(server.throughput_per_s)},
          {"latency_us", latency},
          {"operations_per_j", ToJson(server.operations_per_j)},
          {"power_w", ToJson(server.power_w)},
          {"servers", ToJson(server.servers)},
          {"costs", CostsJson(server)},
          {"notes", server.notes}};
}

json PairJson(const ComparedCase& of, const ServerPair& pair) {
  const std::string &first = of.servers[pair.first].server,
                    &second = of.servers[pair.second].server;
  json comparisons = json::array(), break_even = json::array();
  for (const auto& [name, comparison] : pair.comparisons) {
    json one = {{"figure", name}, {"reason", comparison.reason}, {"winner", nullptr}};
    if (comparison.ratio > 0) one["ratio_of_medians"] = comparison.ratio;
    if (comparison.winner != Winner::kNone)
      one["winner"] = comparison.winner == Winner::kFirst ? first : second;
    comparisons.push_back(std::move(one));
  }
  const bool modelled =
      of.servers[pair.first].power_w.modelled || of.servers[pair.second].power_w.modelled;
  for (const BreakEven& point : pair.break_even) {
    break_even.push_back({{"priced", of.servers[point.priced].server},
                          {"price_dollars", point.price.value()},
                          {"other", of.servers[point.other].server},
                          {"other_price_dollars", point.other_price.value()},
                          {"lifetime_years", point.lifetime.value()},
                          {"electricity_dollars_per_kwh", point.electricity.value()},
                          {"modelled", modelled}});
  }
  json found = {{"first", first}, {"second", second}, {"comparisons", comparisons}};
  found["break_even"] = break_even;
  if (!pair.no_break_even.empty()) found["break_even_unavailable"] = pair.no_break_even;
  return found;
}

}  // namespace

std::string TextOf(const CompareResult& result, const CompareOptions& options) {
  std::string text = fmt::format(
      "medians [least - most of the repetitions]; servers and costs for {} "
      "op/s\n\n",
      Short(options.target_throughput_per_s));
  for (const ComparedCase& of : result.cases) text += CaseText(of);
  for (const std::string& note : result.notes) text += note + "\n";
  return text;
}

json ToJson(const CompareResult& result, const CompareOptions& options) {
  json cases = json::array();
  for (const ComparedCase& of : result.cases) {
    json servers = json::array(), pairs = json::array();
    for (const ServerFigures& server : of.servers) servers.push_back(ServerJson(server));
    for (const ServerPair& pair : of.pairs) pairs.push_back(PairJson(of, pair));
    cases.push_back({{"experiment", of.experiment},
                     {"target", of.target},
                     {"workload", of.workload},
                     {"load", of.load},
                     {"servers", servers},
                     {"pairs", pairs}});
  }
  return {{"format", "weft-bench compare"},
          {"version", 1},
          {"options",
           {{"target_throughput_per_s", options.target_throughput_per_s},
            {"prices_dollars", options.prices},
            {"lifetimes_years", options.lifetimes_years},
            {"electricity_dollars_per_kwh", options.electricity_dollars_per_kwh},
            {"servers", options.servers},
            {"utilization", options.utilization ? json(*options.utilization) : json()},
            {"best_load", options.best_load},
            {"by_target", options.by_target}}},
          {"cases", cases},
          {"notes", result.notes}};
}

}  // namespace weft::bench
