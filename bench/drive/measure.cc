#include "bench/drive/measure.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "bench/drive/load.h"
#include "bench/drive/run_record.h"
#include "bench/harness/report.h"
#include "bench/meter/write_amplification.h"
#include "bench/target/targets.h"
#include "bench/workload/builtin_mixes.h"
#include "bench/workload/mix_file.h"

namespace weft::bench {
namespace {

Result<OperationMix> MixNamed(const std::string& name, const std::vector<OperationMix>& own) {
  for (const OperationMix& mix : own) {
    if (mix.name == name) return mix;
  }
  return BuiltinMix(name);
}

Status SetSizes(const MeasureOptions& options, OperationMix* mix) {
  const auto set = [](const std::string& text, SizeDistribution* sizes) {
    if (text.empty()) return Status::Ok();
    auto parsed = SizeDistribution::Parse(text);
    if (!parsed) return parsed.error();
    *sizes = *parsed;
    return Status::Ok();
  };
  Status status = set(options.key_bytes, &mix->record.key_bytes);
  if (status.ok()) status = set(options.value_bytes, &mix->record.value_bytes);
  if (options.records != 0) mix->records = options.records;
  if (status.ok() && !options.rate.empty()) {
    auto rate = RateSchedule::Parse(options.rate);
    if (!rate) return rate.error();
    mix->rate = *rate;
  }
  if (!status.ok()) return status;
  const std::optional<MixFault> fault = FaultOf(*mix);
  if (!fault) return Status::Ok();
  return {Code::kInvalidArgument, fmt::format("{}: {}: {}", mix->name, fault->field, fault->what)};
}

// Those that are asked for, as they are asked for.
Result<std::vector<OperationMix>> MixesOf(const MeasureOptions& options) {
  std::vector<OperationMix> own;
  if (!options.workload_file.empty()) {
    auto parsed = ParseMixFile(options.workload_file);
    if (!parsed) return parsed.error();
    own = std::move(*parsed);
  }
  std::vector<std::string> names;
  for (const std::string& name : options.workloads) {
    if (name != "ycsb") {
      names.push_back(name);
      continue;
    }
    for (const std::string& step : YcsbOrder()) {
      if (step != kClearStep) names.push_back(step);
    }
  }
  if (names.empty()) {
    for (const OperationMix& mix : own) names.push_back(mix.name);
  }
  if (names.empty()) return Status(Code::kInvalidArgument, "no workload is given (--workload)");
  std::vector<OperationMix> mixes;
  for (const std::string& name : names) {
    auto mix = MixNamed(name, own);
    if (!mix) return mix.error();
    Status status = SetSizes(options, &*mix);
    if (!status.ok()) return status;
    mixes.push_back(std::move(*mix));
  }
  return mixes;
}

bool HaveSameRecords(const OperationMix& a, const OperationMix& b) {
  return a.records == b.records && a.record.ordered == b.record.ordered &&
         a.record.key_bytes.ToText() == b.record.key_bytes.ToText() &&
         a.record.value_bytes.ToText() == b.record.value_bytes.ToText();
}

// Stores that lose nothing by themselves.
bool IsDurable(const std::string& spec) {
  return spec == "weft" || spec == "leveldb" || spec == "rocksdb";
}

std::string WhyNot(const Target& target, const OperationMix& mix) {
  for (int kind = 0; kind < kOperationKinds; kind++) {
    const auto operation = static_cast<OperationKind>(kind);
    if (mix.ShareOf(operation) == 0) continue;
    if (std::string why = target.WhyNot(operation); !why.empty()) return why;
  }
  return "";
}

class Measurement {
 public:
  Measurement(const MeasureOptions& options, std::vector<OperationMix> mixes, std::FILE* json)
      : options_(options), mixes_(std::move(mixes)), json_(json) {}

  Status Run();

 private:
  // What is open: a target, and the records that it has.
  struct Opened {
    std::unique_ptr<RecordFormat> format;
    std::unique_ptr<RecordSpace> space;
    std::unique_ptr<Target> target;
    std::optional<OperationMix> stored;  // of these records; none: it is empty
  };

  Status RunTarget(const std::string& spec, int repetition);
  Status OpenFor(const std::string& spec, const OperationMix& mix, Opened* opened);
  Status Store(const OperationMix& mix, Opened* opened, const RunContext& context);
  Status Measure(const OperationMix& mix, Opened* opened, const RunContext& context);
  Status RunOne(const OperationMix& mix, const LoadOptions& load, Opened* opened,
                const RunContext& context);
  void Print(const RunContext& context, const OperationMix& mix, const Target& target,
             const LoadFigures& figures, const Readings& readings);
  void Leave(const std::string& what, const std::string& why) {
    fmt::print("{:<18} left out: {}\n", what, why);
  }

  const MeasureOptions& options_;
  const std::vector<OperationMix> mixes_;
  std::FILE* const json_;
};

Status Measurement::Run() {
  fmt::print("{:<18} {:<13} {:>12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>7}\n", "target",
             "workload", "op/s", "mean us", "p50 us", "p99 us", "p99.9 us", "max us", "CPU us/op",
             "client");
  Status first;
  for (int repetition = 0; repetition < options_.repetitions; repetition++) {
    for (const std::string& spec : options_.targets) {
      Status status = RunTarget(spec, repetition);
      if (status.ok()) continue;
      Leave(spec, status.ToString());
      if (first.ok() && status.code() != Code::kUnsupported) first = status;
    }
  }
  return first;
}

Status Measurement::RunTarget(const std::string& spec, int repetition) {
  Opened opened;
  RunContext context{.experiment = options_.experiment,
                     .command_line = options_.command_line,
                     .target_name = spec,
                     .repetition = repetition};
  for (const OperationMix& mix : mixes_) {
    if (opened.stored && !HaveSameRecords(*opened.stored, mix)) opened = Opened();
    if (opened.target == nullptr) {
      opened = Opened();
      Status status = OpenFor(spec, mix, &opened);
      if (!status.ok()) return status;
    }
    if (const std::string why = WhyNot(*opened.target, mix); !why.empty()) {
      Leave(spec + " " + mix.name, why);
      continue;
    }
    Status status = Measure(mix, &opened, context);
    if (!status.ok())
      return {status.code(), fmt::format("{}: {}", mix.name, std::string(status.message()))};
  }
  return Status::Ok();
}

Status Measurement::OpenFor(const std::string& spec, const OperationMix& mix, Opened* opened) {
  auto format = RecordFormat::Make(mix.record);
  if (!format) return format.error();
  opened->format = std::make_unique<RecordFormat>(std::move(*format));
  TargetOptions target_options = options_.target;
  for (const OperationMix& each : mixes_)
    target_options.scans |= each.ShareOf(OperationKind::kScan) > 0;
  auto target = OpenTarget(spec, target_options, *opened->format);
  if (!target) return target.error();
  opened->target = std::move(*target);
  opened->space = std::make_unique<RecordSpace>();
  return Status::Ok();
}

// Sees to it that the records of `mix` are there, and no others.
Status Measurement::Store(const OperationMix& mix, Opened* opened, const RunContext& context) {
  if (opened->stored && opened->space->acknowledged() == mix.records) return Status::Ok();
  Status status = opened->target->Clear();
  if (!status.ok()) return status;
  opened->space = std::make_unique<RecordSpace>();
  opened->stored.reset();
  LoadOptions load = options_.load;
  load.rate.reset();
  load.seconds = load.warmup_s = 0;
  if (options_.load_threads > 0) load.threads = options_.load_threads;
  status = RunOne(mix.loads ? mix : LoadOf(mix), load, opened, context);
  if (status.ok()) opened->stored = mix;
  return status;
}

Status Measurement::Measure(const OperationMix& mix, Opened* opened, const RunContext& context) {
  LoadOptions load = options_.load;
  load.rate = mix.rate;
  load.seed += static_cast<uint64_t>(context.repetition);
  if (mix.loads) {
    opened->stored.reset();  // it is what is measured, whatever is there
    return Store(mix, opened, context);
  }
  Status status = Store(mix, opened, context);
  if (!status.ok()) return status;
  opened->target->WaitUntilQuiet(options_.quiet_s);
  status = RunOne(mix, load, opened, context);
  if (mix.ShareOf(OperationKind::kDelete) > 0) opened->stored.reset();
  return status;
}

Status Measurement::RunOne(const OperationMix& mix, const LoadOptions& load, Opened* opened,
                           const RunContext& context) {
  Target& target = *opened->target;
  auto meters = MeterSet::Make(options_.meters);
  if (!meters) return meters.error();
  LoadOptions options = load;
  options.missing_is_wrong = IsDurable(context.target_name);
  const std::string label = fmt::format("{} {} {}/{}", context.target_name, mix.name,
                                        context.repetition + 1, options_.repetitions);
  Progress(label);
  nlohmann::json before;
  Readings readings;
  LoadEvents events;
  events.counting_begins = [&] {
    before = target.Figures();
    (*meters)->Start(target.Processes());
  };
  events.slice_ended = [&](const SliceRow& row) {
    Progress(fmt::format("{}: {:.0f} s, {} op/s, p50 {} us, p99 {} us", label,
                         row.at_s + row.seconds,
                         Short(static_cast<double>(row.operations) / row.seconds),
                         Short(row.p50_us), Short(row.p99_us)));
  };
  events.counting_ends = [&] { readings = (*meters)->Stop(); };
  auto figures = RunLoad(&target, mix, opened->space.get(), options, events);
  if (!figures) return figures.error();
  readings.insert_or_assign("write_amplification", WriteAmplification(before, target.Figures()));
  if (json_ != nullptr) {
    const std::string line =
        RunRecord(context, target, mix, options, *figures, readings).dump() + "\n";
    if (std::fwrite(line.data(), 1, line.size(), json_) != line.size() || std::fflush(json_) != 0)
      return {Code::kIoError, options_.json + " could not be written"};
  }
  Print(context, mix, target, *figures, readings);
  return Status::Ok();
}

void Measurement::Print(const RunContext& context, const OperationMix& mix, const Target& target,
                        const LoadFigures& figures, const Readings& readings) {
  const auto us = [&](double percent) {
    return Short(static_cast<double>(figures.latency_ns.Percentile(percent)) * 1e-3);
  };
  const auto cpu = readings.find("cpu_s");
  const std::string cpu_us =
      cpu != readings.end() && cpu->second.available() && figures.operations > 0
          ? Short(cpu->second.value() * 1e6 / static_cast<double>(figures.operations))
          : "-";
  // Of an embedded store the client's CPU time is the store's.
  const std::string client =
      target.is_embedded() || figures.operations == 0
          ? "-"
          : Short(figures.cpu_s * 1e6 / static_cast<double>(figures.operations));
  const bool is_open = options_.load.rate.has_value() || (mix.rate.has_value() && !mix.loads);
  fmt::print("{:<18} {:<13} {:>12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>7}{}\n",
             context.target_name, mix.name, Short(figures.OperationsPerSecond()),
             Short(figures.latency_ns.Mean() * 1e-3), us(50), us(99), us(99.9),
             Short(static_cast<double>(figures.latency_ns.max()) * 1e-3), cpu_us, client,
             figures.ClientSaturated(target, is_open) ? "  the client was the limit" : "");
  std::fflush(stdout);
}

}  // namespace

Status RunMeasure(const MeasureOptions& options) {
  if (options.targets.empty()) return {Code::kInvalidArgument, "no target is given (--target)"};
  auto mixes = MixesOf(options);
  if (!mixes) return mixes.error();
  std::FILE* json = nullptr;
  if (!options.json.empty()) {
    json = std::fopen(options.json.c_str(), "a");
    if (json == nullptr) return {Code::kIoError, options.json + " can't be opened for writing"};
  }
  const Status status = Measurement(options, std::move(*mixes), json).Run();
  if (json != nullptr) std::fclose(json);
  return status;
}

Status RunQuick(const MeasureOptions& options) {
  MeasureOptions caches = options;
  caches.experiment = "quick";
  caches.targets = {"start:weft", "start:memcached", "start:redis"};
  caches.workloads = {"ycsb-a", "ycsb-b", "ycsb-c", "ycsb-f", "ycsb-d"};
  MeasureOptions durable = caches;
  durable.targets = {"weft", "leveldb", "rocksdb"};
  durable.workloads = {"ycsb"};
  caches.load.sessions = 8;
  caches.load.depth = 16;
  Status first = RunMeasure(caches);
  const Status second = RunMeasure(durable);
  return first.ok() ? second : first;
}

}  // namespace weft::bench
