// sim/dram/currents.h: what a device draws in each state, by the data sheets' IDD numbers.
//
// Units     mA a device; volts.
// Threads   values.
// Source    the simulator's specification, section 2.2. Only what energy.h counts is here: no
//           active power-down, no self-refresh; I/O and termination are not modelled.
#pragma once

namespace weft::sim {

struct Currents {
  double vdd_v;
  double idd0_ma;   // one bank, ACT to ACT
  double idd2p_ma;  // in precharge power-down
  double idd2n_ma;  // all banks precharged
  double idd3n_ma;  // a bank open
  double idd4r_ma;  // reading without a pause
  double idd4w_ma;  // writing without a pause
  double idd5_ma;   // refreshing

  bool operator==(const Currents&) const = default;
};

}  // namespace weft::sim
