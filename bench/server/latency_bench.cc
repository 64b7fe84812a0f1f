// Latency at a rate that the peer can hold: both get the same schedule, a share of what the peer
// manages when pushed.
#include <algorithm>

#include <fmt/format.h>

#include "bench/server/duel.h"

namespace weft::bench {
namespace {

// Percentiles of one server, a sample a repetition, in microseconds.
struct LatencySeries {
  Samples p50, p99, p999;
  uint64_t misses = 0;
  double send_lag_us_p99 = 0;

  void Add(const LoadFigures& run) {
    p50.Add(PercentileUs(run.latency_ns, 50));
    p99.Add(PercentileUs(run.latency_ns, 99));
    p999.Add(PercentileUs(run.latency_ns, 99.9));
    misses += run.outcomes.missing;
    send_lag_us_p99 = std::max(send_lag_us_p99, PercentileUs(run.lag_ns, 99));
  }
  nlohmann::json ToJson() const {
    // A round that is due is sent, however late: none is ever left unsent.
    return {{"unsent_rounds", 0}, {"misses", misses}, {"send_lag_us_p99", send_lag_us_p99}};
  }
};

// Operations a second of the peer when every connection is kept busy: the best of three turns.
Result<double> TopRate(const ServerOptions& options, int depth, Contestant& peer) {
  double best = 0;
  for (uint64_t i = 0; i < 3; ++i) {
    auto turn = peer.Play({options.get_share, depth, 1, options.seed + 100 + i});
    if (!turn) return turn.error();
    best = std::max(best, turn->load.OperationsPerSecond());
  }
  return best;
}

void AddRow(const char* percentile, const Samples& subject, const Samples& peer,
            std::optional<double> target, const Row& common, Report& report) {
  Row row = common;
  row.name += fmt::format("-{}", percentile);
  row.unit = fmt::format("{} us", percentile);
  row.subject.samples = subject;
  row.SetPeer(common.judged_name, {common.peer->name, peer});
  row.target = target;
  report.Add(std::move(row));
}

Status RunDepth(const ServerOptions& options, const LatencyOptions& latency, int depth,
                Contestant* sides[2], Report& report) {
  double top = 0;
  if (latency.rate == 0) {
    Progress(fmt::format("latency/depth-{}: top rate of {}", depth, sides[1]->peer().name()));
    auto measured = TopRate(options, depth, *sides[1]);
    if (!measured) return measured.error();
    top = *measured;
  }
  const double rate = latency.rate > 0 ? latency.rate : top * latency.load;
  LatencySeries series[2];
  const Status status = Alternate(options.repetitions, [&](int side, int repetition) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(repetition);
    auto run = sides[side]->PlayAtRate({options.get_share, depth, 1, seed}, rate, latency.poisson);
    if (!run) return run.error();
    series[side].Add(*run);
    Progress(fmt::format("latency/depth-{} {}/{} {}: p99 {:.0f} us at {} ops/s", depth,
                         repetition + 1, options.repetitions, sides[side]->peer().name(),
                         series[side].p99.all().back(), Short(rate)));
    return Status::Ok();
  });
  if (!status.ok()) return status;
  Row common;
  common.bench = "latency";
  common.name = fmt::format("depth-{}", depth);
  common.subject = {sides[0]->peer().name(), {}};
  common.peer = Side{sides[1]->peer().name(), {}};
  common.judged_name = "subject / peer";
  common.goal = Goal::kAtMost;
  common.details = DetailsOf(options);
  common.details.update({{"depth", depth},
                         {"rate_ops_per_s", rate},
                         {"peer_top_ops_per_s", top},
                         {"arrivals", latency.poisson ? "poisson" : "even"},
                         {"subject", series[0].ToJson()},
                         {"peer", series[1].ToJson()}});
  fmt::print("latency/depth-{}: {} ops/s offered{}\n", depth, Short(rate),
             top > 0 ? fmt::format(" (top of {}: {})", sides[1]->peer().name(), Short(top)) : "");
  AddRow("p50", series[0].p50, series[1].p50, std::nullopt, common, report);
  AddRow("p99", series[0].p99, series[1].p99, options.target.value_or(defaults::kTargetLatency),
         common, report);
  AddRow("p99.9", series[0].p999, series[1].p999, std::nullopt, common, report);
  return Status::Ok();
}

}  // namespace

Status RunLatency(const ServerOptions& options, const LatencyOptions& latency, Report& report) {
  auto subject = Contestant::Start(options.subject, options);
  if (!subject) return subject.error();
  auto peer = Contestant::Start(options.peer, options);
  if (!peer) return peer.error();
  Contestant* sides[2] = {subject->get(), peer->get()};
  for (const int depth : latency.depths) {
    const Status status = RunDepth(options, latency, depth, sides, report);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

}  // namespace weft::bench
