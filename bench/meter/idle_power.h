// bench/meter/idle_power.h: the machine's power before it has anything to do: P_i of paper 002's
// cost model. Nothing else may run meanwhile.
//
// Threads   one at a time; the caller sleeps while it is measured.
// Errors    none: the reading says why there is no figure.
#pragma once

#include <string>

#include "bench/harness/units.h"
#include "bench/meter/energy_spec.h"
#include "bench/meter/reading.h"

namespace weft::bench {

// By the meter that --energy means, over `over`; if that is only a model, by the model at once.
// `energy`: bench/meter/energy_spec.h.
Reading IdlePower(const std::string& energy, Seconds over,
                  const EnergyPlaces& places = EnergyPlaces());

}  // namespace weft::bench
