#include "sim/dram/energy.h"

namespace weft::sim {

EnergyCosts CostsOf(const Organization& organization, const Timing& timing,
                    const Currents& currents) {
  // V x mA x ns = pJ
  const double nj_per_ma_clock = currents.vdd_v * timing.tck_ns * organization.devices / 1000;
  const double row_cycle_ma_clocks = currents.idd0_ma * timing.trc -
                                     currents.idd3n_ma * timing.tras -
                                     currents.idd2n_ma * (timing.trc - timing.tras);
  const auto above_open = [&](double ma, int clocks) {
    return (ma - currents.idd3n_ma) * clocks * nj_per_ma_clock;
  };
  return {.activate_nj = row_cycle_ma_clocks * nj_per_ma_clock,
          .read_nj = above_open(currents.idd4r_ma, timing.tburst),
          .write_nj = above_open(currents.idd4w_ma, timing.tburst),
          .refresh_nj = above_open(currents.idd5_ma, timing.trfc),
          .active_clock_nj = currents.idd3n_ma * nj_per_ma_clock,
          .powered_down_clock_nj = currents.idd2p_ma * nj_per_ma_clock,
          .idle_clock_nj = currents.idd2n_ma * nj_per_ma_clock};
}

Energy EnergyOf(const EnergyCosts& costs, const ControllerCounts& counts) {
  const auto times = [](double nj, int64_t count) { return nj * static_cast<double>(count); };
  return {.activate_nj = times(costs.activate_nj, counts.activates),
          .read_nj = times(costs.read_nj, counts.read_bursts),
          .write_nj = times(costs.write_nj, counts.write_bursts),
          .refresh_nj = times(costs.refresh_nj, counts.refreshes),
          .background_nj = times(costs.active_clock_nj, counts.active_rank_clocks) +
                           times(costs.idle_clock_nj, counts.idle_rank_clocks) +
                           times(costs.powered_down_clock_nj, counts.powered_down_rank_clocks)};
}

}  // namespace weft::sim
