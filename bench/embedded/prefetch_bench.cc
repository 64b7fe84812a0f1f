// Ways of prefetching in software, on objects and an index that no cache holds, in turns on one
// core, or on several at once: what does each gain, and do paper 004's claims of its unit in the
// memory controller hold here? Times are of the threads' CPUs, so that a neighbour who takes a core
// away changes little.
#include <algorithm>
#include <barrier>
#include <cstddef>
#include <fstream>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "bench/embedded/options.h"
#include "bench/embedded/prefetch_claims.h"
#include "bench/embedded/prefetch_table.h"
#include "bench/embedded/prefetch_walk.h"
#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

constexpr size_t kLookups = size_t{1} << 20;
constexpr size_t kLookupsVerified = 4096;
const std::vector<uint32_t> kPerBuckets = {1, 2, 3, 4, 6, 8};

std::vector<PrefetchWay> AllWays() {
  std::vector<PrefetchWay> ways;
  for (size_t way = 0; way < kPrefetchWays; ++way) ways.push_back(static_cast<PrefetchWay>(way));
  return ways;
}

// The last `threads` of the CPUs that are to be used, from the last on.
std::vector<int> CpusOf(const PrefetchOptions& options) {
  std::vector<int> cpus = options.cpus.empty() ? UsableCpus() : options.cpus;
  std::reverse(cpus.begin(), cpus.end());
  cpus.resize(std::min(cpus.size(), static_cast<size_t>(options.threads)));
  return cpus;
}

// Nanoseconds a lookup, of each way in the order of `ways`, a sample a round; of several threads
// the mean.
class Turns {
 public:
  Turns(const PrefetchOptions& options, const PrefetchTable& table, const PrefetchLookups& lookups)
      : options_(options),
        table_(table),
        lookups_(lookups),
        cpus_(CpusOf(options)),
        buffers_(static_cast<size_t>(options.threads)) {}

  Result<std::vector<Samples>> Measure(const std::vector<PrefetchWay>& ways, uint32_t batch) {
    for (const PrefetchWay way : ways) {
      if (!GivesRightValues(way, table_, lookups_, kLookupsVerified, batch))
        return Status(Code::kCorruption, fmt::format("{} gives a wrong value",
                                                     kPrefetchWayNames[static_cast<size_t>(way)]));
    }
    std::vector<Samples> times(ways.size());
    for (int round = -1; round < options_.repetitions; ++round) {
      // Odd rounds go backwards, so that no way has the same neighbour always. The first is
      // uncounted.
      for (size_t turn = 0; turn < ways.size(); ++turn) {
        const size_t i = round % 2 == 0 ? turn : ways.size() - 1 - turn;
        const double ns = TimeOf(ways[i], batch);
        if (round >= 0) times[i].Add(ns);
      }
    }
    return times;
  }

 private:
  double TimeOf(PrefetchWay way, uint32_t batch) {
    const size_t count = std::min<size_t>(options_.lookups, kLookups);
    const size_t threads = buffers_.size();
    std::vector<double> cpu_s(threads);
    std::barrier together(static_cast<std::ptrdiff_t>(threads));
    std::vector<std::thread> crew;
    for (size_t t = 0; t < threads; ++t) {
      // Each begins elsewhere, so that none finds what another has brought near.
      size_t begin = at_ + t * kLookups / threads;
      if (begin + count > kLookups) begin %= kLookups - count + 1;
      crew.emplace_back([&, t, begin] {
        PinTo(0, {cpus_[t]});
        together.arrive_and_wait();
        const double start = ThreadCpuSeconds();
        RunWalk(way, table_, lookups_, begin, count, batch, &buffers_[t]);
        cpu_s[t] = ThreadCpuSeconds() - start;
      });
    }
    double all_s = 0;
    for (size_t t = 0; t < threads; ++t) {
      crew[t].join();
      all_s += cpu_s[t];
    }
    at_ = at_ + 2 * count > kLookups ? 0 : at_ + count;
    return all_s * 1e9 / static_cast<double>(count * threads);
  }

  const PrefetchOptions& options_;
  const PrefetchTable& table_;
  const PrefetchLookups& lookups_;
  const std::vector<int> cpus_;
  size_t at_ = 0;
  std::vector<WalkBuffer> buffers_;  // a thread each
};

// Bytes of the last level of the first CPU's caches; 0: unknown.
uint64_t LastLevelBytes() {
  uint64_t bytes = 0;
  for (int index = 0; index < 8; ++index) {
    std::ifstream size(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
    uint64_t kib = 0;
    if (size >> kib) bytes = std::max(bytes, kib << 10);
  }
  return bytes;
}

class Experiment {
 public:
  Experiment(const PrefetchOptions& options, Report* report)
      : options_(options),
        report_(*report),
        threads_name_(options.threads == 1 ? "" : fmt::format("-threads-{}", options.threads)) {}

  Status Run() {
    for (const uint32_t value : options_.values) {
      Status status = RunValues({value}, fmt::format("value-{}", value));
      if (!status.ok()) return status;
    }
    if (Status status = RunValues(options_.values, "mixed"); !status.ok()) return status;
    for (const uint32_t batch : options_.batches) {
      for (const Claim& claim : ClaimsOf(gains_, options_.values, kPerBuckets, batch))
        AddClaim(claim, batch);
    }
    return Status::Ok();
  }

 private:
  Status RunValues(const std::vector<uint32_t>& values, const std::string& name) {
    Progress(fmt::format("prefetch: laying out {} MiB, {}", options_.memory_mb, name));
    PrefetchTable table(values, options_.memory_mb << 20, options_.seed);
    for (const uint32_t per_bucket : kPerBuckets) {
      const bool is_usual = per_bucket == kUsualPerBucket;
      if (values.size() > 1 && !is_usual) continue;
      table.Index(per_bucket, options_.seed);
      const PrefetchLookups lookups(table, kLookups, options_.seed + per_bucket);
      const std::vector<PrefetchWay> ways =
          is_usual
              ? AllWays()
              : std::vector{PrefetchWay::kBucket, PrefetchWay::kExhausted, PrefetchWay::kExact};
      Turns turns(options_, table, lookups);
      for (const uint32_t batch : options_.batches) {
        Progress(fmt::format("prefetch: {}, {} a bucket, batches of {}", name, per_bucket, batch));
        const auto times = turns.Measure(ways, batch);
        if (!times) return times.error();
        Keep(table, {values.size() == 1 ? values[0] : 0, batch, per_bucket}, ways, times.value());
      }
    }
    return Status::Ok();
  }

  // Values of 0: mixed.
  void Keep(const PrefetchTable& table, const PrefetchGains::Case& of,
            const std::vector<PrefetchWay>& ways, const std::vector<Samples>& times) {
    const auto bucket = std::find(ways.begin(), ways.end(), PrefetchWay::kBucket) - ways.begin();
    const Samples& of_bucket = times[static_cast<size_t>(bucket)];
    for (size_t i = 0; i < ways.size(); ++i) {
      const Samples ratios = PairRatios(times[i], of_bucket);
      Samples gains;
      for (const double ratio : ratios.all()) gains.Add(1 - ratio);
      gains_.Add(of, ways[i], gains);
      const std::string way(kPrefetchWayNames[static_cast<size_t>(ways[i])]);
      Row row;
      row.bench = "prefetch";
      row.name = fmt::format("value-{}-per-bucket-{}-batch-{}{}-{}",
                             of.value_bytes == 0 ? "mixed" : std::to_string(of.value_bytes),
                             of.per_bucket, of.batch, threads_name_, way);
      row.unit = "CPU ns / lookup";
      row.subject = {way, times[i]};
      row.peer = Side{"bucket", of_bucket};
      row.judged_name = "bucket / this";
      row.judged = 1 / ratios.Median();
      row.details = {{"objects", table.objects()},
                     {"object_bytes", table.object_bytes()},
                     {"index_bytes", table.index_bytes()},
                     {"mean_object_bytes", table.mean_bytes()},
                     {"last_level_cache_bytes", LastLevelBytes()},
                     {"lookups_a_turn", options_.lookups},
                     {"threads", options_.threads},
                     {"lookups_per_cpu_s", 1e9 / times[i].Median()},
                     {"gain", gains.Median()}};
      report_.Add(std::move(row));
    }
  }

  void AddClaim(const Claim& claim, uint32_t batch) {
    fmt::print("{} {}: {}\n", claim.id, NameOf(claim.verdict), claim.what);
    Row row;
    row.bench = "prefetch";
    row.name = fmt::format("claim-{}-batch-{}{}", claim.id, batch, threads_name_);
    row.unit = "verdict";
    row.judged_name = "0 holds, 1 unclear, 2 fails";
    row.judged = static_cast<double>(claim.verdict);
    row.subject = {NameOf(claim.verdict), Samples({row.judged})};
    row.details = {{"claim", claim.what}};
    report_.Add(std::move(row));
  }

  const PrefetchOptions& options_;
  Report& report_;
  const std::string threads_name_;  // in rows' names
  PrefetchGains gains_;
};

}  // namespace

Status RunPrefetch(const PrefetchOptions& options, Report& report) {
  const std::vector<int> cpus = CpusOf(options);
  if (cpus.size() < static_cast<size_t>(options.threads))
    return Status(Code::kInvalidArgument,
                  fmt::format("--threads {}: there are {} CPUs, and each thread needs its own",
                              options.threads, cpus.size()));
  PinTo(0, cpus);
  return Experiment(options, &report).Run();
}

}  // namespace weft::bench
