#include "sim/run/report.h"

#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/text_file.h"

namespace weft::sim {
namespace {

using Json = nlohmann::ordered_json;

// What nothing was counted of is null, and not 0.
Json OrNull(double value, int64_t count) { return count == 0 ? Json(nullptr) : Json(value); }

Json Latency(const Mean& mean) {
  return {{"count", mean.count}, {"mean", OrNull(mean.value(), mean.count)}};
}

Json CoresOf(const RunResult& run) {
  const CoreFigures& cores = run.cores;
  const auto ops = static_cast<int64_t>(cores.op_cycles.size());
  const auto percentile = [&](double part) {
    return ops == 0 ? Json(nullptr) : Json(run.OpCycles(part));
  };
  return {{"m1_reads_cycles", Latency(cores.reads)},
          {"m2_misses_cycles", Latency(cores.misses)},
          {"m3_kv_misses_cycles", Latency(cores.kv_misses)},
          {"m4_op_cycles",
           {{"count", ops},
            {"mean", OrNull(run.op_cycles_mean(), ops)},
            {"p50", percentile(0.5)},
            {"p99", percentile(0.99)}}},
          {"m5_ops_per_second", run.ops_per_second()},
          {"instructions", cores.instructions},
          {"cycles", cores.cycles},
          {"instructions_per_cycle", run.instructions_per_cycle()},
          {"window_stall_cycles", cores.stalled_cycles}};
}

Json L2Of(const L2Counts& l2) {
  return {{"hits", l2.hits},
          {"misses", l2.misses},
          {"joined_misses", l2.joined_misses},
          {"bucket_misses", l2.bucket_misses},
          {"object_misses", l2.object_misses},
          {"remote_hits", l2.remote_hits},
          {"invalidations", l2.invalidations},
          {"write_backs", l2.write_backs},
          {"waited_for_mshr", l2.waited_for_mshr}};
}

Json PrefetchOf(const RunResult& run) {
  Json json = {{"asked", run.prefetch.asked}, {"carried", run.prefetch.carried}};
  for (size_t i = 0; i < run.prefetch.outcomes.size(); ++i) {
    json[kOutcomeNames[i]] = run.prefetch.outcomes[i];
  }
  const auto& outcomes = run.prefetch.outcomes;
  const int64_t all = std::accumulate(outcomes.begin(), outcomes.end(), int64_t{0});
  json["accuracy"] =
      OrNull(run.prefetch.accuracy(), all - run.prefetch.of(PrefetchOutcome::kRedundant));
  json["timeliness"] = OrNull(run.prefetch.timeliness(), run.prefetch.useful());
  json["lost_l2_hits"] = run.l2.lost_hits;
  return json;
}

double QueuedOf(const PortFigures& channel) {
  return channel.clocks == 0
             ? 0
             : static_cast<double>(channel.queued_clocks) / static_cast<double>(channel.clocks);
}

Json EnergyJson(const std::optional<Energy>& energy, double seconds, int64_t ops) {
  if (!energy) return nullptr;
  const double total = energy->total_nj();
  return {{"activate_nj", energy->activate_nj},
          {"read_nj", energy->read_nj},
          {"write_nj", energy->write_nj},
          {"refresh_nj", energy->refresh_nj},
          {"background_nj", energy->background_nj},
          {"total_nj", total},
          {"power_w", seconds == 0 ? Json(nullptr) : Json(total * 1e-9 / seconds)},
          {"nj_per_op", OrNull(ops == 0 ? 0 : total / static_cast<double>(ops), ops)}};
}

// {latency, how many}, of those there were; the last latency stands for longer ones as well.
Json HistogramOf(const PortFigures& channel) {
  Json histogram = Json::array();
  for (size_t clocks = 0; clocks < channel.demand_latencies.size(); ++clocks) {
    const int64_t count = channel.demand_latencies[clocks];
    if (count > 0) histogram.push_back(Json::array({clocks, count}));
  }
  return histogram;
}

Json ChannelOf(const RunResult& run, const PortFigures& channel) {
  const ControllerCounts& counts = channel.controller;
  return {{"clocks", channel.clocks},
          {"reads", counts.reads_done},
          {"writes", counts.writes_done},
          {"activates", counts.activates},
          {"precharges", counts.precharges},
          {"refreshes", counts.refreshes},
          {"read_row_hits", counts.read_row_hits},
          {"write_row_hits", counts.write_row_hits},
          {"demand_latency_clocks", Latency(channel.demand_latency)},
          {"prefetch_latency_clocks", Latency(channel.prefetch_latency)},
          {"wait_clocks", Latency(channel.wait)},
          {"requests_queued_mean", QueuedOf(channel)},
          {"bus_utilization", run.BusUtilization(channel)}};
}

// What a row of runs.csv has after the configuration.
std::vector<std::pair<std::string, std::string>> Figures(const RunResult& run) {
  const PortFigures all = run.AllChannels();
  const std::optional<Energy> energy = run.AllEnergy();
  const auto number = [](auto value) { return fmt::format("{}", value); };
  const auto mean = [](const Mean& of) {
    return of.count == 0 ? "" : fmt::format("{}", of.value());
  };
  const auto of_ops = [&](auto value) {
    return run.cores.op_cycles.empty() ? "" : fmt::format("{}", value);
  };
  std::vector<std::pair<std::string, std::string>> figures = {
      {"ops", number(run.ops)},
      {"seconds", number(run.seconds())},
      {"m1_cycles", mean(run.cores.reads)},
      {"m2_cycles", mean(run.cores.misses)},
      {"m3_cycles", mean(run.cores.kv_misses)},
      {"m4_cycles", of_ops(run.op_cycles_mean())},
      {"m4_p50_cycles", of_ops(run.OpCycles(0.5))},
      {"m4_p99_cycles", of_ops(run.OpCycles(0.99))},
      {"m5_ops_per_second", number(run.ops_per_second())},
      {"window_stall_cycles", number(run.cores.stalled_cycles)},
      {"l2_misses", number(run.l2.misses)},
      {"l2_object_misses", number(run.l2.object_misses)},
      {"reads", number(all.controller.reads_done)},
      {"writes", number(all.controller.writes_done)},
      {"row_hits", number(all.controller.read_row_hits + all.controller.write_row_hits)},
      {"demand_latency_clocks", mean(all.demand_latency)},
      {"bus_utilization", number(run.BusUtilization(all))},
      {"energy_nj", energy ? number(energy->total_nj()) : ""},
      {"prefetches_asked", number(run.prefetch.asked)}};
  for (size_t i = 0; i < run.prefetch.outcomes.size(); ++i) {
    figures.emplace_back(kOutcomeNames[i], number(run.prefetch.outcomes[i]));
  }
  figures.emplace_back("lost_l2_hits", number(run.l2.lost_hits));
  figures.emplace_back("wall_s", number(run.wall_s));
  return figures;
}

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Status AppendRow(const std::string& path, const std::string& header, const std::string& row) {
  std::string first;
  if (std::ifstream file(path); file) std::getline(file, first);
  if (first.empty()) return WriteText(path, header + row, std::ios::out);
  if (first + "\n" != header) {
    return {Code::kInvalidArgument, path + ": its columns differ from this run's"};
  }
  return WriteText(path, row, std::ios::app);
}

}  // namespace

Json Summary(const Json& config, const RunResult& run, const Json& units) {
  const PortFigures all = run.AllChannels();
  Json channels = Json::array();
  for (const PortFigures& channel : run.channels) channels.push_back(ChannelOf(run, channel));
  Json summary = {
      {"config", config},
      {"measured", {{"ops", run.ops}, {"seconds", run.seconds()}}},
      {"cores", CoresOf(run)},
      {"l2", L2Of(run.l2)},
      {"prefetch", PrefetchOf(run)},
      {"memory", ChannelOf(run, all)},
      {"channels", channels},
      {"demand_latency_histogram_clocks", HistogramOf(all)},
      {"energy", EnergyJson(run.AllEnergy(), run.seconds(), run.ops)},
      {"mesh_waited_ns", static_cast<double>(run.mesh_waited) / kPicosecondsPerNanosecond},
      {"host",
       {{"wall_s", run.wall_s},
        {"requests", run.requests},
        {"requests_per_second", run.requests_per_wall_second()}}}};
  if (!units.is_null()) summary["units"] = units;
  return summary;
}

std::string CsvHeader(const Json& config, const Json& units) {
  std::string header;
  for (const auto& [name, value] : config.items()) header += name + ",";
  for (const auto& [name, value] : Figures(RunResult{})) header += name + ",";
  for (const auto& [name, value] : units.items()) header += "unit_" + name + ",";
  header.back() = '\n';
  return header;
}

std::string CsvRow(const Json& config, const RunResult& run, const Json& units) {
  std::string row;
  for (const auto& [name, value] : config.items()) row += CsvField(TextOf(value)) + ",";
  for (const auto& [name, value] : Figures(run)) row += value + ",";
  for (const auto& [name, value] : units.items()) row += CsvField(TextOf(value)) + ",";
  row.back() = '\n';
  return row;
}

std::string EpochCsv(const RunResult& run) {
  std::string text =
      "clock,ops,reads,writes,row_hits,prefetches_asked,bus_utilization,"
      "demand_latency_clocks,requests_queued_mean\n";
  for (const EpochFigures& epoch : run.epochs) {
    const std::optional<double>& latency = epoch.demand_latency_clocks;
    text += fmt::format("{},{},{},{},{},{},{},{},{}\n", epoch.clock, epoch.ops, epoch.reads,
                        epoch.writes, epoch.row_hits, epoch.prefetches_asked, epoch.bus_utilization,
                        latency ? fmt::format("{}", *latency) : "", epoch.queued);
  }
  return text;
}

Status WriteReport(const std::string& folder, const Json& config, const RunResult& run,
                   const Json& units) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Status::FromErrno("create " + folder, error.value());
  Status status = WriteText(folder + "/summary.json", Summary(config, run, units).dump(2) + "\n",
                            std::ios::out);
  if (status.ok()) status = WriteText(folder + "/epoch.csv", EpochCsv(run), std::ios::out);
  if (!status.ok()) return status;
  return AppendRow(folder + "/runs.csv", CsvHeader(config, units), CsvRow(config, run, units));
}

}  // namespace weft::sim
