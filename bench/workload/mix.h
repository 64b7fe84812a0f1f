// bench/workload/mix.h: one workload: which operations, on which records, of which sizes.
//
// A mix that fills begins with an empty store and is over when its records are there; any other
// expects them. builtin_mixes.h has those with a name; mix_file.h reads a user's own.
//
// Threads   a value.
// Errors    a MixFault names the field as a file has it (mix_file.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "bench/workload/key_distribution.h"
#include "bench/workload/operation.h"
#include "bench/workload/rate_schedule.h"
#include "bench/workload/record.h"
#include "bench/workload/size_distribution.h"

namespace weft::bench {

// How far from 1 the shares' sum may be.
inline constexpr double kSharesTolerance = 1e-6;

struct OperationMix {
  std::string name;
  std::array<double, kOperationKinds> shares{};  // by OperationKind; their sum is 1
  KeyDistribution keys;
  SizeDistribution scan_length = SizeDistribution::Uniform(1, 100);
  RecordOptions record;
  uint64_t records = 1'000'000;  // at its beginning; of one that fills, at its end
  std::string fill_name;         // of the mix that makes them; empty: this one's and "-load"
  bool fills = false;
  std::optional<RateSchedule> rate;  // none: as fast as the store answers, or as the caller says

  double ShareOf(OperationKind kind) const { return shares[static_cast<size_t>(kind)]; }
  void SetShare(OperationKind kind, double share) { shares[static_cast<size_t>(kind)] = share; }
};

struct MixFault {
  std::string field;
  std::string what;
};
// What keeps it from running; none: nothing.
std::optional<MixFault> FaultOf(const OperationMix& mix);

// The mix that stores the records that `mix` expects.
OperationMix FillOf(const OperationMix& mix);

// As in result files: {"name": "ycsb-a", "operations": {"read": 0.5, ...}, "keys": ...}.
nlohmann::json ToJson(const OperationMix& mix);

}  // namespace weft::bench
