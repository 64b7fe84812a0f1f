#include "bench/meter/reading.h"

#include <cmath>

namespace weft::bench {

Reading Reading::Of(double value, std::string unit, std::string source) {
  if (!std::isfinite(value)) return Unavailable(source + " gave no number");
  Reading reading;
  reading.value_ = value;
  reading.unit_ = std::move(unit);
  reading.source_ = std::move(source);
  return reading;
}

Reading Reading::Unavailable(std::string reason) {
  WEFT_CHECK(!reason.empty());
  Reading reading;
  reading.reason_ = std::move(reason);
  return reading;
}

Reading Reading::Modelled() && {
  modelled_ = true;
  return std::move(*this);
}

Reading Reading::ByCpu(std::vector<double> values) && {
  by_cpu_ = std::move(values);
  return std::move(*this);
}

nlohmann::json ToJson(const Reading& reading) {
  if (!reading.available()) return {{"unavailable", reading.reason()}};
  nlohmann::json json = {
      {"value", reading.value()}, {"unit", reading.unit()}, {"source", reading.source()}};
  if (reading.modelled()) json["modelled"] = true;
  if (!reading.by_cpu().empty()) json["by_cpu"] = reading.by_cpu();
  return json;
}

nlohmann::json ToJson(const Readings& readings) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, reading] : readings) json[name] = ToJson(reading);
  return json;
}

}  // namespace weft::bench
