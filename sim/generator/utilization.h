// sim/generator/utilization.h: how full an index's buckets are.
//
// Threads   values.
// Errors    kInvalidArgument: no such utilization.
// Source    the simulator's specification, section 3.5.
#pragma once

#include <string_view>

#include "weft/status.h"

namespace weft::sim {

// Objects per bucket on average; a chain of overflow buckets stays short.
inline constexpr double kObjectsPerBucketMax = 32;

struct Utilization {
  enum class Kind {
    kExact,    // each bucket has `objects`
    kPoisson,  // keys hash to buckets: `objects` a bucket on average
    kNatural,  // keys hash to buckets: as many as the log has room for
  };
  Kind kind = Kind::kNatural;
  double objects = 0;

  bool operator==(const Utilization&) const = default;
};

// "exact:K" with K from 1 to 8, "poisson:LAMBDA" or "natural".
Result<Utilization> ParseUtilization(std::string_view text);

}  // namespace weft::sim
