// sim/generator/key_popularity.h: how often the keys of a class are asked for.
//
// Threads   values.
// Errors    kInvalidArgument: no such popularity.
// Source    the simulator's specification, section 3.5.
#pragma once

#include <string_view>

#include "weft/status.h"

namespace weft::sim {

struct KeyPopularity {
  enum class Law {
    kUniform,
    kZipf,    // a key's rank is random, so that popular keys are strangers in memory
    kLatest,  // Zipf, and ranks are by insertion, the last first; a put changes no rank
  };
  Law law = Law::kUniform;
  double theta = 0;  // of Zipf's law

  bool operator==(const KeyPopularity&) const = default;
};

// "uniform", "zipf:THETA", "latest" (theta 0.99) or "latest:THETA".
Result<KeyPopularity> ParseKeyPopularity(std::string_view text);

}  // namespace weft::sim
