// sim/figure/figure_test_kit.h: helpers of the figures' tests: very short runs, and figures that
// nobody ran.
//
// Threads   one owner.
#pragma once

#include <functional>
#include <string>

#include "sim/figure/experiment_parts.h"

namespace weft::sim {

inline Case SmallCase() {
  Case of;
  of.run.workload.buckets = 1024;
  of.run.workload.log_mib = 1;
  of.run.workload.ops = 400;
  of.run.l2_kb = 64;
  of.run.fast_forward = 200;
  return of;
}

// Gains of M1 to M3 as `gain_of` says, with a spread of a thousandth between seeds.
inline Figure FigureWith(const FigureSpec& spec, const std::function<double(const Point&)>& gain_of,
                         int seeds = 3) {
  Figure figure;
  for (const Point& point : spec.points) {
    Measured measured{.point = point, .baseline = {}, .run = {}};
    for (int seed = 0; seed < seeds; ++seed) {
      RunFigures before{.m1_cycles = 100, .m2_cycles = 200, .m3_cycles = 300};
      before.nj_per_op = 1000;
      const double left = 1 - gain_of(point) + 0.001 * seed;
      RunFigures after{.m1_cycles = 100 * left, .m2_cycles = 200 * left, .m3_cycles = 300 * left};
      after.nj_per_op = 1000 * left;
      measured.baseline.push_back(before);
      measured.run.push_back(after);
    }
    figure.Add(std::move(measured));
  }
  return figure;
}

}  // namespace weft::sim
