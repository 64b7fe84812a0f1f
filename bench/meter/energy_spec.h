// bench/meter/energy_spec.h: which meter of energy the words of --energy mean.
//
//     rapl                      the processor's own meter
//     nvml, nvml:1              a GPU's
//     serial:/dev/ttyACM0       an MCP39F511 or 511A; ,511n both outlets of a 511N, ,511n:1 one of
//                               them; ,step=0.00125 watts of a step of its power register
//     csv:FILE                  a table of watts
//     model:100,350             watts when idle and when all CPUs are busy
//     auto                      what there is of rapl and nvml
//
// Several may be joined by +, as in rapl+nvml: they are added, and all must be there.
//
// Threads   one at a time.
// Errors    kInvalidArgument for words that mean nothing; kUnsupported if the machine lacks it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/meter/energy_source.h"
#include "bench/meter/nvml.h"

namespace weft::bench {

// What tests use in the machine's place.
struct EnergyPlaces {
  std::string powercap = "/sys/class/powercap";
  const Nvml* nvml = nullptr;
  std::string stat = "/proc/stat";
};

Result<std::vector<std::unique_ptr<EnergySource>>> OpenEnergy(
    const std::string& spec, const EnergyPlaces& places = EnergyPlaces());

}  // namespace weft::bench
