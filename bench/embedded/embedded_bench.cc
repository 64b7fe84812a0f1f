// The embedded cache on one thread, all hits: as fast as the memory allows? And is prefetching what
// makes it so? Walk and caches take turns in one process, on the same core and page size. Rates are
// by the thread's CPU time, so that a neighbour who takes the core away does not change them.
#include <algorithm>

#include <fmt/format.h>

#include "bench/embedded/cache_load.h"
#include "bench/embedded/options.h"
#include "bench/harness/machine.h"
#include "bench/walk/crew.h"
#include "bench/walk/walk.h"

namespace weft::bench {
namespace {

constexpr uint64_t kReadsVerified = 1'000'000;

Status Verify(Cache* cache, const Workload& workload, const EmbeddedOptions& options) {
  const uint64_t count = std::min(kReadsVerified, options.objects);
  const CacheAnswers answers = VerifySample(cache, workload, options.objects, count, options.seed);
  if (answers.hits == count && answers.wrong == 0) return Status::Ok();
  return Status(Code::kCorruption, fmt::format("of {} lookups {} missed, {} had a wrong value",
                                               count, count - answers.hits, answers.wrong));
}

struct Rates {
  Samples walk, with, without, view;
};

// All of them in turns. Stops with kCorruption when a get of the run missed or was wrong.
Result<Rates> MeasureInTurns(const EmbeddedOptions& options, const Workload& workload,
                             const Walk& walk, Cache* with, Cache* without) {
  const KeyPicker picker(options.objects, false);
  const IdStreams streams(picker, 1.0, 1, options.seed);
  const std::vector<int> cpus = options.cpus.empty() ? UsableCpus() : options.cpus;
  CacheWorker on(with, workload, options.batch, streams.of(0));
  CacheWorker off(without, workload, options.batch, streams.of(0));
  Rates rates;
  uint64_t sum = 0;
  const auto run = [&](const Slice& work) {
    return RunCrew(1, {cpus.back()}, streams, options.warmup_s, options.run_s, work).per_cpu_second;
  };
  for (int i = 0; i < options.repetitions; ++i) {
    rates.walk.Add(run([&](size_t, auto ids) { sum += walk.Run(ids, options.batch); }));
    rates.with.Add(run([&](size_t, auto ids) { on.Run(ids); }));
    rates.without.Add(run([&](size_t, auto ids) { off.Run(ids); }));
    rates.view.Add(run([&](size_t, auto ids) { on.View(ids); }));
    Progress(fmt::format("embedded {}/{}: walk {}/s, prefetch {}/s, without {}/s, view {}/s", i + 1,
                         options.repetitions, Short(rates.walk.all().back()),
                         Short(rates.with.all().back()), Short(rates.without.all().back()),
                         Short(rates.view.all().back())));
  }
  asm volatile("" : : "r"(sum));  // the walk's result counts as used
  CacheAnswers all = on.answers();
  all.Merge(off.answers());
  if (all.hits == all.gets && all.wrong == 0) return rates;
  return Status(Code::kCorruption, fmt::format("of {} gets {} missed, {} had a wrong value",
                                               all.gets, all.gets - all.hits, all.wrong));
}

Row PeerRow(const char* name, const Samples& subject, const char* other, const Samples& peer,
            double target, const nlohmann::json& details) {
  Row row;
  row.bench = "embedded";
  row.name = name;
  row.unit = "GET / CPU s";
  row.subject = {"weft", subject};
  row.SetPeer(fmt::format("weft / {}", other), {other, peer});
  row.target = target;
  row.details = details;
  return row;
}

}  // namespace

Status RunEmbedded(const EmbeddedOptions& options, Report& report) {
  auto workload = ParseWorkload("K16-G100-U");
  if (!workload) return workload.error();
  CacheOptions with_options, without_options;
  with_options.huge_pages = without_options.huge_pages = options.huge_pages;
  without_options.prefetch = false;
  auto with = FillCache(*workload, options.objects, options.memory_mb, with_options);
  if (!with) return with.error();
  auto without = FillCache(*workload, options.objects, options.memory_mb, without_options);
  if (!without) return without.error();
  const Walk walk(options.objects, defaults::kWalkObjectBytes, options.huge_pages, options.seed);
  Status verified = Verify(with->get(), *workload, options);
  if (!verified.ok()) return verified;
  auto rates = MeasureInTurns(options, *workload, walk, with->get(), without->get());
  if (!rates) return rates.error();
  const CacheStats stats = (*with)->Stats();
  nlohmann::json details = DetailsOf(options);
  details.update({{"workload", workload->name},
                  {"threads", 1},
                  {"cache_memory_bytes", stats.memory_bytes},
                  {"index_buckets", stats.index_buckets}});
  report.Add(PeerRow("over-walk", rates->with, "bare walk", rates->walk,
                     options.target.value_or(defaults::kTargetWalk), details));
  report.Add(PeerRow("prefetch", rates->with, "prefetch off", rates->without,
                     options.target.value_or(defaults::kTargetPrefetch), details));
  report.Add(PeerRow("view", rates->view, "MultiGet", rates->with,
                     options.target.value_or(defaults::kTargetView), details));
  fmt::print(
      "    ns a lookup: walk {:.1f}, weft {:.1f}, without prefetch {:.1f}, MultiView {:.1f}\n",
      1e9 / rates->walk.Median(), 1e9 / rates->with.Median(), 1e9 / rates->without.Median(),
      1e9 / rates->view.Median());
  return Status::Ok();
}

}  // namespace weft::bench
