// Two workers against one: is a second core worth a second core?
//
// With cores enough for two workers and a client apart, the wall-clock rates are compared. With
// fewer, workers and client share cores and wall-clock rates say nothing; then the work done per
// CPU second of the server is compared, and the speed-up that it allows is twice that ratio.
#include <algorithm>

#include <fmt/format.h>

#include "bench/harness/machine.h"
#include "bench/server/duel.h"

namespace weft::bench {
namespace {

constexpr int kWorkers = 2;
constexpr size_t kCoresApart = 4;  // two for the server, two for clients that outrun it

// The same cores for one worker as for two, so that only the number of workers differs.
ServerOptions Spread(const ServerOptions& options, int threads) {
  ServerOptions spread = options;
  spread.threads = threads;
  const std::vector<int> cpus = UsableCpus();
  if (cpus.size() >= kCoresApart) {
    spread.server_cpus.assign(cpus.begin(), cpus.begin() + kWorkers);
    spread.client_cpus.assign(cpus.begin() + kWorkers, cpus.end());
  } else {
    spread.server_cpus = cpus;
    spread.client_cpus = cpus;
  }
  return spread;
}

struct ScalingSeries {
  Samples rate, per_core, cpu;
  double client_busy = 0;

  void Add(const Turn& turn) {
    rate.Add(turn.load.OperationsPerSecond());
    cpu.Add(turn.CpuPerMillion());
    per_core.Add(1e6 / cpu.all().back());
    client_busy = std::max(client_busy, turn.load.busy);
  }
};

Row MakeRow(const ServerOptions& options, const std::string& server, int depth, bool apart,
            const ScalingSeries& one, const ScalingSeries& two) {
  Row row;
  row.bench = "scaling";
  row.name = fmt::format("{}-depth-{}", server, depth);
  row.unit = apart ? "ops/s" : "ops per CPU second of the server";
  const Samples& many = apart ? two.rate : two.per_core;
  const Samples& single = apart ? one.rate : one.per_core;
  row.subject = {fmt::format("{} -t {}", server, kWorkers), many};
  row.peer = Side{server + " -t 1", single};
  const double factor = apart ? 1 : kWorkers;
  row.judged_name = apart ? "speed-up" : "speed-up allowed by CPU time";
  row.judged = factor * many.Median() / single.Median();
  const Samples pairs = PairRatios(many, single);
  for (const double ratio : pairs.all()) row.pair_ratios.Add(factor * ratio);
  row.details = DetailsOf(options);
  row.details.update({{"depth", depth},
                      {"ops_per_s_one", one.rate.all()},
                      {"ops_per_s_two", two.rate.all()},
                      {"cpu_s_per_million_one", one.cpu.all()},
                      {"cpu_s_per_million_two", two.cpu.all()},
                      {"client_busy_max", std::max(one.client_busy, two.client_busy)},
                      {"cores_shared_with_client", !apart}});
  return row;
}

Status RunServerPair(const ServerOptions& options, const PeerSpec& spec, bool judged,
                     Report& report) {
  const ServerOptions with_one = Spread(options, 1);
  const ServerOptions with_two = Spread(options, kWorkers);
  const bool apart = UsableCpus().size() >= kCoresApart;
  auto two = Contestant::Start(spec, with_two);
  if (!two) return two.error();
  auto one = Contestant::Start(spec, with_one);
  if (!one) return one.error();
  Contestant* sides[2] = {two->get(), one->get()};
  for (const int depth : {1, defaults::kDeepDepth}) {
    ScalingSeries series[2];
    const Status status = Alternate(options.repetitions, [&](int side, int repetition) {
      const uint64_t seed = options.seed + static_cast<uint64_t>(repetition);
      auto turn = sides[side]->Play({options.get_share, depth, 1, seed});
      if (!turn) return turn.error();
      series[side].Add(*turn);
      Progress(fmt::format("scaling/{} depth {} {}/{} -t {}: {} ops/s, {:.3f} CPU s / M", spec.name,
                           depth, repetition + 1, options.repetitions, side == 0 ? kWorkers : 1,
                           Short(series[side].rate.all().back()), series[side].cpu.all().back()));
      return Status::Ok();
    });
    if (!status.ok()) return status;
    Row row = MakeRow(with_two, spec.name, depth, apart, series[1], series[0]);
    if (judged) row.target = options.target.value_or(defaults::kTargetScaling);
    report.Add(std::move(row));
    fmt::print("    wall: -t 1 {} ops/s, -t {} {} ops/s; CPU s / M ops: {:.3f}, {:.3f}{}\n",
               Short(series[1].rate.Median()), kWorkers, Short(series[0].rate.Median()),
               series[1].cpu.Median(), series[0].cpu.Median(),
               apart ? "" : " (client shares the cores)");
  }
  return Status::Ok();
}

}  // namespace

Status RunScaling(const ServerOptions& options, Report& report) {
  const Status subject = RunServerPair(options, options.subject, true, report);
  if (!subject.ok()) return subject;
  return RunServerPair(options, options.peer, false, report);
}

}  // namespace weft::bench
