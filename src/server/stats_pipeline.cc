#include <numeric>

#include "server/stats_writer.h"

namespace weft::server {
namespace {

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// "1", "2-3", "4-7", ...
std::string SizeRange(size_t index) {
  const uint64_t low = uint64_t{1} << index;
  return index == 0 ? "1" : fmt::format("{}-{}", low, 2 * low - 1);
}

// Where a task is not timed by itself, why not; else empty.
std::string_view WhyUntimed(pipeline::Task task) {
  switch (task) {
    // The event loop receives and sends for all its connections at once.
    case pipeline::Task::kReceive:
    case pipeline::Task::kSend: return "unavailable";
    // In one stage a value is copied once, from the log into the reply.
    case pipeline::Task::kRead: return "within WR";
    default: return "";
  }
}

void AddDevices(const ServerSnapshot& s, StatsWriter* out) {
  for (size_t i = 0; i < s.devices.size(); ++i) {
    const DeviceInfo& device = s.devices[i];
    const std::string prefix = fmt::format("gpu{}:", i);
    out->Line(prefix + "name", device.name);
    out->Line(prefix + "hardware", device.hardware);
    out->Line(prefix + "state", device.usable ? "in use" : "retired");
    out->Line(prefix + "jobs", device.jobs);
    out->Line(prefix + "queries", device.queries);
    out->Line(prefix + "failures", device.failures);
    if (!device.last_failure.empty()) out->Line(prefix + "last_failure", device.last_failure);
  }
  if (s.devices.empty()) return;
  out->Line("device:batches", s.device_stages.batches);
  out->Line("device:queries", s.device_stages.queries);
  out->Line("device:time_ns", s.device_stages.time_ns);
  out->Line("device:stolen_queries", s.device_stages.stolen_queries);
  out->Line("device:reruns", s.device_stages.reruns);
  out->Line("device:refused", s.device_stages.refused);
  out->Line("device:behind_queries", s.device_stages.behind_queries);
}

std::string_view YesOrNo(bool value) { return value ? "yes" : "no"; }

// The newest has the number of all changes so far.
void AddChanges(const ServerSnapshot& s, StatsWriter* out) {
  uint64_t number = s.planner->changes - s.plan_changes.size();
  for (const PlanChangeInfo& change : s.plan_changes)
    out->Line(fmt::format("plan:change:{}", ++number),
              fmt::format("{:.1f} s ago, from {} to {}: {}", change.age_s, change.from, change.to,
                          change.why));
}

void AddProfile(const planner::Profile& profile, StatsWriter* out) {
  out->Line("profile:get_share", fmt::format("{:.3f}", profile.get_share));
  out->Line("profile:store_share", fmt::format("{:.3f}", profile.store_share()));
  out->Line("profile:delete_share", fmt::format("{:.3f}", profile.delete_share));
  out->Line("profile:hit_share", fmt::format("{:.3f}", profile.hit_share));
  out->Line("profile:key_bytes", fmt::format("{:.1f}", profile.key_bytes));
  out->Line("profile:value_bytes", fmt::format("{:.1f}", profile.value_bytes));
  out->Line("profile:zipf", fmt::format("{:.2f}", profile.zipf));
  out->Line("profile:batch_queries", fmt::format("{:.1f}", profile.batch_queries));
}

void AddPlanner(const planner::PlannerStats& planner, StatsWriter* out) {
  const planner::Decision& decision = planner.decision;
  out->Line("plan:stealing", YesOrNo(decision.candidate.steal));
  out->Line("plan:device_batch_min", decision.device_batch_min);
  out->Line("plan:changes", planner.changes);
  if (!planner.last_change.empty()) out->Line("plan:last_change", planner.last_change);
  out->Line("plan:plannings", planner.plannings);
  out->Line("plan:predicted_per_second", fmt::format("{:.0f}", decision.estimate.queries_per_s));
  out->Line("plan:yield", fmt::format("{:.3f}", decision.yield));
  out->Line("plan:measured_per_second", fmt::format("{:.0f}", planner.measured_queries_per_s));
  out->Line("plan:sockets_ns", fmt::format("{:.0f}", planner.sockets_ns));
  out->Line("plan:bound", planner::BoundName(decision.estimate.bound));
  AddProfile(planner.profile, out);
}

}  // namespace

std::string PipelineStats(const ServerSnapshot& s) {
  const PipelineTotals& p = s.pipeline;
  StatsWriter out;
  out.Line("weft_version", kWeftVersion);
  out.Line("plan", s.plan);
  out.Line("plan:chosen_by", s.planner ? "planner" : "command line");
  if (s.planner) {
    out.Line("plan:calibration", s.calibration);
    AddPlanner(*s.planner, &out);
    AddChanges(s, &out);
  }
  AddDevices(s, &out);
  const uint64_t busy_ns = std::accumulate(p.time_ns.begin(), p.time_ns.end(), uint64_t{0});
  for (size_t i = 0; i < p.time_ns.size(); ++i) {
    const std::string_view task = pipeline::TaskName(static_cast<pipeline::Task>(i));
    const std::string_view untimed = WhyUntimed(static_cast<pipeline::Task>(i));
    if (!untimed.empty()) {
      out.Line(fmt::format("{}:time_ns", task), untimed);
      continue;
    }
    out.Line(fmt::format("{}:time_ns", task), p.time_ns[i]);
    out.Line(fmt::format("{}:queries", task), p.queries[i]);
    out.Line(fmt::format("{}:ns_per_query", task),
             fmt::format("{:.1f}", Ratio(p.time_ns[i], p.queries[i])));
    out.Line(fmt::format("{}:share", task), fmt::format("{:.3f}", Ratio(p.time_ns[i], busy_ns)));
  }
  // Every query is parsed, and only once: that task counts them.
  const uint64_t queries = p.queries[static_cast<size_t>(pipeline::Task::kParse)];
  out.Line("queries", queries);
  out.Line("batches", p.batches);
  out.Line("batch_size_mean", fmt::format("{:.1f}", Ratio(queries, p.batches)));
  for (size_t i = 0; i < p.batch_sizes.size(); ++i) {
    if (p.batch_sizes[i] != 0) out.Line("batch_size:" + SizeRange(i), p.batch_sizes[i]);
  }
  out.Line("loop_turns", s.net.turns);
  out.Line("store:segments_freed", s.sessions.segments_freed);
  out.Line("store:carried", s.sessions.carried);
  out.Line("store:ghosts_stored", s.sessions.ghosts_stored);
  out.Line("store:eviction_age_p10_s", s.cache.eviction_age_p10_s);
  out.Line("store:eviction_age_p50_s", s.cache.eviction_age_p50_s);
  out.Line("store:eviction_age_p90_s", s.cache.eviction_age_p90_s);
  out.Line("store:room_made", s.sessions.room_made);
  out.Line("store:retries", s.sessions.retries);
  out.Line("store:memory_bytes", s.cache.memory_bytes);
  out.Line("store:object_bytes", s.cache.object_bytes);
  out.Line("store:index_bytes", s.index_bytes);
  return out.End();
}

}  // namespace weft::server
