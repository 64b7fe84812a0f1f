#include "bench/experiment/experiment.h"

#include <cstdio>

#include <fmt/format.h>

#include "bench/drive/each_target.h"
#include "bench/store/store.h"
#include "bench/target/targets.h"

namespace weft::bench {

ExperimentOptions Defaults(const std::string& experiment,
                           const std::vector<std::string>& workloads) {
  ExperimentOptions options;
  options.measure.targets = StoreNames();
  options.measure.workloads = workloads;
  options.measure.experiment = experiment;
  return options;
}

Result<std::vector<OperationMix>> ScaledMixes(const ExperimentOptions& options,
                                              uint64_t records_max) {
  for (const std::string& target : options.measure.targets) {
    const Status status = CheckTarget(target);
    if (status.code() == Code::kInvalidArgument) return status;
  }
  auto mixes = MixesOf(options.measure);
  if (!mixes || options.measure.records != 0) return mixes;
  const DataRoom room = RoomFor(options.measure);
  std::string told;
  for (OperationMix& mix : *mixes) {
    DataSize size = ScaledRecords(mix.record, options.data_fraction, room);
    if (size.records > records_max) size = {.records = records_max};
    mix.records = size.records;
    const std::string text = ToText(size, mix.record, room);
    if (text != told) fmt::print("data: {}\n", text);
    told = text;
  }
  return mixes;
}

Result<bool> RunOrLeaveOut(Driver* driver, const OperationMix& mix, const LoadOptions& load,
                           const Driver::Notes& notes) {
  auto figures = driver->Run(mix, load, notes);
  if (figures) return true;
  Status status = LeaveOutUnsupported(*driver, mix, figures.error());
  if (!status.ok()) return status;
  return false;
}

void PrintBeside(const std::string& text) {
  fmt::print("{:<18} {}\n", "", text);
  std::fflush(stdout);
}

void PrintUnavailable(const std::set<std::string>& reasons) {
  for (const std::string& reason : reasons) fmt::print("unavailable: {}\n", reason);
}

}  // namespace weft::bench
