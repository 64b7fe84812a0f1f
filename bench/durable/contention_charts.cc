#include "bench/durable/contention_charts.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include <fmt/format.h>

#include "bench/harness/report.h"
#include "bench/harness/samples.h"

namespace weft::bench {
namespace {

using Figure = std::function<std::optional<double>(const ContentionRun&)>;

const base::Histogram& Reads(const LoadFigures& figures) {
  return figures.by_kind[static_cast<size_t>(OperationKind::kRead)];
}
const base::Histogram& Updates(const LoadFigures& figures) {
  return figures.by_kind[static_cast<size_t>(OperationKind::kUpdate)];
}
double MeanUs(const base::Histogram& histogram) { return histogram.Mean() * 1e-3; }
double MeanCpu(const ContentionRun& run) { return run.cpu_s / run.a.seconds * 100; }
std::optional<double> MeanGpu(const ContentionRun& run) {
  double sum = 0;
  size_t count = 0;
  for (const UsedSlice& used : run.used) {
    if (!used.gpu_percent) continue;
    sum += *used.gpu_percent;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

nlohmann::json LatencyOf(const base::Histogram& histogram) {
  return {{"mean_us", MeanUs(histogram)},
          {"p50_us", PercentileUs(histogram, 50)},
          {"p99_us", PercentileUs(histogram, 99)},
          {"p99_9_us", PercentileUs(histogram, 99.9)},
          {"max_us", static_cast<double>(histogram.max()) * 1e-3}};
}

// One figure of a run by the length of values, a panel for each share that is taken.
std::vector<LineChart> ByValueBytes(const ContentionTable& table, const std::string& title,
                                    const std::string& unit, const Figure& figure) {
  std::vector<LineChart> charts;
  for (const int taken : table.taken) {
    LineChart chart;
    chart.title = fmt::format("{}, {} % of the CPUs taken", title, taken);
    chart.x_name = "bytes of a value";
    chart.y_name = unit;
    chart.log2_x = true;
    chart.marks_points = true;  // one length of values is a point, and no line
    for (const std::string& store : table.stores) {
      LineChart::Line line{.name = store, .x = {}, .y = {}};
      for (const uint32_t value_bytes : table.value_bytes) {
        const auto run = table.runs.find({value_bytes, taken, store});
        if (run == table.runs.end()) continue;
        Samples samples;
        for (const ContentionRun& repetition : run->second) {
          if (const auto value = figure(repetition)) samples.Add(*value);
        }
        if (samples.empty()) continue;
        line.x.push_back(value_bytes);
        line.y.push_back(samples.Median());
        line.y_low.push_back(samples.Min());
        line.y_high.push_back(samples.Max());
      }
      chart.lines.push_back(std::move(line));
    }
    charts.push_back(std::move(chart));
  }
  return charts;
}

void Append(std::vector<LineChart>* to, std::vector<LineChart> charts) {
  for (LineChart& chart : charts) to->push_back(std::move(chart));
}

// Of each second; none: nothing can be said of it.
using Figures = std::vector<std::optional<double>>;

LineChart OverTime(const ContentionTable& table, uint32_t value_bytes, int taken,
                   const std::string& title, const std::string& unit,
                   const std::function<Figures(const ContentionRun&)>& figures) {
  LineChart chart;
  chart.title =
      fmt::format("{}, values of {} B, {} % of the CPUs taken", title, value_bytes, taken);
  chart.x_name = "s since the beginning of A";
  chart.y_name = unit;
  for (const std::string& store : table.stores) {
    LineChart::Line line{.name = store, .x = {}, .y = {}};  // empty: it keeps its colour
    const auto run = table.runs.find({value_bytes, taken, store});
    const Figures all = run == table.runs.end() ? Figures() : figures(run->second.front());
    for (size_t i = 0; i < all.size(); ++i) {
      if (!all[i]) continue;
      line.x.push_back(static_cast<double>(i + 1) * table.slice_s);
      line.y.push_back(*all[i]);
    }
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

template <typename Range, typename Get>
Figures Each(const Range& range, const Get& get) {
  Figures figures;
  for (const auto& one : range) figures.emplace_back(get(one));
  return figures;
}

std::vector<LineChart> TailCharts(const ContentionTable& table) {
  std::vector<LineChart> charts;
  for (const uint32_t value_bytes : table.value_bytes) {
    charts.push_back(OverTime(table, value_bytes, table.taken.front(), "99th percentile of updates",
                              "us", [](const ContentionRun& run) {
                                return Each(run.a.slices, [](const SliceRow& slice) {
                                  return slice.write_p99_us;
                                });
                              }));
  }
  return charts;
}

std::vector<LineChart> CourseCharts(const ContentionTable& table) {
  const bool has_256 = std::find(table.value_bytes.begin(), table.value_bytes.end(), 256u) !=
                       table.value_bytes.end();
  const uint32_t value_bytes = has_256 ? 256 : table.value_bytes.front();
  const int taken = table.taken.front();
  std::vector<LineChart> charts;
  const auto add = [&](const char* title, const char* unit, const auto& figures) {
    charts.push_back(OverTime(table, value_bytes, taken, title, unit, figures));
  };
  add("CPU time", "% of one CPU", [](const ContentionRun& run) {
    return Each(run.used, [](const UsedSlice& used) { return used.cpu_percent; });
  });
  add("GPU", "% of the time", [](const ContentionRun& run) {
    return Each(run.used, [](const UsedSlice& used) { return used.gpu_percent; });
  });
  add("Throughput", "op/s", [](const ContentionRun& run) {
    return Each(run.a.slices, [](const SliceRow& slice) {
      return static_cast<double>(slice.operations) / slice.seconds;
    });
  });
  return charts;
}

}  // namespace

double OperationsPerSecond(const ContentionRun& run) { return run.a.OperationsPerSecond(); }

double UpdateP99Us(const ContentionRun& run) { return PercentileUs(Updates(run.a), 99); }

nlohmann::json ToJson(const ContentionRun& run) {
  nlohmann::json json = {{"fill_s", run.fill.seconds},
                         {"fill_per_s", run.fill.OperationsPerSecond()},
                         {"fill_write", LatencyOf(run.fill.latency_ns)},
                         {"a_s", run.a.seconds},
                         {"a_per_s", OperationsPerSecond(run)},
                         {"read", LatencyOf(Reads(run.a))},
                         {"write", LatencyOf(Updates(run.a))},
                         {"cpu_percent", MeanCpu(run)},
                         {"settle_s", run.settle_s},
                         {"compacted_mib", run.compacted_bytes / (1 << 20)},
                         {"compactions_by_device", run.compactions_by_device},
                         {"compactions_left_to_cpu", run.compactions_left_to_cpu}};
  if (const auto gpu = MeanGpu(run)) json["gpu_percent"] = *gpu;
  json["slices"] = {{"operations", nlohmann::json::array()}};
  const auto or_null = [](const std::optional<double>& figure) {
    return figure ? nlohmann::json(*figure) : nlohmann::json();
  };
  for (const SliceRow& slice : run.a.slices) {
    json["slices"]["operations"].push_back(slice.operations);
    json["slices"]["read_p99_us"].push_back(or_null(slice.read_p99_us));
    json["slices"]["write_p99_us"].push_back(or_null(slice.write_p99_us));
  }
  return json;
}

std::string TextOf(const ContentionRun& run) {
  std::string text = fmt::format(
      "fill {:.1f} s, A {:.1f} s, {} op/s; mean {:.1f} us read, {:.1f} us write, p99 {:.0f} and "
      "{:.0f}; CPU {:.0f} %, compacted {} MiB",
      run.fill.seconds, run.a.seconds, Short(OperationsPerSecond(run)), MeanUs(Reads(run.a)),
      MeanUs(Updates(run.a)), PercentileUs(Reads(run.a), 99), UpdateP99Us(run), MeanCpu(run),
      Short(run.compacted_bytes / (1 << 20)));
  if (const auto gpu = MeanGpu(run)) text += fmt::format(", GPU {:.0f} %", *gpu);
  if (run.compactions_by_device != 0)
    text += fmt::format(", {} compactions by the device, {} left to the CPU",
                        run.compactions_by_device, run.compactions_left_to_cpu);
  return text;
}

std::vector<LineChart> ContentionUsageCharts(const ContentionTable& table) {
  std::vector<LineChart> usage = ByValueBytes(table, "CPU time in A", "% of one CPU", MeanCpu);
  const bool has_gpu = std::any_of(table.runs.begin(), table.runs.end(), [](const auto& runs) {
    return std::any_of(runs.second.begin(), runs.second.end(),
                       [](const ContentionRun& run) { return MeanGpu(run).has_value(); });
  });
  if (has_gpu) Append(&usage, ByValueBytes(table, "GPU in A", "% of the time", MeanGpu));
  return usage;
}

Status WriteContentionCharts(const ContentionTable& table, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::vector<LineChart> latencies = ByValueBytes(
      table, "Mean of reads", "us", [](const ContentionRun& run) { return MeanUs(Reads(run.a)); });
  Append(&latencies, ByValueBytes(table, "Mean of updates", "us",
                                  [](const ContentionRun& run) { return MeanUs(Updates(run.a)); }));
  const std::vector<std::pair<int, std::vector<LineChart>>> files = {
      {7, ByValueBytes(table, "YCSB A", "op/s", OperationsPerSecond)},
      {8, ByValueBytes(table, "Fill and A", "s",
                       [](const ContentionRun& run) { return run.fill.seconds + run.a.seconds; })},
      {9, latencies},
      {10, ContentionUsageCharts(table)},
      {11, ByValueBytes(table, "Read and written by flushes and compactions", "MiB",
                        [](const ContentionRun& run) { return run.compacted_bytes / (1 << 20); })},
      {12, TailCharts(table)},
      {13, CourseCharts(table)}};
  for (const auto& [number, charts] : files) {
    Status status = WriteSvg(charts, fmt::format("{}/figure-{}.svg", folder, number));
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

}  // namespace weft::bench
