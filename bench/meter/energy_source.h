// bench/meter/energy_source.h: where joules come from: a counter, sampled power, a file that
// another program writes, or a model.
//
// Threads   one owner.
// Errors    of Start and Used: why there is no figure.
// Cost      Used is called each slice of a run; see each source.
#pragma once

#include <optional>
#include <string>

#include "bench/harness/units.h"
#include "weft/status.h"

namespace weft::bench {

class EnergySource {
 public:
  virtual ~EnergySource() = default;
  // For the report: "rapl package-0, dram".
  virtual std::string Name() const = 0;
  virtual bool is_modelled() const { return false; }
  // Whether Used gives figures before the run has ended.
  virtual bool is_live() const { return true; }
  // Of the machine at rest, if that is known without measuring.
  virtual std::optional<Watts> idle_power() const { return std::nullopt; }
  virtual Status Start() = 0;
  // Since Start.
  virtual Result<Joules> Used() = 0;
};

}  // namespace weft::bench
