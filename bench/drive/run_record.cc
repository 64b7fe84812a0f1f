#include "bench/drive/run_record.h"

#include <ctime>

#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

double Us(uint64_t ns) { return static_cast<double>(ns) * 1e-3; }

// Closer to each other towards 100: half of what is left at each step.
nlohmann::json PercentilesJson(const base::Histogram& latency_ns) {
  nlohmann::json points = nlohmann::json::array();
  if (latency_ns.count() == 0) return points;
  constexpr int kSteps = 5;  // before what is left is halved
  double left = 100;
  const double least = 100.0 / static_cast<double>(latency_ns.count());
  for (; left > least; left /= 2) {
    for (int step = 0; step < kSteps; step++) {
      const double percent = 100 - left + left / 2 * step / kSteps;
      points.push_back({percent, Us(latency_ns.Percentile(percent))});
    }
  }
  points.push_back({100.0, Us(latency_ns.max())});
  return points;
}

nlohmann::json LoadJson(const RunContext& context, const LoadOptions& options) {
  return {{"loop", options.rate ? "open" : "closed"},
          {"threads", options.threads},
          {"sessions", options.threads * options.sessions},
          {"depth", options.depth},
          {"batch", options.batch > 0 ? options.batch : options.depth},
          {"rate_per_s", options.rate ? nlohmann::json(options.rate->RateAt(0)) : nullptr},
          {"rate", options.rate ? nlohmann::json(options.rate->ToText()) : nullptr},
          {"seconds", options.seconds},
          {"warmup_s", options.warmup_s},
          {"repetition", context.repetition},
          {"seed", options.seed}};
}

nlohmann::json ClientJson(const Target& target, const LoadOptions& options,
                          const LoadFigures& figures) {
  nlohmann::json client = {
      {"cpu_s", figures.cpu_s},
      {"cpu_us_per_operation",
       figures.operations == 0 ? 0 : figures.cpu_s * 1e6 / static_cast<double>(figures.operations)},
      {"busy", figures.busy},
      {"saturated", figures.ClientSaturated(target, options.rate.has_value())}};
  if (options.rate)
    client["send_lag_us"] = {{"p50", Us(figures.lag_ns.Percentile(50))},
                             {"p99", Us(figures.lag_ns.Percentile(99))},
                             {"max", Us(figures.lag_ns.max())}};
  return client;
}

nlohmann::json ResultJson(const Target& target, const LoadOptions& options,
                          const LoadFigures& figures) {
  nlohmann::json latency = {{"all", LatencyJson(figures.latency_ns)}};
  for (size_t kind = 0; kind < figures.by_kind.size(); kind++) {
    if (figures.by_kind[kind].count() == 0) continue;
    latency[NameOf(static_cast<OperationKind>(kind))] = LatencyJson(figures.by_kind[kind]);
  }
  nlohmann::json slices = nlohmann::json::array();
  for (const SliceRow& row : figures.slices) {
    nlohmann::json slice = {
        {"at_s", row.at_s}, {"seconds", row.seconds}, {"operations", row.operations}};
    for (const auto& [name, us] :
         {std::pair("p50_us", row.p50_us), {"p99_us", row.p99_us}, {"max_us", row.max_us}}) {
      if (row.operations != 0)
        slice[name] = us;
      else
        slice[name] = nullptr;  // nothing ended that would have one
    }
    slices.push_back(std::move(slice));
  }
  return {{"seconds", figures.seconds},
          {"operations", figures.operations},
          {"operations_per_s", figures.OperationsPerSecond()},
          {"records_read", figures.records},
          {"outcomes",
           {{"done", figures.outcomes.done},
            {"missing", figures.outcomes.missing},
            {"missing_by_right", figures.outcomes.missing_by_right},
            {"refused", figures.outcomes.refused},
            {"wrong", 0}}},  // one ends the run without a figure
          {"latency_us", latency},
          {"percentiles_us", PercentilesJson(figures.latency_ns)},
          {"slices", slices},
          {"client", ClientJson(target, options, figures)}};
}

nlohmann::json SlicesJson(const std::vector<MeterSlice>& slices) {
  nlohmann::json all = nlohmann::json::array();
  for (const MeterSlice& slice : slices) all.push_back(ToJson(slice));
  return all;
}

}  // namespace

nlohmann::json LeftOutRecord(const LeftOut& what, const std::string& why) {
  nlohmann::json record = {{"format", "weft-bench left out"},
                           {"version", 1},
                           {"date", NowText()},
                           {"target", {{"name", what.target}}},
                           {"why", why}};
  if (!what.workload.empty()) record["workload"] = {{"name", what.workload}};
  if (!what.load.empty()) record["load"] = what.load;
  return record;
}

nlohmann::json LatencyJson(const base::Histogram& latency_ns) {
  const auto at = [&](double percent) { return Us(latency_ns.Percentile(percent)); };
  return {{"count", latency_ns.count()},
          {"mean", latency_ns.Mean() * 1e-3},
          {"min", Us(latency_ns.min())},
          {"p50", at(50)},
          {"p90", at(90)},
          {"p95", at(95)},
          {"p99", at(99)},
          {"p99_9", at(99.9)},
          {"p99_99", at(99.99)},
          {"max", Us(latency_ns.max())}};
}

nlohmann::json RunRecord(const RunContext& context, const Target& target, const OperationMix& mix,
                         const LoadOptions& options, const LoadFigures& figures,
                         const RunMeters& meters) {
  return {{"format", "weft-bench run"},
          {"version", 1},
          {"date", NowText()},
          {"commit", ThisMachine().commit},
          {"command_line", context.command_line},
          {"experiment", context.experiment},
          {"machine", ToJson(ThisMachine())},
          {"target",
           {{"name", context.target_name},
            {"title", target.Title()},
            {"embedded", target.is_embedded()},
            {"settings", target.Settings()}}},
          {"workload", ToJson(mix)},
          {"load", LoadJson(context, options)},
          {"result", ResultJson(target, options, figures)},
          {"meters", ToJson(meters.readings)},
          {"meter_slices", SlicesJson(meters.slices)}};
}

}  // namespace weft::bench
