// bench/pipeline/energy_table.h: queries a joule, of each workload and plan.
//
// Threads   one at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/meter/reading.h"

namespace weft::bench {

// The meters' readings for a contender's turns in order, and the `queries` answered in them.
struct EnergyLine {
  std::string workload = {};
  size_t contender = 0;
  double queries = 0;
  double seconds = 0;
  std::vector<Readings> turns = {};

  // Of all turns together; unavailable, with the reason, if one turn has none.
  Reading Sum(const std::string& meter) const;
  // Of the joules that --energy found, and of the GPU's alone.
  Reading QueriesPerJoule(const std::string& meter) const;
};

// {"energy_j": ..., "gpu_energy_j": ..., "queries_per_j": ..., "queries_per_gpu_j": ...}: readings.
nlohmann::json EnergyJson(const EnergyLine& line);

// Workload by workload; each contender beside the first, which has one stage on the CPU.
void PrintEnergy(const std::vector<EnergyLine>& lines);

}  // namespace weft::bench
