#include "bench/drive/each_target.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "bench/meter/idle_power.h"
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

}  // namespace

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
  if (!own.empty() && std::none_of(names.begin(), names.end(), [&](const std::string& name) {
        return std::any_of(own.begin(), own.end(),
                           [&](const OperationMix& mix) { return mix.name == name; });
      }))
    return Status(Code::kInvalidArgument,
                  options.workload_file + ": no --workload is one of its workloads");
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

Status LeaveOutUnsupported(const Driver& driver, const OperationMix& mix, const Status& status) {
  if (status.code() != Code::kUnsupported || driver.target() == nullptr) return status;
  driver.LeaveOut(mix, "", std::string(status.message()));
  return Status::Ok();
}

Status ForEachTarget(const MeasureOptions& asked, const std::vector<OperationMix>& mixes,
                     RunLog* log, const std::function<Status(Driver*)>& drive) {
  if (asked.targets.empty()) return {Code::kInvalidArgument, "no target is given (--target)"};
  MeasureOptions options = asked;
  options.meters.idle_power = IdlePower(asked.meters.energy, Seconds(asked.idle_s));
  const bool has_scans = std::any_of(mixes.begin(), mixes.end(), [](const OperationMix& mix) {
    return mix.ShareOf(OperationKind::kScan) > 0;
  });
  Status first;
  for (int repetition = 0; repetition < options.repetitions; repetition++) {
    for (const std::string& spec : options.targets) {
      Driver driver(spec, options, log);
      driver.set_repetition(repetition);
      if (has_scans) driver.ExpectScans();
      Status status = drive(&driver);
      if (status.ok()) continue;
      log->LeaveOut({spec, "", ""}, status.ToString());
      if (first.ok() && status.code() != Code::kUnsupported) first = status;
    }
  }
  if (options.repetitions > 1) log->PrintMedians();
  return first;
}

}  // namespace weft::bench
