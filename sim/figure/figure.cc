#include "sim/figure/figure.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "base/check.h"

namespace weft::sim {
namespace {

constexpr double RunFigures::*kLatencies[] = {&RunFigures::m1_cycles, &RunFigures::m2_cycles,
                                              &RunFigures::m3_cycles};
constexpr const char* kMetricNames[] = {"M1", "M2", "M3"};

bool HaveAll(const Figure& figure, double RunFigures::*of) {
  return std::all_of(figure.points().begin(), figure.points().end(), [&](const Measured& point) {
    return std::all_of(point.baseline.begin(), point.baseline.end(),
                       [&](const RunFigures& run) { return run.*of != 0; });
  });
}

}  // namespace

const char* NameOf(Metric metric) { return kMetricNames[static_cast<size_t>(metric)]; }

std::vector<double> Measured::Ratios(double RunFigures::*figure) const {
  std::vector<double> ratios;
  for (size_t seed = 0; seed < run.size(); ++seed) {
    const double before = baseline[seed].*figure;
    ratios.push_back(before == 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : run[seed].*figure / before);
  }
  return ratios;
}

std::vector<double> Measured::Gains(Metric metric) const {
  std::vector<double> gains = Ratios(kLatencies[static_cast<size_t>(metric)]);
  for (double& gain : gains) gain = 1 - gain;
  return gains;
}

std::vector<double> Measured::Each(const std::function<double(const RunFigures&)>& figure) const {
  std::vector<double> figures;
  for (const RunFigures& of : run) figures.push_back(figure(of));
  return figures;
}

double Measured::Coverage(size_t seed) const {
  const int64_t misses = baseline[seed].object_misses;
  return misses == 0
             ? 0
             : static_cast<double>(run[seed].prefetch.useful()) / static_cast<double>(misses);
}

std::vector<double> Measured::Drawn(Quantity quantity) const {
  if (quantity == Quantity::kLatency) return Ratios(&RunFigures::m2_cycles);
  if (quantity == Quantity::kEnergy) return Ratios(&RunFigures::nj_per_op);
  if (quantity == Quantity::kItself) return Each(std::mem_fn(&RunFigures::m2_cycles));
  return Each([](const RunFigures& of) { return of.units.address_accuracy(); });
}

const Measured& Figure::Of(const std::string& series, const std::string& x) const {
  const auto at = std::find_if(points_.begin(), points_.end(), [&](const Measured& measured) {
    return measured.point.series == series && measured.point.x == x;
  });
  WEFT_CHECK(at != points_.end());
  return *at;
}

std::vector<Case> CasesOf(const FigureSpec& spec) {
  std::vector<Case> cases;
  for (const Point& point : spec.points) {
    cases.push_back(point.of.Baseline());
    cases.push_back(point.of);
  }
  return cases;
}

Figure FigureOf(const FigureSpec& spec, const Runner& runner) {
  Figure figure;
  for (const Point& point : spec.points) {
    Measured measured{point, runner.Of(point.of.Baseline()), runner.Of(point.of)};
    // That of a unit that draws on a recorded trace is the same for all seeds.
    const RunFigures first = measured.baseline.front();
    measured.baseline.resize(measured.run.size(), first);
    figure.Add(std::move(measured));
  }
  return figure;
}

std::vector<JudgedClaim> ClaimsOf(const FigureSpec& spec, const Figure& figure) {
  std::vector<JudgedClaim> judged;
  if (!spec.judge) return judged;
  for (const Metric metric : kMetrics) {
    const bool is_energy = spec.quantity == Quantity::kEnergy;
    if (is_energy && metric != kMetrics[0]) continue;
    const auto of = is_energy ? &RunFigures::nj_per_op : kLatencies[static_cast<size_t>(metric)];
    if (!HaveAll(figure, of)) {
      Claim unknown{.id = spec.name,
                    .what = "its claims",
                    .band = "-",
                    .ours = "a run without a unit has no baseline to compare with",
                    .is_known = false,
                    .by_latency = !is_energy};
      judged.push_back({std::move(unknown), metric});
      continue;
    }
    for (Claim& claim : spec.judge(figure, metric)) {
      if (!claim.by_latency && metric != kMetrics[0]) continue;
      judged.push_back({std::move(claim), metric});
    }
  }
  return judged;
}

}  // namespace weft::sim
