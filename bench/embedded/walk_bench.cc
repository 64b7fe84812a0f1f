// The bare walk alone, for each thread count.
#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "bench/embedded/options.h"
#include "bench/harness/machine.h"
#include "bench/harness/process.h"
#include "bench/walk/crew.h"
#include "bench/walk/walk.h"

namespace weft::bench {

nlohmann::json DetailsOf(const EmbeddedOptions& options) {
  const std::vector<int> cpus = options.cpus.empty() ? UsableCpus() : options.cpus;
  return {{"objects", options.objects},
          {"batch", options.batch},
          {"cpus", CpuListText(cpus)},
          {"repetitions", options.repetitions},
          {"run_s", options.run_s},
          {"warmup_s", options.warmup_s},
          {"huge_page_bytes", HugePageBytesOf("self")},
          {"resident_bytes", ResidentBytesOf("self")}};
}

Status RunWalk(const EmbeddedOptions& options, Report& report) {
  Progress(fmt::format("walk: laying out {} objects", options.objects));
  const Walk walk(options.objects, defaults::kWalkObjectBytes, options.huge_pages, options.seed);
  const KeyPicker picker(options.objects, false);
  const auto threads_max =
      static_cast<size_t>(*std::max_element(options.threads.begin(), options.threads.end()));
  const IdStreams streams(picker, 1.0, threads_max, options.seed);
  const std::vector<int> cpus = options.cpus.empty() ? UsableCpus() : options.cpus;
  std::atomic<uint64_t> sum{0};  // so that the walk is not optimised away
  double single = 0;
  for (const int threads : options.threads) {
    Samples rates;
    double busy = 1;
    for (int i = 0; i < options.repetitions; ++i) {
      const CrewRate rate =
          RunCrew(static_cast<size_t>(threads), cpus, streams, options.warmup_s, options.run_s,
                  [&](size_t, std::span<const uint32_t> ids) {
                    sum.fetch_add(walk.Run(ids, options.batch), std::memory_order_relaxed);
                  });
      rates.Add(rate.per_second);
      busy = std::min(busy, rate.busy);
      Progress(fmt::format("walk {}/{}, {} threads: {}/s", i + 1, options.repetitions, threads,
                           Short(rates.all().back())));
    }
    if (single == 0) single = rates.Median() / threads;
    Row row;
    row.bench = "walk";
    row.name = fmt::format("threads-{}", threads);
    row.unit = "walks/s";
    row.judged_name = "relative to one thread";
    row.judged = rates.Median() / single;
    row.details = DetailsOf(options);
    row.details["object_bytes"] = defaults::kWalkObjectBytes;
    row.details["walk_bytes"] = walk.bytes();
    row.details["ns_per_walk_and_thread"] = 1e9 * threads / rates.Median();
    row.details["busy_min"] = busy;
    row.subject = {"walk", std::move(rates)};
    report.Add(std::move(row));
    fmt::print("    {} objects of {} B, {} MiB with an index, by {}\n",
               Short(static_cast<double>(options.objects)), defaults::kWalkObjectBytes,
               walk.bytes() >> 20, options.batch);
    if (busy < kBusyQuiet) fmt::print("{}", SharedNote(busy));
  }
  return Status::Ok();
}

}  // namespace weft::bench
