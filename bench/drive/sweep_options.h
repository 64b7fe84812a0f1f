// bench/drive/sweep_options.h: the options of `weft-bench sweep`.
//
// Threads   a value.
#pragma once

#include <string>
#include <vector>

#include "bench/drive/measure_options.h"

namespace weft::bench {

struct SweepOptions {
  MeasureOptions measure = {};
  int points = 8;                  // of the curve
  std::vector<double> rates = {};  // of the curve, instead: operations a second
  std::string limit = {};          // bench/drive/latency_limit.h; empty: no search
  double tolerance = 0.03;         // of the rate searched for
  int tries = 3;                   // at each rate of the search
};

}  // namespace weft::bench
