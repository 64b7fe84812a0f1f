#include "bench/cost/server_figures.h"

#include <algorithm>

#include <fmt/format.h>

namespace weft::bench {
namespace {

Figure Unavailable(std::string why) {
  Figure figure;
  figure.unavailable = std::move(why);
  return figure;
}

// U of a run: the CPUs' time that the store's processes used.
Result<Share> UtilizationOf(const ResultRun& run, const CompareOptions& options) {
  if (options.utilization) return Share(*options.utilization);
  const MeterReading cpu = run.Meter("cpu_s");
  if (!cpu.value) {
    return Status(Code::kUnsupported,
                  fmt::format("no utilization ({}): --utilization gives one", cpu.unavailable));
  }
  return Share(std::clamp(*cpu.value / (run.duration.value() * run.cpus), 0.0, 1.0));
}

Figure ModelledPower(const std::vector<ResultRun>& runs, const ServerSpec& spec,
                     const CompareOptions& options) {
  Figure figure;
  figure.unit = "W";
  figure.modelled = true;
  figure.source =
      fmt::format("model: idle {:g} W, busy {:g} W, {}", spec.idle->value(), spec.busy->value(),
                  options.utilization ? "utilization as given" : "measured utilization");
  for (const ResultRun& run : runs) {
    auto u = UtilizationOf(run, options);
    if (!u) return Unavailable(std::string(u.error().message()));
    auto power = MeanPower(*u, *spec.busy, *spec.idle);
    if (!power) return Unavailable(std::string(power.error().message()));
    figure.samples.Add(power->value());
  }
  return figure;
}

// The processor's counter sees neither a GPU nor the rest of the server. Where both were asked for
// (rapl+nvml) the sum has the GPU's joules already.
bool SeesProcessorOnly(const MeterReading& energy) {
  const auto has = [&](const char* word) { return energy.source.find(word) != std::string::npos; };
  return (has("rapl") || has("RAPL")) && !has("nvml");
}

struct RunEnergy {
  Joules energy;
  std::string source;
  bool modelled = false;
};

Result<RunEnergy> EnergyOf(const ResultRun& run) {
  const MeterReading energy = run.Meter("energy_j"), power = run.Meter("power_w_mean");
  const MeterReading gpu = run.Meter("gpu_energy_j");
  RunEnergy found;
  if (energy.value) {
    found = {Joules(*energy.value), energy.source, energy.modelled};
  } else if (power.value) {
    found = {Watts(*power.value) * run.duration, power.source, power.modelled};
  } else {
    return Status(Code::kUnsupported,
                  gpu.value
                      ? fmt::format("only the GPU's joules are known ({})", energy.unavailable)
                      : energy.unavailable);
  }
  if (gpu.value && SeesProcessorOnly(energy.value ? energy : power)) {
    found.energy = found.energy + Joules(*gpu.value);
    found.source += " + " + (gpu.source.empty() ? std::string("gpu_energy_j") : gpu.source);
    found.modelled = found.modelled || gpu.modelled;
  }
  return found;
}

Figure MeasuredPower(const std::vector<ResultRun>& runs) {
  Figure figure;
  figure.unit = "W";
  for (const ResultRun& run : runs) {
    auto energy = EnergyOf(run);
    if (!energy) return Unavailable(std::string(energy.error().message()));
    figure.samples.Add((energy->energy / run.duration).value());
    figure.source = energy->source;
    figure.modelled = figure.modelled || energy->modelled;
  }
  return figure;
}

// Both have a sample a run, in the same order.
Figure OperationsPerJouleOf(const std::vector<ResultRun>& runs, const Figure& power) {
  if (!power.is_available()) return Unavailable(power.unavailable);
  Figure figure;
  figure.unit = "op/J";
  figure.source = power.source;
  figure.modelled = power.modelled;
  for (size_t i = 0; i < runs.size(); ++i) {
    const double watts = power.samples.all()[i];
    if (!(watts > 0)) return Unavailable("the power was 0 W");
    figure.samples.Add((runs[i].throughput / Watts(watts)).value());
  }
  return figure;
}

Result<Figure> ServersOf(const std::vector<ResultRun>& runs, OperationsPerSecond target) {
  Figure figure;
  figure.unit = "servers";
  for (const ResultRun& run : runs) {
    auto servers = ServersNeeded(target, run.throughput);
    if (!servers) return servers.error();
    figure.samples.Add(servers->value());
  }
  return figure;
}

// C_e of all servers, or with a price the whole cost an hour. Energy is in both, so without power
// there is neither.
Result<Figure> CostOf(const Figure& servers, const Figure& power, const CostPoint& point) {
  if (!power.is_available()) return Unavailable(power.unavailable);
  Figure figure;
  figure.unit = "$/h";
  figure.source = power.source;
  figure.modelled = power.modelled;
  for (size_t i = 0; i < servers.samples.all().size(); ++i) {
    const Watts mean(power.samples.all()[i]);
    const Cluster cluster{Servers(servers.samples.all()[i]),
                          {point.electricity, Share(1), mean, mean}};
    auto cost = point.price ? ClusterCostAnHour(cluster, *point.price, *point.lifetime)
                            : ClusterEnergyCostAnHour(cluster);
    if (!cost) return cost.error();
    figure.samples.Add(cost->value());
  }
  return figure;
}

Status AddCosts(const ServerSpec& spec, const CompareOptions& options, ServerFigures* figures) {
  std::vector<Dollars> prices;
  if (spec.price) {
    prices.push_back(*spec.price);
  } else {
    for (const double price : options.prices) prices.emplace_back(price);
  }
  std::vector<CostPoint> points;
  for (const double electricity : options.electricity_dollars_per_kwh) {
    points.push_back({std::nullopt, std::nullopt, DollarsPerKilowattHour(electricity), {}});
    for (const Dollars price : prices)
      for (const double lifetime : options.lifetimes_years)
        points.push_back({price, Years(lifetime), DollarsPerKilowattHour(electricity), {}});
  }
  for (CostPoint& point : points) {
    auto cost = CostOf(figures->servers, figures->power_w, point);
    if (!cost) return cost.error();
    point.dollars_per_h = std::move(*cost);
  }
  figures->costs = std::move(points);
  return Status::Ok();
}

void AddNotes(const std::vector<ResultRun>& runs, ServerFigures* figures) {
  double wrong = 0;
  bool saturated = false, settings_differ = false;
  for (const ResultRun& run : runs) {
    wrong += run.wrong;
    saturated |= run.client_saturated;
    settings_differ |= run.settings != runs.front().settings;
  }
  if (wrong > 0) figures->notes.push_back(fmt::format("{} answers were wrong", wrong));
  if (saturated)
    figures->notes.push_back("the client was saturated: throughput and latency are the client's");
  if (settings_differ) figures->notes.push_back("the target's settings differ between repetitions");
  figures->is_sound = wrong == 0 && !saturated;
}

}  // namespace

Figure PowerOf(const std::vector<ResultRun>& runs, const ServerSpec& spec,
               const CompareOptions& options) {
  return spec.busy ? ModelledPower(runs, spec, options) : MeasuredPower(runs);
}

Result<ServerFigures> FiguresOf(const std::string& server, const std::vector<ResultRun>& runs,
                                const ServerSpec& spec, const CompareOptions& options) {
  const ResultRun& one = runs.front();
  ServerFigures figures;
  figures.server = server;
  figures.machine =
      one.cpu_model.empty() ? one.machine : fmt::format("{} CPUs, {}", one.cpus, one.cpu_model);
  figures.title = one.target_title;
  figures.load = one.load;
  figures.command_line = one.command_line;
  figures.throughput_per_s.unit = "op/s";
  for (const ResultRun& run : runs) {
    figures.throughput_per_s.samples.Add(run.throughput.value());
    for (const auto& [name, value] : run.latency_us) {
      if (name == "count") continue;
      figures.latency_us[name].unit = "us";
      figures.latency_us[name].samples.Add(value);
    }
  }
  figures.power_w = PowerOf(runs, spec, options);
  figures.operations_per_j = OperationsPerJouleOf(runs, figures.power_w);
  auto servers = ServersOf(runs, OperationsPerSecond(options.target_throughput_per_s));
  if (!servers) return servers.error();
  figures.servers = std::move(*servers);
  if (Status status = AddCosts(spec, options, &figures); !status.ok()) return status;
  AddNotes(runs, &figures);
  return figures;
}

}  // namespace weft::bench
