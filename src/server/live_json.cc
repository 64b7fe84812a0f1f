#include "server/live_json.h"

#include <nlohmann/json.hpp>

namespace weft::server {
namespace {

using nlohmann::json;

json CountersOf(const ServerSnapshot& s) {
  const CommandTotals& c = s.commands;
  return {{"get_hits", c.get_hits},
          {"get_misses", c.get_misses},
          {"sets", c.cmd_set},
          {"deletes", c.delete_hits + c.delete_misses},
          {"arithmetic", c.incr_hits + c.incr_misses + c.decr_hits + c.decr_misses},
          {"touches", c.cmd_touch},
          {"refused", c.store_too_large + c.store_no_memory},
          {"evictions", s.sessions.evictions},
          {"expired", s.sessions.expired},
          {"connections", s.net.connections_opened},
          {"rejected", s.connections_rejected},
          {"bytes_in", s.net.bytes_in},
          {"bytes_out", s.net.bytes_out},
          {"batches", s.pipeline.batches},
          {"queries", s.pipeline.queries[static_cast<size_t>(pipeline::Task::kParse)]}};
}

json LevelsOf(const ServerSnapshot& s) {
  return {{"items", s.cache.items},
          {"item_bytes", s.cache.object_bytes},
          {"memory_bytes", s.cache.memory_bytes},
          {"limit_bytes", s.limit_bytes},
          {"index_bytes", s.index_bytes},
          {"buffer_bytes", s.net.buffer_bytes},
          {"connections", s.net.connections_open},
          {"connections_max", s.connections_max}};
}

// [[least nanoseconds, nanoseconds beyond, requests], ...], of all classes, without empty cells.
json LatencyOf(const ServerSnapshot& s) {
  json cells = json::array();
  const LatencyCells sum = s.latency.Sum();
  for (size_t cell = 0; cell < kLatencyCells; cell++)
    if (sum[cell] != 0)
      cells.push_back({LatencyCellBegin(cell), LatencyCellBegin(cell + 1), sum[cell]});
  return cells;
}

json TasksOf(const PipelineTotals& p) {
  json tasks = json::array();
  for (size_t i = 0; i < p.time_ns.size(); i++)
    tasks.push_back({{"task", pipeline::TaskName(static_cast<pipeline::Task>(i))},
                     {"ns", p.time_ns[i]},
                     {"queries", p.queries[i]}});
  return tasks;
}

json PlanOf(const ServerSnapshot& s) {
  json changes = json::array();
  for (const PlanChangeInfo& change : s.plan_changes)
    changes.push_back(
        {{"age_s", change.age_s}, {"from", change.from}, {"to", change.to}, {"why", change.why}});
  return {{"text", s.plan},
          {"by", s.planner ? "planner" : "command line"},
          {"changes", s.planner ? s.planner->changes : 0},
          {"last_changes", std::move(changes)}};
}

json DevicesOf(const ServerSnapshot& s) {
  json devices = json::array();
  for (const DeviceInfo& device : s.devices)
    devices.push_back({{"name", device.name},
                       {"hardware", device.hardware},
                       {"usable", device.usable},
                       {"queries", device.queries},
                       {"failures", device.failures}});
  return {{"list", std::move(devices)},
          {"ns", s.device_stages.time_ns},
          {"queries", s.device_stages.queries},
          {"stolen", s.device_stages.stolen_queries}};
}

}  // namespace

std::string LiveJson(const ServerSnapshot& s) {
  json live = {{"version", kWeftVersion}, {"uptime_s", s.uptime_s},       {"threads", s.threads},
               {"net", s.net_kind},       {"counters", CountersOf(s)},    {"levels", LevelsOf(s)},
               {"latency", LatencyOf(s)}, {"tasks", TasksOf(s.pipeline)}, {"plan", PlanOf(s)},
               {"devices", DevicesOf(s)}};
  if (s.data)
    live["data"] = {{"lookups", s.data->lookups},
                    {"lookup_hits", s.data->lookup_hits},
                    {"waits", s.data->waits},
                    {"table_bytes", s.data->disk_bytes},
                    {"takes_changes", !s.data->failed}};
  // A name of hardware may be in any bytes.
  return live.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace weft::server
