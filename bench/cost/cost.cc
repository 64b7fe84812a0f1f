#include "bench/cost/cost.h"

#include <cmath>

#include <fmt/format.h>

namespace weft::bench {
namespace {

template <typename Unit>
Status AtLeastZero(Quantity<Unit> quantity, const char* name) {
  if (std::isfinite(quantity.value()) && quantity.value() >= 0) return Status::Ok();
  return {Code::kInvalidArgument,
          fmt::format("{} must be a number of at least 0, not {}", name, quantity.value())};
}

template <typename Unit>
Status AboveZero(Quantity<Unit> quantity, const char* name) {
  if (std::isfinite(quantity.value()) && quantity.value() > 0) return Status::Ok();
  return {Code::kInvalidArgument,
          fmt::format("{} must be a number above 0, not {}", name, quantity.value())};
}

// What a division of doubles may be off by, so that 0.3 by 0.1 are three servers.
constexpr double kRounding = 1e-12;

}  // namespace

Result<Watts> MeanPower(Share u, Watts p_a, Watts p_i) {
  if (!(u.value() >= 0 && u.value() <= 1)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("utilization must be a share from 0 to 1, not {}", u.value()));
  }
  if (Status status = AtLeastZero(p_a, "power at work"); !status.ok()) return status;
  if (Status status = AtLeastZero(p_i, "idle power"); !status.ok()) return status;
  return u * p_a + (1 - u.value()) * p_i;
}

Result<DollarsPerHour> EnergyCostAnHour(const EnergyTerms& terms) {
  if (Status status = AtLeastZero(terms.c_ph, "price of electricity"); !status.ok()) return status;
  auto power = MeanPower(terms.u, terms.p_a, terms.p_i);
  if (!power) return power.error();
  return terms.c_ph * ToKilowatts(*power);
}

Result<Dollars> EnergyCostOfLifetime(Years t_s, const EnergyTerms& terms) {
  if (Status status = AboveZero(t_s, "lifetime"); !status.ok()) return status;
  auto c_e = EnergyCostAnHour(terms);
  if (!c_e) return c_e.error();
  return *c_e * ToHours(t_s);
}

Result<Dollars> TotalCost(Dollars c_s, Dollars c_p) {
  if (Status status = AtLeastZero(c_s, "purchase price"); !status.ok()) return status;
  if (Status status = AtLeastZero(c_p, "cost of energy"); !status.ok()) return status;
  return c_s + c_p;
}

Result<Servers> ServersNeeded(OperationsPerSecond target, OperationsPerSecond of_one_server) {
  if (Status status = AboveZero(target, "target throughput"); !status.ok()) return status;
  if (Status status = AboveZero(of_one_server, "throughput of a server"); !status.ok())
    return status;
  return Servers(std::ceil(target / of_one_server * (1 - kRounding)));
}

Result<DollarsPerHour> ClusterEnergyCostAnHour(const Cluster& cluster) {
  if (Status status = AboveZero(cluster.servers, "number of servers"); !status.ok()) return status;
  auto c_e = EnergyCostAnHour(cluster.energy);
  if (!c_e) return c_e.error();
  return cluster.servers * *c_e;
}

Result<DollarsPerHour> ClusterCostAnHour(const Cluster& cluster, Dollars c_s, Years t_s) {
  if (Status status = AboveZero(cluster.servers, "number of servers"); !status.ok()) return status;
  auto c_p = EnergyCostOfLifetime(t_s, cluster.energy);
  if (!c_p) return c_p.error();
  auto c_t = TotalCost(c_s, *c_p);
  if (!c_t) return c_t.error();
  return cluster.servers * *c_t / ToHours(t_s);
}

Result<Dollars> BreakEvenPrice(const Cluster& priced, Dollars c_s, const Cluster& other,
                               Years t_s) {
  auto cost = ClusterCostAnHour(priced, c_s, t_s);
  if (!cost) return cost.error();
  auto energy = ClusterEnergyCostAnHour(other);
  if (!energy) return energy.error();
  return (*cost - *energy) * ToHours(t_s) / other.servers.value();
}

}  // namespace weft::bench
