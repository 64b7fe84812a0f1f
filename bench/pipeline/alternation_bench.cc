// Workloads that alternate, offline: does the planner's plan follow, how soon, and what is it
// worth?
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "bench/harness/line_chart.h"
#include "bench/harness/machine.h"
#include "bench/pipeline/contenders.h"
#include "bench/pipeline/folding.h"

namespace weft::bench {
namespace {

constexpr double kMs = 1e-3;        // seconds
constexpr size_t kCyclesShown = 6;  // of the trace, in the chart
constexpr double kCyclesOfRun = 4;  // at least

// What all runs have in common.
struct Course {
  const PipelineOptions* options;
  std::vector<Workload> workloads;
  std::vector<std::unique_ptr<KeyPicker>> pickers;
  std::vector<Contender> contenders;
  std::vector<std::string> names;  // of the contenders
  const planner::Calibration* calibration;
  Devices* devices;
  DataSet* data;
};

size_t SlotsOfCycle(const AlternationOptions& options) {
  return static_cast<size_t>(std::llround(options.trace_cycle_ms / options.slot_ms));
}

std::string NameOf(const Contender& contender, size_t at) {
  if (contender.is_auto) return "planner";
  if (contender.plan.stages().size() == 1) return "one stage";
  return fmt::format("plan {}{}", at, contender.steal ? "" : ", no stealing");
}

// All contenders with workloads that come again after `cycle_ms`. `slot_ms` 0: no slots.
Result<std::vector<ContenderFigures>> RunCycle(const Course& course, double cycle_ms,
                                               double cycles_min, double slot_ms) {
  PipelineOptions options = *course.options;
  if (slot_ms != 0) options.repetitions = 1;  // slots of several could not be told apart
  const double cycle_s = cycle_ms * kMs;      // whole ones: no workload gets more time than others
  options.run_s = cycle_s * std::max(cycles_min, std::ceil(options.run_s / cycle_s - 1e-9));
  const auto count = static_cast<double>(course.workloads.size());
  Traffic traffic;
  traffic.workloads = course.workloads;
  for (const auto& picker : course.pickers) traffic.pickers.push_back(picker.get());
  traffic.ring_turn_ns = static_cast<uint64_t>(std::llround(cycle_ms * 1e6 / count));
  traffic.slot_ns = static_cast<uint64_t>(std::llround(slot_ms * 1e6));
  return RunTurns(options, traffic, course.contenders, course.calibration, course.devices,
                  course.data);
}

nlohmann::json CourseDetails(const Course& course, size_t c, const ContenderFigures& figures) {
  const PipelineOptions& options = *course.options;
  const Contender& contender = course.contenders[c];
  nlohmann::json names = nlohmann::json::array();
  for (const Workload& workload : course.workloads) names.push_back(workload.name);
  nlohmann::json details = {{"workloads", names},
                            {"memory_mb", options.memory_mb},
                            {"objects", course.data->objects()},
                            {"threads", options.threads},
                            {"devices", DevicesJson(*course.devices)},
                            {"more_threads_than_cpus", options.threads > ThisMachine().cpus},
                            {"interval_us", contender.interval_us},
                            {"plan", contender.is_auto ? "auto" : contender.plan.ToText()},
                            {"steal", contender.steal},
                            {"learns", options.learns}};
  details.update(ToJson(figures.figures));
  if (figures.planner) AddDecision(*figures.planner, figures.figures, &details);
  return details;
}

// `baseline`: the contender that this one is held against.
Row RowOf(const Course& course, const std::string& name, size_t c, size_t baseline,
          const std::vector<ContenderFigures>& all) {
  Row row;
  row.bench = "alternation";
  row.name = fmt::format("{}/{}", name, course.names[c]);
  row.unit = "queries/s";
  row.subject = {course.names[c], all[c].rates};
  row.judged = all[c].rates.Median();
  row.judged_name = "queries/s";
  if (c != baseline)
    row.SetPeer("over " + course.names[baseline], {course.names[baseline], all[baseline].rates});
  row.details = CourseDetails(course, c, all[c]);
  return row;
}

// A few cycles of the trace as they were.
LineChart TraceChart(const Course& course, const AlternationOptions& options,
                     const std::vector<ContenderFigures>& all) {
  LineChart chart;
  const size_t slots_of_cycle = SlotsOfCycle(options);
  for (const Workload& workload : course.workloads)
    chart.title += (chart.title.empty() ? "" : ", then ") + workload.name;
  chart.title += fmt::format(", {:g} ms each",
                             options.trace_cycle_ms / static_cast<double>(course.workloads.size()));
  chart.x_name = fmt::format("ms; a point every {:g} ms", options.slot_ms);
  chart.y_name = "M queries/s";
  const double turn_ms = options.trace_cycle_ms / static_cast<double>(course.workloads.size());
  const double end_ms = kCyclesShown * options.trace_cycle_ms;
  for (double at = turn_ms; at < end_ms; at += 2 * turn_ms)
    chart.bands.push_back({at, at + turn_ms});
  for (size_t c = 0; c < all.size(); ++c) {
    LineChart::Line line;
    line.name = course.names[c];
    const std::vector<uint64_t>& slots = all[c].figures.slot_queries;
    for (size_t i = 0; i < kCyclesShown * slots_of_cycle; ++i) {
      const size_t at = slots_of_cycle + i;  // nothing came before the first cycle
      if (at >= slots.size()) break;
      line.x.push_back((static_cast<double>(i) + 0.5) * options.slot_ms);
      line.y.push_back(static_cast<double>(slots[at]) / (options.slot_ms * kMs) * 1e-6);
    }
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

// Figure 20: slot by slot, one repetition.
Status RunTrace(const AlternationOptions& options, const Course& course, size_t baseline,
                Report& report) {
  auto all = RunCycle(course, options.trace_cycle_ms, options.trace_cycles, options.slot_ms);
  if (!all) return all.error();
  const size_t count = course.workloads.size();
  const size_t slots_of_cycle = SlotsOfCycle(options);
  const double slot_s = options.slot_ms * kMs;
  for (size_t c = 0; c < all->size(); ++c) {
    Row row = RowOf(course, fmt::format("trace-{:g}ms", options.trace_cycle_ms), c, baseline, *all);
    const Figures& figures = (*all)[c].figures;
    const std::vector<double> folded = Fold(figures.slot_queries, slots_of_cycle, slot_s);
    if (folded.empty()) return {Code::kInvalidArgument, "--trace-cycles: at least two are needed"};
    row.details["slot_ms"] = options.slot_ms;
    row.details["folded_queries_per_s"] = folded;
    row.details["folded_in_stages_per_s"] = Fold(figures.slot_in_stages, slots_of_cycle, slot_s);
    std::vector<std::string> said;
    for (size_t w = 0; w < count; ++w) {
      const std::span<const double> turn =
          std::span(folded).subspan(w * (slots_of_cycle / count), slots_of_cycle / count);
      const Recovery recovery = RecoveryOf(turn);
      const double ms = static_cast<double>(recovery.slots) * options.slot_ms;
      row.details["steady_queries_per_s"].push_back(recovery.steady);
      row.details["recovered_ms"].push_back(ms);
      said.push_back(fmt::format("{}: {} queries/s, at its best after {:.1f} ms",
                                 course.workloads[w].name, Short(recovery.steady), ms));
    }
    report.Add(std::move(row));
    for (const std::string& line : said) fmt::print("recovery: {}: {}\n", course.names[c], line);
  }
  if (options.plots.empty()) return Status::Ok();
  return WriteSvg(TraceChart(course, options, *all), options.plots + "/alternation-trace.svg");
}

// Figure 21: by the length of the cycle.
Status RunCycles(const AlternationOptions& options, const Course& course, size_t baseline,
                 Report& report) {
  LineChart chart;
  chart.title = "throughput by the length of a cycle";
  chart.x_name = "ms; all workloads once";
  chart.y_name = "M queries/s";
  chart.log2_x = true;
  for (const std::string& name : course.names) chart.lines.push_back({name, {}, {}});
  for (const double cycle_ms : options.cycles_ms) {
    auto all = RunCycle(course, cycle_ms, kCyclesOfRun, 0);
    if (!all) return all.error();
    for (size_t c = 0; c < all->size(); ++c) {
      report.Add(RowOf(course, fmt::format("cycle-{:g}ms", cycle_ms), c, baseline, *all));
      chart.lines[c].x.push_back(cycle_ms);
      chart.lines[c].y.push_back((*all)[c].rates.Median() * 1e-6);
      chart.lines[c].y_low.push_back((*all)[c].rates.Min() * 1e-6);
      chart.lines[c].y_high.push_back((*all)[c].rates.Max() * 1e-6);
      fmt::print("cycle {:g} ms: {}: {} queries/s\n", cycle_ms, course.names[c],
                 Short((*all)[c].rates.Median()));
    }
  }
  if (options.plots.empty() || options.cycles_ms.empty()) return Status::Ok();
  return WriteSvg(chart, options.plots + "/alternation-cycles.svg");
}

// Each workload with SETs has its part of the store full for long.
Status AgeFor(const Course& course) {
  for (size_t w = 0; w < course.workloads.size(); ++w) {
    if (course.workloads[w].get_share == 1) continue;
    auto aged =
        Age(*course.options, course.workloads[w], *course.pickers[w], course.devices, course.data);
    if (!aged) return aged.error();
  }
  return Status::Ok();
}

Status CheckTimes(const AlternationOptions& options, size_t workloads) {
  if (workloads < 2)
    return {Code::kInvalidArgument, "--workload: at least two are needed to alternate"};
  if (options.pipeline.intervals_us.size() != 1)
    return {Code::kInvalidArgument, "--interval-us: alternating workloads take only one"};
  const double slots = options.trace_cycle_ms / static_cast<double>(workloads) / options.slot_ms;
  if (slots >= 0.5 && std::abs(slots - std::round(slots)) < 1e-6) return Status::Ok();
  return {Code::kInvalidArgument,
          fmt::format("--slot-ms: {:g} ms of each of {} workloads are {:.2f} slots of {:g} ms; a "
                      "whole number is needed",
                      options.trace_cycle_ms / static_cast<double>(workloads), workloads, slots,
                      options.slot_ms)};
}

}  // namespace

Status RunAlternation(const AlternationOptions& given, Report& report) {
  AlternationOptions options = given;
  PipelineOptions& pipeline = options.pipeline;
  if (pipeline.threads == 0) pipeline.threads = ThisMachine().cpus;
  auto workloads = ParseWorkloads(pipeline);
  if (!workloads) return workloads.error();
  if (Status status = CheckTimes(options, workloads->size()); !status.ok()) return status;
  auto devices = Devices::Open(pipeline.devices);
  if (!devices) return devices.error();
  auto contenders = ContendersOf(pipeline, pipeline.intervals_us[0], **devices);
  if (!contenders) return contenders.error();
  auto calibration = CalibrationFor(pipeline, **devices);
  if (!calibration) return calibration.error();
  auto data = DataSet::Fill(*workloads, DataSetOptionsOf(pipeline, **devices));
  if (!data) return data.error();
  Course course{&pipeline,      *workloads, {},
                *contenders,    {},         *calibration ? &**calibration : nullptr,
                devices->get(), data->get()};
  for (const Workload& workload : *workloads)
    course.pickers.push_back(
        std::make_unique<KeyPicker>((*data)->objects(workload), workload.zipf));
  for (size_t c = 0; c < contenders->size(); ++c)
    course.names.push_back(NameOf((*contenders)[c], c));
  // The last one: a plan that stays what it is, where one is given.
  const size_t baseline = contenders->back().is_auto ? 0 : contenders->size() - 1;
  Status status = (*devices)->Attach(&(*data)->store());
  if (status.ok()) status = AgeFor(course);
  if (status.ok()) status = RunTrace(options, course, baseline, report);
  if (status.ok()) status = RunCycles(options, course, baseline, report);
  (*devices)->Detach();  // whatever came of it: the store goes before they do
  return status;
}

}  // namespace weft::bench
