#include "bench/experiment/oversubscription.h"

#include <fmt/format.h>

#include "bench/drive/each_target.h"
#include "bench/harness/machine.h"

namespace weft::bench {

Status RunOversubscription(const OversubscriptionOptions& options) {
  auto mixes = ScaledMixes(options.experiment);
  if (!mixes) return mixes.error();
  auto log = RunLog::Open(options.experiment.measure.log);
  if (!log) return log.error();
  log->PrintHead();
  const int cpus = static_cast<int>(UsableCpus().size());
  Status first;
  for (const int each : options.threads_per_hardware_thread) {
    MeasureOptions measure = options.experiment.measure;
    measure.load.threads = each * cpus;
    measure.notes["oversubscription"] = {{"threads_per_hardware_thread", each}};
    PrintBeside(fmt::format("{} threads, {} per hardware thread", measure.load.threads, each));
    Status status = ForEachTarget(measure, *mixes, &*log, [&](Driver* driver) {
      for (const OperationMix& mix : *mixes) {
        auto was_run = RunOrLeaveOut(driver, mix, measure.load);
        if (!was_run) return was_run.error();
      }
      return Status::Ok();
    });
    if (first.ok()) first = status;
  }
  return first;
}

}  // namespace weft::bench
