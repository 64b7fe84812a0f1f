// The paper's experiments on recorded traces: a line for each trace, all of whose operations are
// played.

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/check.h"
#include "sim/figure/experiment_parts.h"

namespace weft::sim {
namespace {

struct TraceFigureKind {
  const char* name;
  const char* title;
  const char* x_name;
  Quantity quantity;
  void (*add)(FigureSpec&, const std::string& series, const Case&);
};

void AddSizes(FigureSpec& spec, const std::string& series, const Case& of) {
  for (const int bytes : kStaticBytes) {
    AddPoint(&spec, series, bytes, WithUnit(of, "oracle:1", fmt::format("static:{}", bytes)));
  }
}

void AddEntries(FigureSpec& spec, const std::string& series, const Case& of) {
  for (int entries = 1; entries <= 8; ++entries) {
    Case exhausted = WithUnit(of, "exhausted", "exact");
    exhausted.prefetch.exhausted_max = entries;
    AddPoint(&spec, series, entries, exhausted);
  }
}

void AddAccuracies(FigureSpec& spec, const std::string& series, const Case& of) {
  for (int percent = 10; percent <= 100; percent += 10) {
    AddPoint(&spec, series, percent,
             WithUnit(of, fmt::format("oracle:{}", percent / 100.0), "exact"));
  }
}

void AddUnits(FigureSpec& spec, const std::string& series, const Case& of) {
  constexpr std::pair<const char*, const char*> kUnits[] = {{"insitu", "exact"},
                                                            {"insitu", "runtime"},
                                                            {"insitu", "dynamic"},
                                                            {"hittable", "dynamic"},
                                                            {"exhausted", "exact"}};
  int number = 0;
  for (const auto& [pacu, pscu] : kUnits) {
    ++number;
    AddPoint(&spec, series, number, WithUnit(of, pacu, pscu));
    spec.points.back().x = fmt::format("{}+{}", pacu, pscu);
  }
}

std::string FolderOf(const std::string& trace) {
  const std::filesystem::path path(trace);
  return path.has_filename() ? path.filename() : path.parent_path().filename();
}

// The folder's name; all of its path where another has the same.
std::string TraceSeries(const std::string& trace, const std::vector<std::string>& traces) {
  const auto alike = std::count_if(traces.begin(), traces.end(), [&](const std::string& other) {
    return FolderOf(other) == FolderOf(trace);
  });
  return alike > 1 ? trace : FolderOf(trace);
}

constexpr TraceFigureKind kKinds[] = {
    {"trace-size", "as 5a: bytes that are prefetched of an object, address always right",
     "bytes of the value prefetched", Quantity::kLatency, AddSizes},
    {"trace-entries", "as 5b: a bucket's first objects prefetched", "objects at most",
     Quantity::kLatency, AddEntries},
    {"trace-accuracy", "as 5c: addresses right in so many of a hundred, size exact",
     "addresses right, percent", Quantity::kLatency, AddAccuracies},
    {"trace-units", "as 8: in-situ (exact, run-time, dynamic size), hit table, all of a bucket",
     "unit", Quantity::kLatency, AddUnits},
    {"trace-energy",
     "as 9: energy by in-situ (exact, run-time, dynamic size), hit table, all of a bucket", "unit",
     Quantity::kEnergy, AddUnits}};

}  // namespace

std::vector<std::string> TraceFigures() {
  std::vector<std::string> names;
  for (const TraceFigureKind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

FigureSpec TraceFigure(const std::string& name, const FigureBase& base) {
  for (const TraceFigureKind& kind : kKinds) {
    if (name != kind.name) continue;
    FigureSpec spec{.name = name,
                    .title = kind.title,
                    .x_name = kind.x_name,
                    .quantity = kind.quantity,
                    .points = {}};
    for (const std::string& trace : base.traces) {
      Case of = base.of;
      of.run.workload.source = "trace:" + trace;
      of.run.workload.ops = 0;
      kind.add(spec, TraceSeries(trace, base.traces), of);
    }
    return spec;
  }
  WEFT_CHECK(false);
  return {};
}

}  // namespace weft::sim
