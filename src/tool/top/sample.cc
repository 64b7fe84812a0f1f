#include "tool/top/sample.h"

#include <algorithm>
#include <utility>

#include "base/parse_number.h"

namespace weft::tool {
namespace {

// Requests of all kinds, as memcached counts them.
constexpr std::string_view kRequestLines[] = {
    "cmd_get",   "cmd_set",     "cmd_touch", "cmd_meta",    "cmd_flush",    "delete_hits",
    "incr_hits", "incr_misses", "decr_hits", "decr_misses", "delete_misses"};
constexpr std::string_view kTasks[] = {"RV",        "PP", "MM", "IN.search", "IN.insert",
                                       "IN.delete", "KC", "RD", "WR",        "SD"};

double GrownBy(const StatsReport& before, const StatsReport& after, std::string_view line) {
  const uint64_t was = CountOf(before, line), is = CountOf(after, line);
  return is > was ? static_cast<double>(is - was) : 0;
}

void AddRates(const StatsReport& before, const StatsReport& after, double seconds,
              Activity* activity) {
  for (const auto& [name, value] : after)
    if (before.contains(name)) activity->rates[name] = GrownBy(before, after, name) / seconds;
}

// A cell of `stats latency cells`: "get:ns:19456-20479".
struct LatencyLine {
  std::string_view of;
  double middle_ns = 0;
};
bool ParseCell(std::string_view name, LatencyLine* line) {
  constexpr std::string_view kMark = ":ns:";
  const size_t mark = name.find(kMark);
  const size_t dash = name.find('-', mark);
  if (mark == name.npos || dash == name.npos) return false;
  const size_t begin = mark + kMark.size();
  uint64_t from = 0, to = 0;
  if (!base::ParseNumber(name.substr(begin, dash - begin), &from) ||
      !base::ParseNumber(name.substr(dash + 1), &to))
    return false;
  line->of = name.substr(0, mark);
  line->middle_ns = (static_cast<double>(from) + static_cast<double>(to)) / 2;
  return true;
}

using Cells = std::vector<std::pair<double, uint64_t>>;  // middle, requests

Percentiles PercentilesOf(Cells cells) {
  std::ranges::sort(cells);
  Percentiles result;
  for (const auto& [middle, requests] : cells) result.requests += requests;
  const auto at = [&](double part) {
    uint64_t below = 0;
    for (const auto& [middle, requests] : cells) {
      below += requests;
      if (static_cast<double>(below) >= part * static_cast<double>(result.requests)) return middle;
    }
    return 0.0;
  };
  result.p50_ns = at(0.5);
  result.p99_ns = at(0.99);
  result.p999_ns = at(0.999);
  return result;
}

void AddLatencies(const StatsReport& before, const StatsReport& after, Activity* activity) {
  std::map<std::string, Cells> cells;
  for (const auto& [name, value] : after) {
    LatencyLine line;
    const double grown = GrownBy(before, after, name);
    if (grown == 0 || !ParseCell(name, &line)) continue;
    cells[std::string(line.of)].emplace_back(line.middle_ns, static_cast<uint64_t>(grown));
  }
  for (auto& [of, counted] : cells) activity->latency[of] = PercentilesOf(std::move(counted));
}

void AddTaskShares(const StatsReport& before, const StatsReport& after, Activity* activity) {
  double all_ns = 0;
  for (const std::string_view task : kTasks) {
    const std::string prefix(task);
    if (!after.contains(prefix + ":queries")) continue;
    TaskShare& share = activity->tasks.emplace_back();
    share.task = prefix;
    share.share = GrownBy(before, after, prefix + ":time_ns");
    all_ns += share.share;
    const double queries = GrownBy(before, after, prefix + ":queries");
    share.ns_per_query = queries == 0 ? 0 : share.share / queries;
    share.queries_per_s = queries / activity->seconds;
  }
  for (TaskShare& share : activity->tasks) share.share = all_ns == 0 ? 0 : share.share / all_ns;
  const double batches = GrownBy(before, after, "batches");
  activity->batch_queries = batches == 0 ? 0 : GrownBy(before, after, "queries") / batches;
}

}  // namespace

double Activity::RateOf(std::string_view line) const {
  const auto rate = rates.find(line);
  return rate == rates.end() ? 0 : rate->second;
}

Result<Sample> TakeSample(StatsClient* client, uint64_t (*now_ns)()) {
  Sample sample;
  const std::pair<std::string_view, StatsReport Sample::*> reports[] = {
      {"", &Sample::general},
      {"pipeline", &Sample::pipeline},
      {"latency cells", &Sample::latency},
      {"data", &Sample::data}};
  for (const auto& [which, report] : reports) {
    auto answer = client->Ask(which);
    if (!answer) return answer.error();
    if (which.empty()) sample.at_ns = now_ns();
    sample.*report = std::move(*answer);
    if (which == "pipeline" && !sample.is_weft()) break;  // another server has no others either
  }
  return sample;
}

bool IsSameRun(const Sample& before, const Sample& after) {
  return CountOf(before.general, "pid") == CountOf(after.general, "pid") &&
         CountOf(before.general, "uptime") <= CountOf(after.general, "uptime");
}

Activity ActivityBetween(const Sample& before, const Sample& after) {
  Activity activity;
  activity.seconds = static_cast<double>(after.at_ns - before.at_ns) / 1e9;
  AddRates(before.general, after.general, activity.seconds, &activity);
  AddRates(before.data, after.data, activity.seconds, &activity);
  AddRates(before.pipeline, after.pipeline, activity.seconds, &activity);
  for (const std::string_view line : kRequestLines)
    activity.requests_per_s += activity.RateOf(line);
  const double hits = activity.RateOf("get_hits"), misses = activity.RateOf("get_misses");
  if (hits + misses > 0) activity.hit_percent = 100 * hits / (hits + misses);
  AddLatencies(before.latency, after.latency, &activity);
  AddTaskShares(before.pipeline, after.pipeline, &activity);
  return activity;
}

}  // namespace weft::tool
