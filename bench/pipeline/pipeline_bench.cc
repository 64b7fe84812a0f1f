// The in-memory workloads, offline: requests read from memory, responses written to memory, any
// plan against the plan with one stage on the CPU.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/clock.h"
#include "bench/harness/machine.h"
#include "bench/pipeline/model_check.h"
#include "bench/pipeline/turns.h"
#include "planner/calibrator.h"

namespace weft::bench {
namespace {

// One line of the table.
struct Line {
  std::string workload;
  size_t contender;
  double ratio;
  bool kept;  // the interval
  Figures figures;
  std::optional<planner::Estimate> estimate;
};

std::vector<processor::Description> DescriptionsOf(const Devices& devices) {
  std::vector<processor::Description> all;
  for (const processor::Guard* guard : devices.guards()) all.push_back(guard->description());
  return all;
}

// None where none is asked for.
Result<std::optional<planner::Calibration>> CalibrationFor(const PipelineOptions& options,
                                                           const Devices& devices) {
  if (options.calibration.empty()) return std::optional<planner::Calibration>();
  Result<planner::Calibration> calibration = Status();
  if (options.calibration == "measure") {
    planner::CalibratorOptions how;
    how.workers = static_cast<uint32_t>(options.threads);
    how.devices.assign(devices.guards().begin(), devices.guards().end());
    how.progress = [](std::string_view what, int step, int steps) {
      Progress(fmt::format("calibrate {}/{}: {}", step + 1, steps, what));
    };
    calibration = planner::Calibrate(how);
  } else {
    calibration = planner::LoadCalibration(options.calibration,
                                           planner::HardwareOf(DescriptionsOf(devices)));
  }
  if (!calibration) return calibration.error();
  return std::optional<planner::Calibration>(std::move(*calibration));
}

// How far the model was off, by contender.
void PrintErrors(const std::vector<Contender>& contenders, const std::vector<Line>& lines) {
  for (size_t c = 0; c < contenders.size(); ++c) {
    double sum = 0, most = 0;
    size_t count = 0;
    for (const Line& line : lines) {
      if (line.contender != c || !line.estimate) continue;
      const double error = std::abs(ErrorOf(*line.estimate, line.figures));
      sum += error;
      most = std::max(most, error);
      ++count;
    }
    if (count == 0) continue;
    fmt::print("model, plan {}: error {:.1f} % in the mean of {}, {:.1f} % at most\n", c,
               100 * sum / static_cast<double>(count), count, 100 * most);
  }
}

// The one-stage plan first. Where both are asked for, each of the others with stealing and, behind
// it, without.
Result<std::vector<Contender>> ContendersOf(const PipelineOptions& options) {
  std::vector<Contender> contenders = {{pipeline::Plan::OneStageCpu()}};
  for (const std::string& text : options.plans) {
    auto plan = pipeline::Plan::Parse(text);
    if (!plan)
      return Status(Code::kInvalidArgument,
                    fmt::format("--plan '{}': {}", text, plan.error().message()));
    if (options.steal != Stealing::kOff) contenders.push_back({*plan, true});
    if (options.steal != Stealing::kOn) contenders.push_back({*plan, false});
  }
  return contenders;
}

Result<std::vector<Workload>> ParseWorkloads(const PipelineOptions& options) {
  std::vector<std::string> names = options.workloads;
  if (names.empty() || std::find(names.begin(), names.end(), "all") != names.end())
    names = PipelineWorkloads();
  std::vector<Workload> workloads;
  for (const std::string& name : names) {
    auto workload = ParseWorkload(name);
    if (!workload) return workload.error();
    workloads.push_back(std::move(*workload));
  }
  return workloads;
}

nlohmann::json DevicesJson(const Devices& devices) {
  nlohmann::json list = nlohmann::json::array();
  for (const processor::Guard* guard : devices.guards()) {
    const processor::Description& device = guard->description();
    list.push_back({{"name", device.name}, {"hardware", device.hardware}});
  }
  return list;
}

nlohmann::json DetailsOf(const PipelineOptions& options, const Workload& workload,
                         const Devices& devices, const DataSet& data,
                         double attach_s) {
  return {{"workload", workload.name},
          {"memory_mb", options.memory_mb},
          {"objects", data.objects()},
          {"fill", options.fill},
          {"load_s", data.load_s()},
          {"attach_s", attach_s},
          {"evictions", data.evictions()},
          {"threads", options.threads},
          {"devices", DevicesJson(devices)},
          {"more_threads_than_cpus", options.threads > ThisMachine().cpus},
          {"interval_us", options.interval_us},
          {"ring", options.ring},
          {"verify", options.verify == Verify::kAll ? "all" : "sampled"},
          {"repetitions", options.repetitions},
          {"seconds", options.run_s},
          {"warmup_s", options.warmup_s},
          {"huge_pages", options.huge_pages}};
}

// Whether the contender differs from the one before it in that it does not steal.
bool IsWithoutStealing(const std::vector<Contender>& contenders, size_t at) {
  return at > 1 && !contenders[at].steal && contenders[at - 1].steal;
}

Row MakeRow(const Workload& workload, size_t at, const std::vector<ContenderFigures>& all,
            nlohmann::json details) {
  Row row;
  row.bench = "pipeline";
  row.name = fmt::format("{}/plan-{}", workload.name, at);
  row.unit = "queries/s";
  row.subject = {fmt::format("plan {}", at), all[at].rates};
  if (at == 0) {
    row.judged_name = "queries/s";
    row.judged = all[0].rates.Median();
  } else {
    row.peer = Side{"one stage", all[0].rates};
    row.judged_name = "over one stage on the cpu";
    row.judged = all[at].rates.Median() / all[0].rates.Median();
    row.pair_ratios = PairRatios(all[at].rates, all[0].rates);
  }
  row.details = std::move(details);
  row.details.update(ToJson(all[at].figures));
  return row;
}

// "120 [300] 80": the bound in brackets.
std::string StagesText(const Figures& figures) {
  std::string text;
  for (size_t i = 0; i < figures.stage_ticks.size(); ++i) {
    const double us = figures.StageUs(i);
    const std::string stage = fmt::format("{:.0f}", us);
    if (i != 0) text += ' ';
    text += us >= figures.LongestStageUs() ? "[" + stage + "]" : stage;
  }
  return text;
}

void PrintTasks(const Figures& figures) {
  fmt::print("    ns a query:");
  for (uint32_t i = 0; i < pipeline::kTaskCount; ++i) {
    const auto task = static_cast<pipeline::Task>(i);
    // RD is counted with WR; handing responses over in memory is nothing.
    if (task == pipeline::Task::kRead || task == pipeline::Task::kSend) continue;
    fmt::print(" {} {:.1f}", pipeline::TaskName(task), figures.TaskNs(task));
  }
  fmt::print("\n    {} replies verified whole in {:.0f} % of the time; cpu busy {:.0f} %\n",
             figures.verified_whole, 100 * figures.Verifying(), 100 * figures.Busy());
  if (figures.device_queries != 0)
    fmt::print(
        "    devices had work {:.0f} % of the time; {:.1f} % of their queries stolen, {} "
        "stages rerun\n",
        100 * figures.DeviceBusy(),
        100 * static_cast<double>(figures.stolen_queries) /
            static_cast<double>(figures.device_queries),
        figures.reruns);
  if (figures.LetRun() < 0.97)
    fmt::print("    the machine was shared: threads ran {:.0f} % of the time\n",
               100 * figures.LetRun());
}

// What stealing adds to each plan, in the mean of the workloads.
void PrintStealing(const std::vector<Contender>& contenders, const std::vector<Line>& lines) {
  for (size_t c = 1; c < contenders.size(); ++c) {
    if (!IsWithoutStealing(contenders, c)) continue;
    double logs = 0;
    size_t workloads = 0;
    for (size_t at = c; at < lines.size(); at += contenders.size(), ++workloads)
      logs += std::log(lines[at - 1].ratio / lines[at].ratio);
    fmt::print("stealing: plan {} has {:.3f} times the rate of plan {} (geometric mean of {})\n",
               c - 1, std::exp(logs / static_cast<double>(workloads)), c, workloads);
  }
}

void PrintTable(const std::vector<Contender>& contenders, const std::vector<Line>& lines) {
  fmt::print("\n");
  for (size_t i = 0; i < contenders.size(); ++i)
    fmt::print("plan {}: {}{}\n", i, contenders[i].plan.ToText(),
               contenders[i].steal ? "" : ", no stealing");
  fmt::print("{:<12} {:>4} {:>12} {:>9} {:>7} {:>7} {:>7} {:>8} {:>8} {:>8} {:>7}  {}\n",
             "workload", "plan", "M queries/s", "predicted", "error", "ratio", "batch", "mean us",
             "p50 us", "p99 us", "hits %", "stages us");
  for (const Line& line : lines) {
    const Figures& figures = line.figures;
    const std::string predicted =
        line.estimate ? fmt::format("{:.2f}", line.estimate->queries_per_s * 1e-6) : "";
    const std::string error =
        line.estimate ? fmt::format("{:+.1f}%", 100 * ErrorOf(*line.estimate, figures)) : "";
    fmt::print("{:<12} {:>4} {:>12.2f} {:>9} {:>7} {:>7.2f} {:>7} {:>8.0f}{} {:>7.0f} "
               "{:>8.0f} {:>7.2f}  {}\n",
               line.workload, line.contender, figures.rate * 1e-6, predicted, error, line.ratio,
               figures.batch_queries, figures.latency_ns.Mean() * 1e-3, line.kept ? " " : "!",
               static_cast<double>(figures.latency_ns.Percentile(50)) * 1e-3,
               static_cast<double>(figures.latency_ns.Percentile(99)) * 1e-3,
               100 * figures.hit_ratio(), StagesText(figures));
  }
  PrintStealing(contenders, lines);
  PrintErrors(contenders, lines);
}

// A store filled for the workload, and the draw of its keys; both are kept while the next workload
// can do with them.
struct Bed {
  explicit Bed(Devices* followers) : devices(followers) {}
  ~Bed() { devices->Detach(); }
  Bed(const Bed&) = delete;
  Bed& operator=(const Bed&) = delete;

  Devices* const devices;  // that follow the store
  std::unique_ptr<DataSet> data;
  std::unique_ptr<KeyPicker> uniform, zipf;  // the latter takes seconds to make
  uint32_t key_bytes = 0;
  double attach_s = 0;      // until the devices had it
  bool is_written = false;  // a workload with SETs ran on it
};

Status Prepare(const PipelineOptions& options, const Workload& workload, Bed* bed) {
  if (bed->data == nullptr || bed->is_written || bed->key_bytes != workload.key_bytes) {
    bed->devices->Detach();
    bed->data.reset();  // first, for its memory
    DataSetOptions data_options;
    data_options.memory_bytes = options.memory_mb << 20;
    data_options.fill = options.fill;
    data_options.threads = options.threads;
    data_options.huge_pages = options.huge_pages;
    data_options.pages = bed->devices->pages();
    auto data = DataSet::Load(workload, data_options);
    if (!data) return data.error();
    bed->data = std::move(*data);
    const uint64_t start_ns = base::NowNs();
    if (Status status = bed->devices->Attach(&bed->data->store()); !status.ok()) return status;
    bed->attach_s = static_cast<double>(base::NowNs() - start_ns) * 1e-9;
    bed->key_bytes = workload.key_bytes;
  }
  std::unique_ptr<KeyPicker>& picker = workload.zipf ? bed->zipf : bed->uniform;
  if (picker == nullptr || picker->keys() != bed->data->objects())
    picker = std::make_unique<KeyPicker>(bed->data->objects(), workload.zipf);
  bed->is_written = workload.get_share < 1;
  return Status::Ok();
}

}  // namespace

std::vector<std::string> PipelineWorkloads() {
  std::vector<std::string> names;
  for (const char* set : {"K8", "K16", "K32", "K128"})
    for (const char* share : {"G100", "G95", "G50"})
      for (const char* skew : {"U", "S"})
        names.push_back(fmt::format("{}-{}-{}", set, share, skew));
  return names;
}

Status RunPipeline(const PipelineOptions& given, Report& report) {
  PipelineOptions options = given;
  if (options.threads == 0) options.threads = ThisMachine().cpus;
  auto contenders = ContendersOf(options);
  if (!contenders) return contenders.error();
  auto workloads = ParseWorkloads(options);
  if (!workloads) return workloads.error();
  auto devices = Devices::Open(options.devices);
  if (!devices) return devices.error();
  auto calibration = CalibrationFor(options, **devices);
  if (!calibration) return calibration.error();
  std::vector<Line> lines;
  Bed bed(devices->get());  // its memory may be the devices'
  for (const Workload& workload : *workloads) {
    if (Status status = Prepare(options, workload, &bed); !status.ok())
      return status;
    auto all = RunTurns(options, workload, *(workload.zipf ? bed.zipf : bed.uniform),
                        *contenders, devices->get(), bed.data.get());
    if (!all)
      return Status(all.error().code(),
                    fmt::format("{}: {}", workload.name, all.error().message()));
    for (size_t c = 0; c < contenders->size(); ++c) {
      nlohmann::json details = DetailsOf(options, workload, **devices, *bed.data, bed.attach_s);
      details["plan"] = (*contenders)[c].plan.ToText();
      details["steal"] = (*contenders)[c].steal;
      const Figures& figures = (*all)[c].figures;
      const bool kept = figures.latency_ns.Mean() * 1e-3 <= options.interval_us;
      details["interval_kept"] = kept;
      std::optional<planner::Estimate> estimate;
      if (*calibration) {
        auto predicted = planner::EstimatePlan(
            **calibration, ProfileOf(workload, bed.data->objects(), figures),
            (*contenders)[c].plan, ConditionsOf(options, (*contenders)[c]));
        if (!predicted) return predicted.error();
        estimate = *predicted;
        details["predicted"] = ToJson(*estimate);
        details["model_error"] = ErrorOf(*estimate, figures);
      }
      const Row row = MakeRow(workload, c, *all, std::move(details));
      const double ratio = (*all)[c].rates.Median() / (*all)[0].rates.Median();
      report.Add(row);
      PrintTasks(figures);
      lines.push_back({workload.name, c, ratio, kept, figures, estimate});
    }
  }
  PrintTable(*contenders, lines);
  return Status::Ok();
}

}  // namespace weft::bench
