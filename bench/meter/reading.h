// bench/meter/reading.h: what a meter found: a value with its unit and its source, or the reason
// why there is none. No reading is silently 0.
//
// Layout    as JSON: {"value": 12.3, "unit": "J", "source": "rapl package-0"}; with "modelled" as
//           true if it is computed and not measured, and "by_cpu" if each CPU has its own; or
//           {"unavailable": "why"}.
// Threads   values.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "bench/harness/units.h"

namespace weft::bench {

class Reading {
 public:
  static Reading Of(double value, std::string unit, std::string source);
  static Reading Of(Joules energy, std::string source) {
    return Of(energy.value(), "J", std::move(source));
  }
  static Reading Of(Watts power, std::string source) {
    return Of(power.value(), "W", std::move(source));
  }
  // REQUIRES: `reason` is not empty
  static Reading Unavailable(std::string reason);

  // The same, marked as worked out from a model.
  Reading Modelled() &&;
  // The same, with each CPU's share of it.
  Reading ByCpu(std::vector<double> values) &&;

  bool available() const { return reason_.empty(); }
  // REQUIRES: available()
  double value() const {
    WEFT_CHECK(available());
    return value_;
  }
  const std::string& unit() const { return unit_; }
  const std::string& source() const { return source_; }
  bool modelled() const { return modelled_; }
  const std::vector<double>& by_cpu() const { return by_cpu_; }
  // Empty if it is available.
  const std::string& reason() const { return reason_; }

 private:
  Reading() = default;

  double value_ = 0;
  std::string unit_;
  std::string source_;
  std::string reason_;
  std::vector<double> by_cpu_;
  bool modelled_ = false;
};

// By name: "cpu_s", "energy_j".
using Readings = std::map<std::string, Reading>;

nlohmann::json ToJson(const Reading& reading);
nlohmann::json ToJson(const Readings& readings);

}  // namespace weft::bench
