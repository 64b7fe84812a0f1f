// The embedded cache on several threads: a table of rates, each relative to one thread.
#include <algorithm>

#include <fmt/format.h>

#include "bench/embedded/cache_load.h"
#include "bench/embedded/options.h"
#include "bench/harness/machine.h"
#include "bench/walk/crew.h"

namespace weft::bench {
namespace {

const std::vector<std::string> kTable = {"K16-G95-U", "K16-G50-U", "K16-G95-S", "K16-G50-S"};

struct Point {
  Samples rates;           // by the wall's clock
  Samples per_cpu_second;  // what they would be had no thread been kept waiting for a core
  double busy = 1;
  CacheAnswers answers;
};

Result<Point> MeasureThreads(const EmbeddedOptions& options, const Workload& workload, Cache* cache,
                             const IdStreams& streams, int threads) {
  const std::vector<int> cpus = options.cpus.empty() ? UsableCpus() : options.cpus;
  std::vector<std::unique_ptr<CacheWorker>> workers;
  for (int t = 0; t < threads; ++t)
    workers.push_back(std::make_unique<CacheWorker>(cache, workload, options.batch,
                                                    streams.of(static_cast<size_t>(t))));
  Point point;
  for (int i = 0; i < options.repetitions; ++i) {
    const CrewRate rate =
        RunCrew(static_cast<size_t>(threads), cpus, streams, options.warmup_s, options.run_s,
                [&](size_t thread, std::span<const uint32_t> ids) { workers[thread]->Run(ids); });
    point.rates.Add(rate.per_second);
    point.per_cpu_second.Add(rate.per_cpu_second);
    point.busy = std::min(point.busy, rate.busy);
    Progress(fmt::format("embedded/{} {}/{}, {} threads: {}/s", workload.name, i + 1,
                         options.repetitions, threads, Short(point.rates.all().back())));
  }
  for (const auto& worker : workers) point.answers.Merge(worker->answers());
  if (point.answers.wrong == 0) return point;
  return Status(Code::kCorruption,
                fmt::format("{}: {} wrong values", workload.name, point.answers.wrong));
}

Row ThreadsRow(const EmbeddedOptions& options, const Workload& workload, int threads,
               const Point& point, const Samples& single) {
  const CacheAnswers& answers = point.answers;
  Row row;
  row.bench = "embedded";
  row.name = fmt::format("{}-threads-{}", workload.name, threads);
  row.unit = "op/s";
  row.subject = {"weft", point.rates};
  row.judged_name = "relative to one thread";
  row.judged = point.rates.Median() / single.Median();
  row.details = DetailsOf(options);
  row.details.update({{"workload", workload.name},
                      {"threads", threads},
                      {"more_threads_than_cpus", threads > ThisMachine().cpus},
                      {"busy_min", point.busy},
                      {"per_cpu_second", point.per_cpu_second.all()},
                      {"hits", answers.hits},
                      {"gets", answers.gets},
                      {"stored", answers.stored},
                      {"sets", answers.sets}});
  if (threads > 1) row.target = options.target;
  return row;
}

Status RunWorkload(const EmbeddedOptions& options, const Workload& workload, Cache* cache,
                   Report& report) {
  const KeyPicker picker(options.objects, workload.zipf);
  const auto threads_max =
      static_cast<size_t>(*std::max_element(options.threads.begin(), options.threads.end()));
  const IdStreams streams(picker, workload.get_share, threads_max, options.seed);
  std::vector<int> counts = options.threads;
  if (std::find(counts.begin(), counts.end(), 1) == counts.end()) counts.insert(counts.begin(), 1);
  Samples single;
  for (const int threads : counts) {
    auto point = MeasureThreads(options, workload, cache, streams, threads);
    if (!point) return point.error();
    if (threads == 1) single = point->rates;
    report.Add(ThreadsRow(options, workload, threads, *point, single));
    if (point->busy < kBusyQuiet && threads <= ThisMachine().cpus)
      fmt::print("{}    by CPU time: {} op/s\n", SharedNote(point->busy),
                 Short(point->per_cpu_second.Median()));
    const CacheAnswers& answers = point->answers;
    if (answers.hits != answers.gets || answers.stored != answers.sets)
      fmt::print("    hits {} of {} gets, stored {} of {} sets\n", answers.hits, answers.gets,
                 answers.stored, answers.sets);
  }
  return Status::Ok();
}

}  // namespace

Status RunEmbeddedThreads(const EmbeddedOptions& options, Report& report) {
  const auto& names = options.workloads.empty() ? kTable : options.workloads;
  std::unique_ptr<Cache> cache;
  uint32_t filled_key_bytes = 0;  // workloads of one data set share a filled cache
  for (const std::string& name : names) {
    auto workload = ParseWorkload(name);
    if (!workload) return workload.error();
    if (workload->key_bytes != filled_key_bytes) {
      cache.reset();
      CacheOptions cache_options;
      cache_options.huge_pages = options.huge_pages;
      auto filled = FillCache(*workload, options.objects, options.memory_mb, cache_options);
      if (!filled) return filled.error();
      cache = std::move(*filled);
      filled_key_bytes = workload->key_bytes;
    }
    const Status status = RunWorkload(options, *workload, cache.get(), report);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

}  // namespace weft::bench
