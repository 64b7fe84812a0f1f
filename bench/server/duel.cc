#include "bench/server/duel.h"

#include <fmt/format.h>

#include "bench/harness/machine.h"
#include "bench/meter/energy_meter.h"
#include "bench/meter/energy_spec.h"
#include "bench/meter/perf_meter.h"

namespace weft::bench {
namespace {

// {"instructions_per_op": 812.5 or "unavailable", ...}
nlohmann::json PerOperation(const Readings& readings, uint64_t operations) {
  nlohmann::json each = nlohmann::json::object();
  const auto add = [&](const char* name, const Reading& reading) {
    if (reading.available() && operations > 0) {
      each[name] = reading.value() / static_cast<double>(operations);
    } else {
      each[name] = "unavailable";
    }
  };
  add("instructions_per_op", readings.at("instructions"));
  add("cycles_per_op", readings.at("cycles"));
  add("cache_misses_per_op", readings.at("cache_misses"));
  add("package_joules_per_op", readings.at("energy_j"));
  return each;
}

}  // namespace

PayloadShape ShapeOf(const ServerOptions& options) {
  return {options.key_bytes, options.value_bytes, options.value_bytes};
}

nlohmann::json DetailsOf(const ServerOptions& options) {
  return {{"server_cpus", CpuListText(options.server_cpus)},
          {"client_cpus", CpuListText(options.client_cpus)},
          {"memory_mb", options.memory_mb},
          {"keys", options.keys},
          {"key_bytes", options.key_bytes},
          {"value_bytes", options.value_bytes},
          {"get_share", options.get_share},
          {"distribution", options.zipf ? "zipf 0.99 scrambled" : "uniform"},
          {"connections", options.connections},
          {"server_threads", options.threads},
          {"repetitions", options.repetitions},
          {"run_s", options.run_s},
          {"warmup_s", options.warmup_s}};
}

Result<std::unique_ptr<Contestant>> Contestant::Start(const PeerSpec& spec,
                                                      const ServerOptions& options) {
  std::unique_ptr<Contestant> self(new Contestant(options));
  const PeerOptions how{options.memory_mb, options.threads, defaults::kConnectionsMax,
                        options.server_cpus};
  auto peer = Peer::Start(spec, how);
  if (!peer) return peer.error();
  self->peer_ = std::move(*peer);
  const PayloadShape shape = ShapeOf(options);
  const uint16_t port = self->peer_->port();
  const int loader_cpu = options.client_cpus.empty() ? -1 : options.client_cpus[0];
  const Status loaded = Preload(port, shape, options.keys, loader_cpu, spec.name);
  if (!loaded.ok()) return loaded;
  const size_t client_count = std::max<size_t>(options.client_cpus.size(), 1);
  for (size_t i = 0; i < client_count; ++i) {
    const size_t share = (static_cast<size_t>(options.connections) + i) / client_count;
    auto client = ClosedLoop::Open(port, share, shape);
    if (!client) return client.error();
    self->clients_.push_back(std::move(*client));
  }
  return self;
}

LoadResult Contestant::Load(const MixedSource::Options& load, double seconds) {
  std::vector<std::unique_ptr<RoundSource>> sources;
  for (size_t i = 0; i < clients_.size(); ++i) {
    MixedSource::Options own = load;
    own.seed = load.seed * 1000 + i;
    sources.push_back(
        std::make_unique<MixedSource>(picker_, static_cast<size_t>(options_.connections), own));
  }
  return RunSideBySide(clients_, sources, options_.client_cpus, seconds);
}

Result<Turn> Contestant::Play(const MixedSource::Options& load) {
  MixedSource::Options warm = load;
  warm.seed = ~load.seed;
  Turn turn;
  if (options_.warmup_s > 0) turn.load = Load(warm, options_.warmup_s);  // 0: without an end
  if (turn.load.counts.errors == 0) {
    const pid_t server = peer_->process().pid();
    PerfMeter counters;
    EnergyMeter energy(OpenEnergy("rapl"));
    counters.Start({server});
    energy.Start({server});
    const CpuSeconds before = peer_->process().Cpu();
    turn.load = Load(load, options_.run_s);
    turn.cpu = peer_->process().Cpu() - before;
    Readings readings = energy.Stop();
    readings.merge(counters.Stop());
    turn.probes = PerOperation(readings, turn.load.counts.ops);
  }
  const ReplyCounts& counts = turn.load.counts;
  if (counts.errors == 0 && counts.ops > 0) return turn;
  return Status(Code::kCorruption,
                fmt::format("{}: {} operations, {} wrong replies ({})", peer_->name(), counts.ops,
                            counts.errors, counts.first_error));
}

Status Alternate(int repetitions, const std::function<Status(int side, int repetition)>& turn) {
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (int step = 0; step < 2; ++step) {
      const Status status = turn((repetition + step) % 2, repetition);
      if (!status.ok()) return status;
    }
  }
  return Status::Ok();
}

}  // namespace weft::bench
