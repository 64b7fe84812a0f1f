#include "tool/top/screen.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace weft::tool {
namespace {

using Fields = std::vector<std::string>;

constexpr size_t kIndent = 12;  // the longest name of a line, and two blanks

std::string Trimmed(double x) {
  std::string text = x == 0 || x >= 100 ? fmt::format("{:.0f}", x)
                     : x >= 10          ? fmt::format("{:.1f}", x)
                                        : fmt::format("{:.2f}", x);
  if (text.find('.') == text.npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string Scaled(double x, double step, std::initializer_list<const char*> units) {
  auto unit = units.begin();
  for (; unit + 1 != units.end() && x >= 0.9995 * step; ++unit) x /= step;
  return Trimmed(x) + (**unit == 0 ? "" : std::string(" ") + *unit);
}

std::string CountText(double x) { return Scaled(x, 1000, {"", "k", "M", "G", "T"}); }
std::string RateText(double x) { return CountText(x) + "/s"; }
std::string SizeText(double x) { return Scaled(x, 1024, {"B", "KiB", "MiB", "GiB", "TiB"}); }
std::string TimeText(double ns) { return Scaled(ns, 1000, {"ns", "us", "ms", "s"}); }
std::string PercentText(double part) { return Trimmed(part) + " %"; }

std::string AgeText(uint64_t s) {
  if (s >= 86400) return fmt::format("{} d {} h", s / 86400, s / 3600 % 24);
  if (s >= 3600) return fmt::format("{} h {} min", s / 3600, s / 60 % 60);
  return s >= 60 ? fmt::format("{} min {} s", s / 60, s % 60) : fmt::format("{} s", s);
}

std::string ValueOf(const StatsReport& report, std::string_view name) {
  const auto line = report.find(name);
  return line == report.end() ? "" : line->second;
}

double LevelOf(const StatsReport& report, std::string_view name) {
  return static_cast<double>(CountOf(report, name));
}

// Adds the fields, two blanks between, and a new line where one does not fit. A word that is longer
// than a line is divided.
void AddFields(std::string_view name, const Fields& fields, size_t columns,
               std::vector<std::string>* lines) {
  std::string line = fmt::format("{:<{}}", name, kIndent);
  const size_t width = std::max(columns == 0 ? std::string::npos : columns, kIndent + 6);
  bool fresh = true;
  for (std::string_view field : fields) {
    if (!fresh && line.size() + 2 + field.size() > width) {
      lines->push_back(std::move(line));
      line.assign(kIndent, ' ');
      fresh = true;
    }
    if (!fresh) line += "  ";
    for (; line.size() + field.size() > width; line.assign(kIndent, ' ')) {
      // At a blank, if one is near the end.
      size_t cut = width - line.size();
      const size_t blank = field.rfind(' ', cut);
      if (blank != field.npos && blank > cut / 2) cut = blank;
      line += field.substr(0, cut);
      lines->push_back(std::move(line));
      field.remove_prefix(std::min(field.size(), field.find_first_not_of(' ', cut)));
    }
    line += field;
    fresh = false;
  }
  while (line.ends_with(' ')) line.pop_back();
  lines->push_back(std::move(line));
}

std::string MemoryText(const StatsReport& s) {
  return fmt::format("mem {} of {}", SizeText(LevelOf(s, "bytes")),
                     SizeText(LevelOf(s, "limit_maxbytes")));
}

// What matters most, in the order of the log line.
Fields Headline(const View& view) {
  Fields fields;
  const StatsReport& s = view.sample.general;
  if (view.activity) {
    const Activity& a = *view.activity;
    fields.push_back(RateText(a.requests_per_s));
    fields.push_back(a.hit_percent < 0 ? "hit -" : "hit " + PercentText(a.hit_percent));
    if (const auto all = a.latency.find("all"); all != a.latency.end()) {
      fields.push_back("p50 " + TimeText(all->second.p50_ns));
      fields.push_back("p99 " + TimeText(all->second.p99_ns));
      fields.push_back("p99.9 " + TimeText(all->second.p999_ns));
    }
  }
  fields.push_back(MemoryText(s));
  fields.push_back(
      fmt::format("conns {} of {}", ValueOf(s, "curr_connections"), ValueOf(s, "max_connections")));
  if (view.activity) fields.push_back("evict " + RateText(view.activity->RateOf("evictions")));
  return fields;
}

void AddServer(const View& view, size_t columns, std::vector<std::string>* lines) {
  const StatsReport& s = view.sample.general;
  Fields fields = {view.address, "up " + AgeText(CountOf(s, "uptime"))};
  const std::string weft = ValueOf(view.sample.pipeline, "weft_version");
  fields.push_back(weft.empty() ? "memcached " + ValueOf(s, "version") : "weft " + weft);
  fields.push_back(ValueOf(s, "threads") + " threads");
  AddFields("server", fields, columns, lines);
  if (!view.trouble.empty()) AddFields("TROUBLE", {view.trouble}, columns, lines);
  AddFields("now", Headline(view), columns, lines);
}

void AddRequests(const View& view, size_t columns, std::vector<std::string>* lines) {
  const StatsReport& s = view.sample.general;
  if (!view.activity) {
    AddFields("items", {CountText(LevelOf(s, "curr_items"))}, columns, lines);
    return;
  }
  const Activity& a = *view.activity;
  const auto sum = [&](std::initializer_list<std::string_view> names) {
    double total = 0;
    for (const std::string_view name : names) total += a.RateOf(name);
    return RateText(total);
  };
  AddFields("requests",
            {"get " + sum({"cmd_get"}), "set " + sum({"cmd_set"}),
             "delete " + sum({"delete_hits", "delete_misses"}), "touch " + sum({"cmd_touch"}),
             "incr, decr " + sum({"incr_hits", "incr_misses", "decr_hits", "decr_misses"})},
            columns, lines);
  AddFields(
      "items",
      {CountText(LevelOf(s, "curr_items")), "evicted " + sum({"evictions"}),
       "expired " + sum({"reclaimed"}), "refused " + sum({"store_too_large", "store_no_memory"})},
      columns, lines);
  AddFields(
      "sockets",
      {"in " + SizeText(a.RateOf("bytes_read")) + "/s",
       "out " + SizeText(a.RateOf("bytes_written")) + "/s", "opened " + sum({"total_connections"}),
       "rejected " + sum({"rejected_connections"}), "yields " + sum({"conn_yields"})},
      columns, lines);
}

void AddPlan(const View& view, size_t columns, std::vector<std::string>* lines) {
  const StatsReport& p = view.sample.pipeline;
  if (!view.sample.is_weft()) return;
  Fields fields = {ValueOf(p, "plan")};
  if (const uint64_t changes = CountOf(p, "plan:changes"); changes != 0) {
    fields.push_back(fmt::format("{} {}", changes, changes == 1 ? "change" : "changes"));
    fields.push_back("last: " + ValueOf(p, fmt::format("plan:change:{}", changes)));
  }
  AddFields("plan", fields, columns, lines);
  for (int i = 0; p.contains(fmt::format("gpu{}:name", i)); i++) {
    const std::string prefix = fmt::format("gpu{}:", i);
    Fields of_device = {ValueOf(p, prefix + "name"), ValueOf(p, prefix + "state")};
    if (view.activity)
      of_device.push_back(RateText(view.activity->RateOf(prefix + "queries")) + " queries");
    of_device.push_back(ValueOf(p, prefix + "failures") + " failures");
    AddFields(fmt::format("gpu{}", i), of_device, columns, lines);
  }
}

void AddLatency(const Activity& a, size_t columns, std::vector<std::string>* lines) {
  for (const char* of : {"get", "set", "delete", "arithmetic", "touch", "other"}) {
    const auto found = a.latency.find(of);
    if (found == a.latency.end()) continue;
    const Percentiles& p = found->second;
    AddFields(of,
              {fmt::format("{:<12}", RateText(static_cast<double>(p.requests) / a.seconds)),
               fmt::format("p50 {:<9}", TimeText(p.p50_ns)),
               fmt::format("p99 {:<9}", TimeText(p.p99_ns)), "p99.9 " + TimeText(p.p999_ns)},
              columns, lines);
  }
}

void AddTasks(const Activity& a, size_t columns, std::vector<std::string>* lines) {
  constexpr size_t kBar = 20;
  if (a.batch_queries > 0)
    AddFields("batches", {Trimmed(a.batch_queries) + " queries each"}, columns, lines);
  for (const TaskShare& task : a.tasks) {
    const auto filled = static_cast<size_t>(std::lround(task.share * kBar));
    AddFields(
        task.task,
        {std::string(filled, '#') + std::string(kBar - filled, '-'),
         fmt::format("{:>6}", PercentText(std::round(1000 * task.share) / 10)),
         fmt::format("{:>8} a query", TimeText(task.ns_per_query)), RateText(task.queries_per_s)},
        columns, lines);
  }
}

void AddDisk(const View& view, size_t columns, std::vector<std::string>* lines) {
  const StatsReport& d = view.sample.data;
  if (d.empty()) return;
  Fields fields;
  if (view.activity) {
    const Activity& a = *view.activity;
    const double lookups = a.RateOf("lookups");
    fields.push_back("lookups " + RateText(lookups));
    if (lookups > 0)
      fields.push_back("hit " + PercentText(100 * a.RateOf("lookup_hits") / lookups));
    fields.push_back("changes " + RateText(a.RateOf("changes")));
    fields.push_back(
        fmt::format("slowed {:.0f} ms/s", (a.RateOf("slowdown_us") + a.RateOf("stop_us")) / 1000));
  }
  fields.push_back("tables " + SizeText(LevelOf(d, "table_bytes")));
  fields.push_back("by level " + ValueOf(d, "tables_by_level"));
  if (ValueOf(d, "takes_changes") == "no") fields.emplace_back("TAKES NO CHANGES");
  AddFields("data", fields, columns, lines);
}

}  // namespace

std::vector<std::string> ScreenLines(const View& view, size_t columns) {
  std::vector<std::string> lines;
  AddServer(view, columns, &lines);
  AddRequests(view, columns, &lines);
  AddPlan(view, columns, &lines);
  AddDisk(view, columns, &lines);
  if (!view.activity) return lines;
  AddLatency(*view.activity, columns, &lines);
  AddTasks(*view.activity, columns, &lines);
  return lines;
}

std::vector<std::string> FitRows(std::vector<std::string> lines, size_t rows, size_t columns) {
  if (rows == 0 || lines.size() <= rows) return lines;
  const size_t hidden = lines.size() - rows + 1;
  lines.resize(rows - 1);
  std::string more = fmt::format("... {} more lines: enlarge the window", hidden);
  if (columns != 0 && more.size() > columns) more = fmt::format("+{} lines", hidden);
  lines.push_back(std::move(more));
  return lines;
}

std::string LogLine(const View& view) {
  if (!view.trouble.empty()) return view.address + "  " + view.trouble;
  std::string line = view.address;
  for (const std::string& field : Headline(view)) line += "  " + field;
  return line;
}

std::string JsonLine(const View& view) {
  nlohmann::json json = {{"address", view.address}};
  if (!view.trouble.empty()) {
    json["trouble"] = view.trouble;
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  const Sample& s = view.sample;
  json["server"] = s.is_weft() ? "weft" : "memcached";
  json["version"] =
      s.is_weft() ? ValueOf(s.pipeline, "weft_version") : ValueOf(s.general, "version");
  json["uptime_s"] = CountOf(s.general, "uptime");
  json["items"] = CountOf(s.general, "curr_items");
  json["bytes"] = CountOf(s.general, "bytes");
  json["limit_bytes"] = CountOf(s.general, "limit_maxbytes");
  json["connections"] = CountOf(s.general, "curr_connections");
  if (s.is_weft()) json["plan"] = ValueOf(s.pipeline, "plan");
  if (view.activity) {
    const Activity& a = *view.activity;
    json["seconds"] = a.seconds;
    json["requests_per_s"] = a.requests_per_s;
    json["hit_percent"] = a.hit_percent < 0 ? nlohmann::json() : nlohmann::json(a.hit_percent);
    for (const auto& [name, line] :
         {std::pair{"gets_per_s", "cmd_get"}, std::pair{"sets_per_s", "cmd_set"},
          std::pair{"evictions_per_s", "evictions"}, std::pair{"bytes_in_per_s", "bytes_read"},
          std::pair{"bytes_out_per_s", "bytes_written"}})
      json[name] = a.RateOf(line);
    for (const auto& [of, p] : a.latency)
      json["latency"][of] = {{"requests", p.requests},
                             {"p50_ns", p.p50_ns},
                             {"p99_ns", p.p99_ns},
                             {"p999_ns", p.p999_ns}};
    for (const TaskShare& task : a.tasks)
      json["tasks"][task.task] = {{"share", task.share},
                                  {"ns_per_query", task.ns_per_query},
                                  {"queries_per_s", task.queries_per_s}};
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace weft::tool
