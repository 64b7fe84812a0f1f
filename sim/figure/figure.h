// sim/figure/figure.h: a figure: points that are each a run beside the same run without a unit, and
// the paper's claims about them.
//
// Threads   values.
// Source    paper 004, section 5; the simulator's specification, sections 1.5 and 3.8.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/figure/estimate.h"
#include "sim/figure/runner.h"

namespace weft::sim {

// Which mean latency is compared: run_result.h has the names.
enum class Metric : uint8_t { kM1, kM2, kM3 };
inline constexpr Metric kMetrics[] = {Metric::kM2, Metric::kM1, Metric::kM3};
const char* NameOf(Metric metric);

// What a figure is about, and draws.
enum class Quantity : uint8_t {
  kLatency,   // of memory requests (M2), over the baseline's
  kEnergy,    // of DRAM an operation, over the baseline's
  kAccuracy,  // of addresses: of each trigger
  kItself,    // of runs without a unit, beside which no other stands; latency (M2) is drawn
};

struct Point {
  std::string series;
  std::string x;  // as it is written
  double at = 0;  // on the axis
  Case of;
  bool is_drawn = true;
};

struct Measured {
  Point point;
  std::vector<RunFigures> baseline;  // by seed
  std::vector<RunFigures> run;       // as many

  // 1 - L/L0, by seed; NaN if the baseline has no such request.
  std::vector<double> Gains(Metric metric) const;
  // Of a figure of run and baseline, by seed; NaN if the baseline has none.
  std::vector<double> Ratios(double RunFigures::*figure) const;
  // Of the run, by seed.
  std::vector<double> Each(const std::function<double(const RunFigures&)>& figure) const;
  // Lines that cores asked for, of all prefetched; of the baseline's misses for objects.
  double Coverage(size_t seed) const;
  std::vector<double> Drawn(Quantity quantity) const;
};

class Figure {
 public:
  void Add(Measured measured) { points_.push_back(std::move(measured)); }
  const std::vector<Measured>& points() const { return points_; }
  // REQUIRES: there is such a point
  const Measured& Of(const std::string& series, const std::string& x) const;
  std::vector<double> Gains(const std::string& series, const std::string& x, Metric metric) const {
    return Of(series, x).Gains(metric);
  }
  double MeanGain(const std::string& series, const std::string& x, Metric metric) const {
    return EstimateOf(Gains(series, x, metric)).mean;
  }

 private:
  std::vector<Measured> points_;
};

// A claim of the paper, and whether it holds here.
struct Claim {
  std::string id;    // "A1"
  std::string what;  // the claim
  std::string band;  // when it holds
  std::string ours = {};
  bool holds = false;
  bool is_known = true;    // false: its subject was not measured
  bool by_latency = true;  // false: the metric has no part in it
};

struct FigureSpec {
  std::string name;  // "5a"
  std::string title;
  std::string x_name;
  Quantity quantity = Quantity::kLatency;
  std::vector<Point> points;
  // Empty: the paper says nothing about it.
  std::function<std::vector<Claim>(const Figure&, Metric)> judge = {};
};

// The cases that a figure needs, baselines among them.
std::vector<Case> CasesOf(const FigureSpec& spec);
// REQUIRES: the runner has run them
Figure FigureOf(const FigureSpec& spec, const Runner& runner);

struct JudgedClaim {
  Claim claim;
  Metric metric = Metric::kM2;  // meaningless unless by_latency
};
// By each metric, those where it matters. If a baseline lacks what they are judged by (the memory's
// currents aren't known; a trace has no objects), one claim that stands for all is unknown.
std::vector<JudgedClaim> ClaimsOf(const FigureSpec& spec, const Figure& figure);

}  // namespace weft::sim
