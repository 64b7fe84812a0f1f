// Figures of what the paper leaves open: how its results hang on load, cores, memory, map,
// destination, priority and popularity.

#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "sim/figure/experiment_parts.h"

namespace weft::sim {
namespace {

std::string SizeOf(int value_bytes) { return fmt::format("{} B", value_bytes); }

// In-situ's points and exhausted's, by value, with four objects a bucket.
void AddBothUnits(FigureSpec* spec, const std::string& series, const Case& of) {
  for (const char* pacu : {"insitu", "exhausted"}) {
    for (const int value : kFixedValueBytes) {
      AddPoint(spec, fmt::format("{}, {}", series, pacu), value,
               WithUnit(WithFixed(of, value, 4), pacu, "exact"));
    }
  }
}

// In-situ by the instructions of an operation, for each speed of plain instructions.
FigureSpec LoadFigure(const FigureBase& base) {
  FigureSpec spec{.name = "load",
                  .title = "load: in-situ, by load and the cores' speed",
                  .x_name = "instructions an operation",
                  .points = {}};
  for (const double cpi : {0.25, 0.5, 1.0}) {
    for (const int value : kFixedValueBytes) {
      for (const uint32_t instructions : {1250, 2500, 5000, 10'000}) {
        Case of = WithUnit(WithFixed(base.of, value, 4), "insitu", "exact");
        of.run.plain_cpi = cpi;
        of.run.workload.instr_per_op = instructions;
        AddPoint(&spec, fmt::format("{}, CPI {}", SizeOf(value), cpi), instructions, of);
      }
    }
  }
  return spec;
}

// What the units gain on other memories; by value.
FigureSpec MemoryFigure(const FigureBase& base) {
  FigureSpec spec{.name = "memory",
                  .title = "memory: in-situ and exhausted (4 a bucket) on other memories",
                  .x_name = "bytes of a value",
                  .points = {}};
  // DDR5's channel is half as wide, HBM's has many.
  constexpr std::pair<const char*, int> kMemories[] = {{"ddr3-1333-2gb-x8-sg15", 2},
                                                       {"ddr4-3200-8gb-x8", 2},
                                                       {"ddr5-4800-16gb-x8", 4},
                                                       {"hbm2-2000", 16},
                                                       {"hbm3-6400", 16}};
  for (const auto& [preset, channels] : kMemories) {
    Case of = base.of;
    of.run.memory.preset = preset;
    of.run.memory.channels = channels;
    AddBothUnits(&spec, preset, of);
  }
  return spec;
}

FigureSpec MapFigure(const FigureBase& base) {
  FigureSpec spec{.name = "map",
                  .title = "map: in-situ and exhausted (4 a bucket) by map of addresses",
                  .x_name = "bytes of a value",
                  .points = {}};
  for (const char* map : {"rank-il", "row-il", "xor-bank", "scheme2"}) {
    Case of = base.of;
    of.run.memory.map = map;
    AddBothUnits(&spec, map, of);
  }
  return spec;
}

// Where lines go, and which wait.
FigureSpec LinesFigure(const FigureBase& base) {
  FigureSpec spec{.name = "lines",
                  .title = "lines: exhausted, 256 B, by what becomes of prefetched lines",
                  .x_name = "objects a bucket",
                  .points = {}};
  const auto add = [&](const std::string& series, const auto& change) {
    for (const int k : {1, 2, 4, 6, 8}) {
      Case of = WithUnit(WithFixed(base.of, 256, k), "exhausted", "exact");
      change(of.run);
      AddPoint(&spec, series, k, of);
    }
  };
  add("to L2", [](RunOptions&) {});
  add("to the controller", [](RunOptions& run) { run.dest = "mcbuf"; });
  add("what L2 has is known", [](RunOptions& run) { run.filter = "oracle"; });
  add("demand first", [](RunOptions& run) { run.demand_first = true; });
  add("dropped after 200 clocks", [](RunOptions& run) { run.drop_age = 200; });
  add("demand first, dropped", [](RunOptions& run) {
    run.demand_first = true;
    run.drop_age = 200;
  });
  return spec;
}

// How right the hit table is.
FigureSpec ZipfFigure(const FigureBase& base) {
  FigureSpec spec{.name = "zipf",
                  .title = "zipf: triggers of which the hit table is right, by popularity",
                  .x_name = "Zipf's theta",
                  .quantity = Quantity::kAccuracy,
                  .points = {}};
  for (const int value : kFixedValueBytes) {
    for (const double theta : {0.0, 0.5, 0.7, 0.8, 0.9, 0.99}) {
      Case of = WithUnit(base.of, "hittable", "dynamic");
      of.run.workload.source = "ramcloud";
      of.run.workload.mix = fmt::format("fixed:{}", value);
      of.run.workload.util = "natural";
      of.run.fast_forward *= kLearningFactor;
      of.run.workload.pop = theta == 0 ? "uniform" : fmt::format("zipf:{}", theta);
      AddPoint(&spec, SizeOf(value), theta, of);
    }
  }
  return spec;
}

// How long in-situ may take.
FigureSpec InSituFigure(const FigureBase& base) {
  FigureSpec spec{.name = "insitu",
                  .title = "insitu: by the time to look into a bucket",
                  .x_name = "ns",
                  .points = {}};
  for (const char* pscu : {"exact", "runtime"}) {
    for (const int value : kFixedValueBytes) {
      for (const int64_t ns : {0, 10, 30, 60, 100}) {
        Case of = WithUnit(WithFixed(base.of, value, 4), "insitu", pscu);
        of.prefetch.insitu_ns = ns;
        AddPoint(&spec, fmt::format("{}, {}", SizeOf(value), pscu), static_cast<double>(ns), of);
      }
    }
  }
  return spec;
}

constexpr std::pair<const char*, FigureSpec (*)(const FigureBase&)> kFigures[] = {
    {"load", LoadFigure},   {"memory", MemoryFigure}, {"map", MapFigure},
    {"lines", LinesFigure}, {"zipf", ZipfFigure},     {"insitu", InSituFigure}};

}  // namespace

std::vector<std::string> OtherFigures() {
  std::vector<std::string> names;
  for (const auto& [name, make] : kFigures) names.emplace_back(name);
  return names;
}

FigureSpec OtherFigure(const std::string& name, const FigureBase& base) {
  for (const auto& [of, make] : kFigures) {
    if (name == of) return make(base);
  }
  WEFT_CHECK(false);
  return {};
}

}  // namespace weft::sim
