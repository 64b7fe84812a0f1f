#include "bench/pipeline/energy_table.h"

#include <gtest/gtest.h>

namespace weft::bench {
namespace {

Readings Turn(double joules, double gpu_joules) {
  return {{"energy_j", Reading::Of(joules, "J", "model").Modelled()},
          {"gpu_energy_j", Reading::Of(gpu_joules, "J", "nvml")}};
}

TEST(EnergyTable, QueriesPerJouleAreOfAllTurns) {
  const EnergyLine line{.workload = "K8-G100-U",
                        .contender = 1,
                        .queries = 6e6,
                        .seconds = 2,
                        .turns = {Turn(100, 40), Turn(200, 20)}};
  EXPECT_DOUBLE_EQ(300, line.Sum("energy_j").value());
  EXPECT_TRUE(line.Sum("energy_j").modelled());
  EXPECT_FALSE(line.Sum("gpu_energy_j").modelled());
  EXPECT_DOUBLE_EQ(20'000, line.QueriesPerJoule("energy_j").value());
  EXPECT_DOUBLE_EQ(100'000, line.QueriesPerJoule("gpu_energy_j").value());
  const nlohmann::json json = EnergyJson(line);
  EXPECT_EQ("1/J", json["queries_per_j"]["unit"]);
  EXPECT_EQ(true, json["queries_per_j"]["modelled"]);
  EXPECT_EQ(60.0, json["gpu_energy_j"]["value"]);
}

TEST(EnergyTable, OneTurnWithoutAFigureIsNone) {
  EnergyLine line{.queries = 1e6, .seconds = 1, .turns = {Turn(10, 5), Turn(10, 5)}};
  line.turns[1].insert_or_assign("gpu_energy_j", Reading::Unavailable("no NVIDIA driver"));
  EXPECT_EQ("no NVIDIA driver", line.QueriesPerJoule("gpu_energy_j").reason());
  EXPECT_TRUE(line.QueriesPerJoule("energy_j").available());
  EXPECT_FALSE(line.Sum("nothing_j").available());
  line.turns.clear();
  EXPECT_FALSE(line.Sum("energy_j").available());
}

TEST(EnergyTable, NoJoulesAreNoEfficiency) {
  const EnergyLine line{.queries = 1e6, .seconds = 0.001, .turns = {Turn(0, 0)}};
  EXPECT_FALSE(line.QueriesPerJoule("energy_j").available());
  EXPECT_EQ(0, line.Sum("energy_j").value());
}

}  // namespace
}  // namespace weft::bench
