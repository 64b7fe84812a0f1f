#include "bench/drive/measure.h"

#include <string>

#include "bench/drive/each_target.h"

namespace weft::bench {
Status RunMeasure(const MeasureOptions& options) {
  auto mixes = MixesOf(options);
  if (!mixes) return mixes.error();
  auto log = RunLog::Open(options.log);
  if (!log) return log.error();
  log->PrintHead();
  return ForEachTarget(options, *mixes, &*log, [&](Driver* driver) {
    for (const OperationMix& mix : *mixes) {
      auto figures = driver->Run(mix, options.load);
      if (figures) continue;
      Status status = LeaveOutUnsupported(*driver, mix, figures.error());
      if (!status.ok()) return status;
    }
    return Status::Ok();
  });
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
