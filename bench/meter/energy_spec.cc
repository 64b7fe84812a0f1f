#include "bench/meter/energy_spec.h"

#include <cstdlib>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "bench/meter/gpu_meter.h"
#include "bench/meter/mcp39f511.h"
#include "bench/meter/power_csv.h"
#include "bench/meter/power_model.h"
#include "bench/meter/power_sampler.h"
#include "bench/meter/rapl.h"

namespace weft::bench {
namespace {

using Source = std::unique_ptr<EnergySource>;
using Sources = std::vector<Source>;

constexpr Seconds kSerialInterval(0.1);

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::optional<double> NumberOf(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return number;
}

Status Meaningless(const std::string& spec) {
  return {Code::kInvalidArgument,
          fmt::format("--energy {}: not one of rapl, nvml, nvml:N, serial:DEVICE, csv:FILE, "
                      "model:IDLE_W,BUSY_W, auto",
                      spec)};
}

Result<Source> OpenRapl(const EnergyPlaces& places) {
  auto rapl = Rapl::Open(places.powercap);
  if (!rapl) return rapl.error();
  return Source(std::move(*rapl));
}

Result<Source> OpenGpu(const std::string& number, const EnergyPlaces& places) {
  int gpu = 0;
  if (!number.empty() && !base::ParseNumber(number, &gpu)) return Meaningless("nvml:" + number);
  return GpuEnergy(gpu, places.nvml);
}

Result<Source> OpenSerial(const std::string& words) {
  const std::vector<std::string> parts = Split(words, ',');
  if (parts.empty() || parts[0].empty()) return Meaningless("serial:" + words);
  Mcp39f511::Options options;
  for (size_t i = 1; i < parts.size(); ++i) {
    const bool is_step = parts[i].rfind("step=", 0) == 0;
    const double step_w = is_step ? NumberOf(parts[i].substr(5)).value_or(0) : 0;
    if (parts[i] == "511n") {
      options.part = Mcp39f511::Part::kBothOutlets;
    } else if (parts[i] == "511n:1") {
      options.part = Mcp39f511::Part::kFirstOutlet;
    } else if (parts[i] == "511n:2") {
      options.part = Mcp39f511::Part::kSecondOutlet;
    } else if (step_w > 0) {
      options.step = Watts(step_w);
    } else {
      return Meaningless("serial:" + words);
    }
  }
  auto opened = Mcp39f511::Open(parts[0], options);
  if (!opened) return opened.error();
  const auto monitor = std::make_shared<Mcp39f511>(std::move(*opened));
  return Source(std::make_unique<PowerSampler>(fmt::format("serial MCP39F511 {}", words),
                                               kSerialInterval,
                                               [monitor] { return monitor->ReadPower(); }));
}

Result<Source> OpenModel(const std::string& words, const EnergyPlaces& places) {
  const std::vector<std::string> parts = Split(words, ',');
  const auto idle = parts.size() == 2 ? NumberOf(parts[0]) : std::nullopt;
  const auto busy = parts.size() == 2 ? NumberOf(parts[1]) : std::nullopt;
  if (!idle || !busy) return Meaningless("model:" + words);
  auto model = PowerModel::Make(Watts(*idle), Watts(*busy), places.stat);
  if (!model) return model.error();
  return Source(std::make_unique<PowerModel>(std::move(*model)));
}

Result<Source> OpenOne(const std::string& spec, const EnergyPlaces& places) {
  const size_t colon = spec.find(':');
  const std::string kind = spec.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : spec.substr(colon + 1);
  if (spec == "rapl") return OpenRapl(places);
  if (kind == "nvml") return OpenGpu(rest, places);
  if (kind == "serial") return OpenSerial(rest);
  if (kind == "csv" && !rest.empty()) return Source(std::make_unique<PowerCsv>(rest));
  if (kind == "model") return OpenModel(rest, places);
  return Meaningless(spec);
}

Result<Sources> OpenWhatThereIs(const EnergyPlaces& places) {
  Sources sources;
  std::string reasons;
  for (const char* spec : {"rapl", "nvml"}) {
    auto source = OpenOne(spec, places);
    if (source) {
      sources.push_back(std::move(*source));
    } else {
      reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", source.error().message());
    }
  }
  if (sources.empty()) return Status(Code::kUnsupported, reasons);
  return sources;
}

}  // namespace

Result<Sources> OpenEnergy(const std::string& spec, const EnergyPlaces& places) {
  if (spec == "auto") return OpenWhatThereIs(places);
  const std::vector<std::string> parts = Split(spec, '+');
  if (parts.empty()) return Meaningless(spec);
  Sources sources;
  for (const std::string& part : parts) {
    auto source = OpenOne(part, places);
    if (!source) return source.error();
    sources.push_back(std::move(*source));
  }
  return sources;
}

}  // namespace weft::bench
