// sim/dram/energy.h: what a channel's memory used, from how often and for how long it did what.
//
// Each event costs what it draws above the background. That is IDD3N for a rank with an open bank
// or in refresh, IDD2P for one that is powered down, and IDD2N for all others. REFpb is not
// counted, because no memory that has it has public currents; nor are I/O and termination.
//
// Units     nJ; mW over all clocks.
// Threads   pure.
// Source    the simulator's specification, section 2.2, energy accounting.
#pragma once

#include "sim/dram/controller.h"
#include "sim/dram/currents.h"

namespace weft::sim {

// Of one event each, or of one rank and clock.
struct EnergyCosts {
  double activate_nj;  // ACT with its PRE
  double read_nj;      // a burst
  double write_nj;
  double refresh_nj;  // of a rank
  double active_clock_nj;
  double powered_down_clock_nj;
  double idle_clock_nj;
};

EnergyCosts CostsOf(const Organization& organization, const Timing& timing,
                    const Currents& currents);

struct Energy {
  double activate_nj;
  double read_nj;
  double write_nj;
  double refresh_nj;
  double background_nj;

  double total_nj() const { return activate_nj + read_nj + write_nj + refresh_nj + background_nj; }
};

Energy EnergyOf(const EnergyCosts& costs, const ControllerCounts& counts);

}  // namespace weft::sim
