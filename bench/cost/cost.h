// bench/cost/cost.h: the cost of servers that carry a given load: their number, the energy of an
// hour, purchase and energy of a lifetime, and the price at which another server costs as much.
//
// The symbols are the source's:
//
//     C_t = C_s + C_p                                  (5.1)  a server's whole cost
//     C_p = T_s * C_ph * (U * P_a + (1 - U) * P_i)     (5.2)  its energy, of a lifetime
//     C_e =       C_ph * (U * P_a + (1 - U) * P_i)     (5.3)  its energy, of an hour
//
// Units     bench/cost/units.h. The source writes T_s in years, P in watts and C_ph in dollars a
//           kilowatt hour; the functions convert these to hours and kilowatts.
// Threads   pure functions.
// Errors    kInvalidArgument, naming the quantity: negative, not a number, a share beyond 0 to 1,
//           a throughput or lifetime of 0.
// Source    paper 002, chapter 5. New here: the break-even price, which the paper reads off
//           figure 5.1.
#pragma once

#include "bench/cost/units.h"
#include "weft/status.h"

namespace weft::bench {

struct EnergyTerms {
  DollarsPerKilowattHour c_ph;  // price of electricity
  Share u;                      // the server's utilization
  Watts p_a;                    // its average power at work
  Watts p_i;                    // idle
};

// U * P_a + (1 - U) * P_i.
Result<Watts> MeanPower(Share u, Watts p_a, Watts p_i);
// Equation 5.3, C_e of one server.
Result<DollarsPerHour> EnergyCostAnHour(const EnergyTerms& terms);
// Equation 5.2, C_p of one server.
Result<Dollars> EnergyCostOfLifetime(Years t_s, const EnergyTerms& terms);
// Equation 5.1, C_t of one server.
Result<Dollars> TotalCost(Dollars c_s, Dollars c_p);

// The least number of servers that do `target` together.
Result<Servers> ServersNeeded(OperationsPerSecond target, OperationsPerSecond of_one_server);

// Servers that carry a load, without their price.
struct Cluster {
  Servers servers;
  EnergyTerms energy;
};

// C_e of all of them.
Result<DollarsPerHour> ClusterEnergyCostAnHour(const Cluster& cluster);
// C_t of all of them over T_s, an hour (figure 5.1).
Result<DollarsPerHour> ClusterCostAnHour(const Cluster& cluster, Dollars c_s, Years t_s);
// The C_s of a server of `other` at which `other` costs as much an hour as `priced` does. Below 0:
// energy alone costs more, so no price is low enough.
Result<Dollars> BreakEvenPrice(const Cluster& priced, Dollars c_s, const Cluster& other, Years t_s);

}  // namespace weft::bench
