// bench/meter/rapl.h: the energy that the processor's packages, and the memory if it is counted,
// have used, by the processor's own meter (RAPL).
//
// Needs     the kernel's powercap driver, and the right to read its counters, which since Linux
//           5.10 only root has: chmod a+r /sys/class/powercap/*/energy_uj
// Limits    counters begin anew at max_energy_range_uj, after a minute or so of full load: Used
//           must be called more often, which each slice of a run does.
// Threads   one owner.
// Source    the kernel's Documentation/power/powercap/powercap.rst.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/meter/energy_source.h"

namespace weft::bench {

class Rapl : public EnergySource {
 public:
  // kUnsupported, with the reason, if there is none or it may not be read. `root`: where the zones
  // are, in tests elsewhere.
  static Result<std::unique_ptr<Rapl>> Open(const std::string& root = "/sys/class/powercap");

  std::string Name() const override { return name_; }
  Status Start() override;
  Result<Joules> Used() override;

 private:
  // A counter: a package, or the memory that belongs to one. Cores and graphics are parts of
  // packages, and psys is more than a package; none of these is added.
  struct Zone {
    std::string file;
    uint64_t range_uj;  // what it counts up to
    uint64_t last_uj;
  };
  Rapl() = default;
  // Adds the zone in `folder` if it is one of those.
  Status AddZone(const std::string& folder);

  std::string name_ = "rapl";
  std::vector<Zone> zones_;
  uint64_t used_uj_ = 0;
};

}  // namespace weft::bench
