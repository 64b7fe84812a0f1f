#include "bench/drive/measure.h"

#include <string>

#include "bench/drive/each_target.h"
#include "bench/target/targets.h"

namespace weft::bench {
Status RunMeasure(const MeasureOptions& options) {
  auto mixes = MixesOf(options);
  if (!mixes) return mixes.error();
  auto log = RunLog::Open(options.log);
  if (!log) return log.error();
  log->PrintHead();
  Status status = ForEachTarget(options, *mixes, &*log, [&](Driver* driver) {
    for (const OperationMix& mix : *mixes) {
      auto figures = driver->Run(mix, options.load);
      if (figures) continue;
      Status left_out = LeaveOutUnsupported(*driver, mix, figures.error());
      if (!left_out.ok()) return left_out;
    }
    return Status::Ok();
  });
  if (status.ok() && log->runs() == 0)
    status = {Code::kUnsupported, "nothing was measured: everything was left out"};
  return status;
}

Status RunQuick(const MeasureOptions& options) {
  constexpr int kDepth = 16;
  if (options.load.batch > kDepth)
    return {Code::kInvalidArgument, "--batch: it must be at most 16, the depth of quick"};
  if (options.target.multi_get && options.load.batch == 1)
    return {Code::kInvalidArgument, "--multi-get: only one operation begins at a time (--batch)"};
  MeasureOptions caches = options;
  caches.experiment = "quick";
  caches.targets = ServersToStart();
  caches.workloads = {"ycsb-a", "ycsb-b", "ycsb-c", "ycsb-f", "ycsb-d"};
  MeasureOptions durable = caches;
  durable.targets = StoreNames();
  durable.workloads = {"ycsb"};
  caches.load.sessions = 8;
  caches.load.depth = kDepth;
  // A server scans by an index that its other workloads go without. The records are stored again,
  // and that takes longer than without: a setting of its own.
  MeasureOptions scans = caches;
  scans.targets = ServersToStart(true);
  scans.workloads = {"ycsb-e"};
  scans.notes["setting"] = "with an index for scans";
  Status first;
  for (const MeasureOptions& part : {caches, scans, durable}) {
    const Status status = RunMeasure(part);
    if (first.ok()) first = status;
  }
  return first;
}

}  // namespace weft::bench
