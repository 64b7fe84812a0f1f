#include "sim/figure/catalogue.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "sim/figure/experiment_parts.h"

namespace weft::sim {
namespace {

using MakeOne = FigureSpec (*)(const FigureBase&);
constexpr std::pair<const char*, MakeOne> kPaperFigures[] = {
    {"5a", SizeFigure},    {"5b", UtilizationFigure},   {"5c", AccuracyFigure},
    {"6", MixSizeFigure},  {"7", MixUtilizationFigure}, {"8", MixUnitFigure},
    {"9", MixEnergyFigure}};

bool IsAmong(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<std::string> PaperFigures() {
  std::vector<std::string> names;
  for (const auto& [name, make] : kPaperFigures) names.emplace_back(name);
  return names;
}

Result<FigureSpec> MakeFigure(const std::string& name, const FigureBase& base) {
  for (const auto& [of_paper, make] : kPaperFigures) {
    if (name == of_paper) return make(base);
  }
  if (IsAmong(name, OtherFigures())) return OtherFigure(name, base);
  if (IsAmong(name, TraceFigures())) {
    if (!base.traces.empty()) return TraceFigure(name, base);
    return Status(Code::kInvalidArgument, "figure " + name + ": it needs --trace FOLDER");
  }
  return Status(
      Code::kInvalidArgument,
      fmt::format("figure '{}' is not one of {}, {}, {}", name, fmt::join(PaperFigures(), ", "),
                  fmt::join(OtherFigures(), ", "), fmt::join(TraceFigures(), ", ")));
}

Case WithFixed(Case of, int value_bytes, int per_bucket) {
  of.run.workload.source = "fixedk";
  of.run.workload.mix = fmt::format("fixed:{}", value_bytes);
  of.run.workload.util = fmt::format("exact:{}", per_bucket);
  return of;
}

Case WithMix(Case of, int mix, const std::string& utilization) {
  of.run.workload.source = "ramcloud";
  of.run.workload.mix = std::to_string(mix);
  of.run.workload.util = utilization;
  return of;
}

Case WithUnit(Case of, const std::string& pacu, const std::string& pscu) {
  of.prefetch.pacu = pacu;
  of.prefetch.pscu = pscu;
  return of;
}

void AddPoint(FigureSpec* spec, const std::string& series, double at, const Case& of) {
  spec->points.push_back({.series = series, .x = fmt::format("{:g}", at), .at = at, .of = of});
}

std::string Percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

double BreakEven(const std::vector<double>& per_bucket, const std::vector<double>& gains) {
  WEFT_CHECK(per_bucket.size() == gains.size());
  for (size_t i = 0; i < gains.size(); ++i) {
    if (gains[i] >= 0) continue;
    if (i == 0) return 0;
    const double share = gains[i - 1] / (gains[i - 1] - gains[i]);
    return per_bucket[i - 1] + share * (per_bucket[i] - per_bucket[i - 1]);
  }
  return std::numeric_limits<double>::infinity();
}

std::string BreakEvenText(const std::vector<double>& per_bucket, const std::vector<double>& gains) {
  const double at = BreakEven(per_bucket, gains);
  if (at == 0) return fmt::format("<{:g}", per_bucket.front());
  if (at > per_bucket.back()) return fmt::format(">{:g}", per_bucket.back());
  return fmt::format("{:.1f}", at);
}

}  // namespace weft::sim
