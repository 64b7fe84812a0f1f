#include "bench/experiment/block_cache.h"

#include <fmt/format.h>

#include "bench/drive/each_target.h"
#include "bench/harness/machine.h"
#include "bench/target/targets.h"

namespace weft::bench {
namespace {

std::string BlockCacheText(double fraction) {
  if (fraction == 0) return "no block cache";
  return fmt::format("block cache of {:g} % of the data", 100 * fraction);
}

// `mix` with a cache for so much of its records.
Status RunSize(const MeasureOptions& with, const OperationMix& mix, double fraction, RunLog* log) {
  const double record = mix.record.key_bytes.Mean() + mix.record.value_bytes.Mean();
  const auto bytes = static_cast<uint64_t>(fraction * record * static_cast<double>(mix.records));
  MeasureOptions measure = with;
  measure.target.store.block_cache_bytes = bytes;
  measure.notes = {{"block_cache", {{"fraction", fraction}, {"bytes", bytes}}},
                   {"setting", BlockCacheText(fraction)}};
  PrintBeside(fmt::format("{} threads, {}: {} bytes", measure.load.threads,
                          BlockCacheText(fraction), bytes));
  return ForEachTarget(measure, {mix}, log, [&](Driver* driver) {
    auto was_run = RunOrLeaveOut(driver, mix, measure.load);
    return was_run ? Status::Ok() : was_run.error();
  });
}

}  // namespace

Status RunBlockCache(const BlockCacheOptions& options) {
  MeasureOptions measure = options.experiment.measure;
  for (const std::string& target : measure.targets) {
    if (!IsDurable(target))
      return {Code::kInvalidArgument,
              fmt::format("{} has no block cache; targets must be durable stores: {}", target,
                          fmt::join(StoreNames(), ", "))};
  }
  auto mixes = ScaledMixes(options.experiment);
  if (!mixes) return mixes.error();
  for (const OperationMix& mix : *mixes) {
    if (mix.fills) return {Code::kInvalidArgument, mix.name + ": a fill does not read"};
  }
  auto log = RunLog::Open(measure.log);
  if (!log) return log.error();
  log->PrintHead();
  const int cpus = static_cast<int>(UsableCpus().size());
  measure.load.threads = options.threads_per_hardware_thread * cpus;
  if (measure.fill_threads == 0) measure.fill_threads = cpus;
  Status first;
  for (const OperationMix& mix : *mixes) {
    for (const double fraction : options.fractions) {
      Status status = RunSize(measure, mix, fraction, &*log);
      if (first.ok()) first = status;
    }
  }
  return first;
}

}  // namespace weft::bench
