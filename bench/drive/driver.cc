#include "bench/drive/driver.h"

#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "bench/harness/report.h"
#include "bench/meter/meters.h"
#include "bench/meter/write_amplification.h"
#include "bench/target/targets.h"

namespace weft::bench {
namespace {

constexpr double kSampleMin = 0.5;  // of a slice

bool HaveSameRecords(const OperationMix& a, const OperationMix& b) {
  return a.records == b.records && a.record.ordered == b.record.ordered &&
         a.record.key_bytes.ToText() == b.record.key_bytes.ToText() &&
         a.record.value_bytes.ToText() == b.record.value_bytes.ToText();
}

std::string WhyNot(const Target& target, const OperationMix& mix) {
  for (int kind = 0; kind < kOperationKinds; kind++) {
    const auto operation = static_cast<OperationKind>(kind);
    if (mix.ShareOf(operation) == 0) continue;
    if (std::string why = target.WhyNot(operation); !why.empty()) return why;
  }
  return "";
}

}  // namespace

Driver::Driver(std::string spec, const MeasureOptions& options, RunLog* log)
    : options_(options),
      log_(*log),
      target_options_(options.target),
      context_{.experiment = options.experiment,
               .command_line = options.command_line,
               .target_name = std::move(spec)} {}

Driver::~Driver() = default;

void Driver::Close() { opened_ = Opened(); }

Status Driver::Open(const OperationMix& mix) {
  if (opened_.meant && !HaveSameRecords(*opened_.meant, mix)) Close();
  if (opened_.target != nullptr) return Status::Ok();
  auto format = RecordFormat::Make(mix.record);
  if (!format) return format.error();
  if (mix.ShareOf(OperationKind::kScan) > 0) ExpectScans();
  Opened opened;
  opened.meant = mix;
  opened.format = std::make_unique<RecordFormat>(std::move(*format));
  auto target = OpenTarget(context_.target_name, target_options_, *opened.format);
  if (!target) return target.error();
  opened.target = std::move(*target);
  opened.space = std::make_unique<RecordSpace>();
  opened_ = std::move(opened);
  return Status::Ok();
}

Status Driver::Failed(const OperationMix& mix, const Status& status) {
  Close();
  return {status.code(), fmt::format("{}: {}", mix.name, std::string(status.message()))};
}

void Driver::LeaveOut(const OperationMix& mix, const std::string& load,
                      const std::string& why) const {
  log_.LeaveOut({context_.target_name, mix.name, load}, why);
}

Status Driver::Prepare(const OperationMix& mix) {
  Status status = Open(mix);
  if (!status.ok()) return status;
  if (const std::string why = WhyNot(*opened_.target, mix); !why.empty())
    return {Code::kUnsupported, why};
  if (mix.fills) return Status::Ok();
  if (!opened_.stored || opened_.space->acknowledged() != mix.records) {
    auto filled = Fill(mix, options_.load, {});
    if (!filled) return Failed(mix, filled.error());
  }
  opened_.target->WaitUntilQuiet(options_.quiet_s);
  return Status::Ok();
}

Result<LoadFigures> Driver::Fill(const OperationMix& mix, LoadOptions load, const Notes& notes) {
  opened_.stored.reset();
  Status status = opened_.target->Clear();
  if (!status.ok()) return status;
  opened_.space = std::make_unique<RecordSpace>();
  load.rate.reset();
  load.seconds = load.warmup_s = 0;
  if (options_.fill_threads > 0) load.threads = options_.fill_threads;
  auto figures = RunOnce(mix.fills ? mix : FillOf(mix), load, notes);
  if (figures) opened_.stored = mix;
  return figures;
}

Result<LoadFigures> Driver::Run(const OperationMix& mix, LoadOptions load, const Notes& notes) {
  Status status = Prepare(mix);
  if (!status.ok()) return status;
  if (!load.rate) load.rate = mix.rate;
  load.seed += static_cast<uint64_t>(context_.repetition);
  auto figures = mix.fills ? Fill(mix, load, notes) : RunOnce(mix, load, notes);
  if (!figures) return Failed(mix, figures.error());
  if (mix.ShareOf(OperationKind::kDelete) > 0) opened_.stored.reset();
  return figures;
}

// Whoever named a meter is told that it is not there, once.
void Driver::TellWithoutEnergy(const Readings& readings) {
  const auto energy = readings.find("energy_j");
  if (options_.meters.energy == "auto" || is_told_without_energy_) return;
  if (energy == readings.end() || energy->second.available()) return;
  is_told_without_energy_ = true;
  fmt::print("{:<18} no energy: {}\n", context_.target_name, energy->second.reason());
}

Result<LoadFigures> Driver::RunOnce(const OperationMix& mix, const LoadOptions& load,
                                    const Notes& notes) {
  Target& target = *opened_.target;
  auto meters = MeterSet::Make(options_.meters);
  if (!meters) return meters.error();
  LoadOptions options = load;
  options.missing_is_wrong = IsDurable(context_.target_name);
  RunLog::Entry entry = log_.Begin(context_, mix);
  const std::string label =
      fmt::format("{} {} {}/{}{}", context_.target_name, mix.name, context_.repetition + 1,
                  options_.repetitions,
                  options.rate ? fmt::format(" at {}/s", Short(options.rate->RateAt(0))) : "");
  Progress(label);
  nlohmann::json before;
  RunMeters found;
  Status told;
  bool is_metered = false;
  uint64_t sampled_ns = 0;
  // Slices may be told late, several at once; what was used is told for the time since.
  const auto sample = [&] {
    const uint64_t now_ns = base::NowNs();
    if (!is_metered || static_cast<double>(now_ns - sampled_ns) < kSampleMin * load.slice_s * 1e9)
      return;
    found.slices.push_back((*meters)->Sample());
    sampled_ns = now_ns;
  };
  LoadEvents events;
  events.counting_begins = [&] {
    before = target.Figures();
    told = entry.Start();
    (*meters)->Start(target.Processes());
    is_metered = true;
    sampled_ns = base::NowNs();
  };
  events.slice_ended = [&](const SliceRow& row, const base::Histogram& latency_ns) {
    sample();
    if (told.ok()) told = entry.Add(row, latency_ns);
    const std::string until = fmt::format("{}: {} s", label, Short(row.at_s + row.seconds));
    if (row.operations == 0) return Progress(until + ", nothing ended");
    Progress(fmt::format("{}, {} op/s, p50 {} us, p99 {} us", until,
                         Short(static_cast<double>(row.operations) / row.seconds),
                         Short(row.p50_us), Short(row.p99_us)));
  };
  events.counting_ends = [&] {
    sample();
    found.readings = (*meters)->Stop();
    is_metered = false;
  };
  auto figures = RunLoad(&target, mix, opened_.space.get(), options, events);
  if (!figures) return figures;
  if (!told.ok()) return told;
  TellWithoutEnergy(found.readings);
  found.readings.insert_or_assign("write_amplification",
                                  WriteAmplification(before, target.Figures()));
  if (figures->operations == 0) {
    LeaveOut(mix, options.rate ? fmt::format("at {}/s", Short(options.rate->RateAt(0))) : "",
             "no operation ended while the run was counted");
    return figures;
  }
  nlohmann::json record = RunRecord(context_, target, mix, options, *figures, found);
  if (!options_.notes.empty()) record.update(options_.notes);
  if (notes) {
    auto added = notes(*figures, found.readings);
    if (!added) return added.error();
    record.update(*added);
  }
  told = entry.End(record, *figures);
  if (!told.ok()) return told;
  return figures;
}

}  // namespace weft::bench
