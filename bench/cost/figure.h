// bench/cost/figure.h: a figure over repetitions, which may be unavailable or modelled, and the
// comparison of two of them: which is better, or why that can't be said.
//
// A winner is named only if the ranges of the repetitions do not overlap: the worst of one is
// better than the best of the other. With a single repetition the noise is unknown, and so is the
// winner.
//
// Units     those of the samples; `unit` says which.
// Threads   values; pure functions.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "bench/harness/samples.h"

namespace weft::bench {

struct Figure {
  Samples samples;          // one a repetition; empty: unavailable
  std::string unavailable;  // why
  std::string unit;
  std::string source;  // what reported it, where that isn't plain
  bool modelled = false;

  bool is_available() const { return !samples.empty(); }
};

enum class Better : uint8_t { kMore, kLess };
enum class Winner : uint8_t { kNone, kFirst, kSecond };

struct Comparison {
  Winner winner = Winner::kNone;
  double ratio = 0;    // medians: the first's over the second's; 0 where either is unavailable
  std::string reason;  // why there is no winner, or "ranges do not overlap"
};

Comparison Compare(const Figure& first, const Figure& second, Better better);

// "1.23 M [1.20 M - 1.25 M]", "4.56 (modelled)", "unavailable: no RAPL here".
std::string TextOf(const Figure& figure);
// {"median": ..., "min": ..., "max": ..., "repetitions": 3, "unit": "W"} or {"unavailable": why}.
nlohmann::json ToJson(const Figure& figure);

}  // namespace weft::bench
