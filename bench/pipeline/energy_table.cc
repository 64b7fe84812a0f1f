#include "bench/pipeline/energy_table.h"

#include <cmath>

#include <fmt/format.h>

#include "bench/harness/report.h"

namespace weft::bench {
namespace {

constexpr const char* kAll = "energy_j";
constexpr const char* kGpu = "gpu_energy_j";

std::string Text(const Reading& reading, double factor = 1) {
  return reading.available() ? Short(reading.value() * factor) : "-";
}

std::string Over(const Reading& a, const Reading& b) {
  return a.available() && b.available() && b.value() > 0
             ? fmt::format("{:.2f}", a.value() / b.value())
             : "-";
}

// What plans gain over the first, in the mean of the workloads.
void PrintMeans(const std::vector<EnergyLine>& lines, const char* meter, const char* what) {
  std::map<size_t, std::pair<double, int>> logs;  // by contender
  const EnergyLine* first = nullptr;
  for (const EnergyLine& line : lines) {
    if (line.contender == 0) first = &line;
    if (line.contender == 0 || first == nullptr) continue;
    const Reading of = line.QueriesPerJoule(meter), than = first->QueriesPerJoule(meter);
    if (!of.available() || !than.available() || than.value() <= 0) continue;
    auto& [sum, count] = logs[line.contender];
    sum += std::log(of.value() / than.value());
    count++;
  }
  for (const auto& [contender, sum] : logs)
    fmt::print(
        "energy, plan {}: {:.2f} times one stage's queries per joule of {} (geometric mean "
        "of {})\n",
        contender, std::exp(sum.first / sum.second), what, sum.second);
}

}  // namespace

Reading EnergyLine::Sum(const std::string& meter) const {
  double sum = 0;
  std::string unit, source;
  bool is_modelled = false;
  for (const Readings& turn : turns) {
    const auto found = turn.find(meter);
    if (found == turn.end()) return Reading::Unavailable("there is no meter " + meter);
    if (!found->second.available()) return found->second;
    sum += found->second.value();
    unit = found->second.unit();
    source = found->second.source();
    is_modelled |= found->second.modelled();
  }
  if (turns.empty()) return Reading::Unavailable("nothing was metered");
  Reading reading = Reading::Of(sum, unit, source);
  return is_modelled ? std::move(reading).Modelled() : reading;
}

Reading EnergyLine::QueriesPerJoule(const std::string& meter) const {
  const Reading energy = Sum(meter);
  if (!energy.available()) return energy;
  if (energy.value() <= 0)
    return Reading::Unavailable("the turns were shorter than the meter's step");
  Reading reading = Reading::Of(queries / energy.value(), "1/J", energy.source());
  return energy.modelled() ? std::move(reading).Modelled() : reading;
}

nlohmann::json EnergyJson(const EnergyLine& line) {
  return {{kAll, ToJson(line.Sum(kAll))},
          {kGpu, ToJson(line.Sum(kGpu))},
          {"queries_per_j", ToJson(line.QueriesPerJoule(kAll))},
          {"queries_per_gpu_j", ToJson(line.QueriesPerJoule(kGpu))}};
}

void PrintEnergy(const std::vector<EnergyLine>& lines) {
  if (lines.empty() || lines[0].turns.empty()) return;
  const Reading energy = lines[0].Sum(kAll), gpu = lines[0].Sum(kGpu);
  const auto source = [](const Reading& reading) {
    if (!reading.available()) return "unavailable: " + reading.reason();
    return reading.source() + (reading.modelled() ? " (modelled)" : "");
  };
  fmt::print("\nenergy: {}; of the GPU: {}\n", source(energy), source(gpu));
  fmt::print("{:<12} {:>4} {:>9} {:>11} {:>11} {:>9} {:>11} {:>11}\n", "workload", "plan", "watts",
             "queries/J", "over plan 0", "GPU watts", "q./GPU J", "over plan 0");
  const EnergyLine* first = &lines[0];
  for (const EnergyLine& line : lines) {
    if (line.contender == 0) first = &line;
    const Reading all = line.QueriesPerJoule(kAll), of_gpu = line.QueriesPerJoule(kGpu);
    fmt::print("{:<12} {:>4} {:>9} {:>11} {:>11} {:>9} {:>11} {:>11}\n", line.workload,
               line.contender, Text(line.Sum(kAll), 1 / line.seconds), Text(all),
               Over(all, first->QueriesPerJoule(kAll)), Text(line.Sum(kGpu), 1 / line.seconds),
               Text(of_gpu), Over(of_gpu, first->QueriesPerJoule(kGpu)));
  }
  PrintMeans(lines, kAll, "all that was metered");
  PrintMeans(lines, kGpu, "the GPU");
}

}  // namespace weft::bench
