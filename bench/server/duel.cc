#include "bench/server/duel.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/random.h"
#include "bench/harness/machine.h"
#include "bench/meter/energy_meter.h"
#include "bench/meter/energy_spec.h"
#include "bench/meter/perf_meter.h"
#include "bench/target/memcached_target.h"
#include "bench/target/round_trip.h"

namespace weft::bench {
namespace {

constexpr int kFillDepth = 128;
constexpr int kFillSessions = 4;
constexpr uint64_t kSampleRecords = 100'000;

// {"instructions_per_op": 812.5 or "unavailable", ...}
nlohmann::json PerOperation(const Readings& readings, uint64_t operations) {
  nlohmann::json each;
  for (const auto& [name, of] :
       {std::pair("instructions_per_op", "instructions"), std::pair("cycles_per_op", "cycles"),
        std::pair("cache_misses_per_op", "cache_misses"),
        std::pair("package_joules_per_op", "energy_j")}) {
    const Reading& reading = readings.at(of);
    each[name] = "unavailable";
    if (reading.available() && operations > 0)
      each[name] = reading.value() / static_cast<double>(operations);
  }
  return each;
}

RecordOptions RecordsOf(const ServerOptions& options) {
  RecordOptions records;
  records.key_bytes = SizeDistribution::Fixed(options.key_bytes);
  records.value_bytes = SizeDistribution::Fixed(options.value_bytes);
  return records;
}

OperationMix MixOf(const ServerOptions& options, double get_share) {
  OperationMix mix;
  mix.name = "server";
  mix.SetShare(OperationKind::kRead, get_share);
  mix.SetShare(OperationKind::kUpdate, 1 - get_share);
  if (options.zipf) mix.keys.law = KeyLaw::kScrambledZipf;
  mix.keys.theta = defaults::kZipfTheta;
  mix.keys.ranks = options.keys;
  mix.record = RecordsOf(options);
  mix.records = options.keys;
  return mix;
}

Status Named(const std::string& name, const Status& status) {
  return {status.code(), fmt::format("{}: {}", name, status.message())};
}

// Reads random records, so many at a time. kCorruption: one is missing.
Status ReadSample(Session* session, uint64_t records, uint64_t count) {
  base::Random random(records);
  std::vector<Operation> round;
  std::vector<Outcome> outcomes;
  uint64_t missing = 0;
  for (uint64_t left = count; left > 0; left -= round.size()) {
    round.resize(std::min<uint64_t>(left, kFillDepth));
    for (Operation& operation : round) operation.record = random.Below(records);
    const Status status = RoundTrip(session, round, &outcomes);
    if (!status.ok()) return status;
    for (const Outcome& outcome : outcomes) missing += outcome.outcome != OutcomeKind::kDone;
  }
  if (missing == 0) return Status::Ok();
  return {Code::kCorruption, fmt::format("{} of {} sampled keys missing", missing, count)};
}

}  // namespace

Result<RecordFormat> FormatOf(const ServerOptions& options) {
  return RecordFormat::Make(RecordsOf(options));
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
          {"protocol", options.binary ? "binary" : "text"},
          {"tls", options.tls != nullptr},
          {"repetitions", options.repetitions},
          {"run_s", options.run_s},
          {"warmup_s", options.warmup_s}};
}

Result<std::unique_ptr<Target>> ClientOf(const ServerOptions& options, const Peer& peer,
                                         const RecordFormat& format, bool multi_get) {
  TargetOptions client;
  client.multi_get = multi_get;
  client.binary = options.binary;
  client.tls = options.tls;
  return OpenMemcached({"127.0.0.1", peer.port(), ""}, client, format);
}

Status FillServer(const ServerOptions& options, const Peer& peer, const RecordFormat& format,
                  RecordSpace* space) {
  auto client = ClientOf(options, peer, format);
  if (!client) return client.error();
  LoadOptions load{.sessions = kFillSessions, .depth = kFillDepth};
  if (!options.client_cpus.empty()) load.cpus = {options.client_cpus[0]};
  uint64_t stored = 0;
  LoadEvents events;
  events.slice_ended = [&](const SliceRow& row, const base::Histogram&) {
    stored += row.operations;
    Progress(fmt::format("{}: {} of {} keys stored", peer.name(), stored, options.keys));
  };
  auto filled = RunLoad(client->get(), FillOf(MixOf(options, 1)), space, load, events);
  if (!filled) return Named(peer.name(), filled.error());
  if (filled->outcomes.refused > 0)
    return {Code::kCorruption,
            fmt::format("{}: {} sets refused", peer.name(), filled->outcomes.refused)};
  auto session = (*client)->NewSession();
  if (!session) return session.error();
  const uint64_t sample = std::min<uint64_t>(options.keys, kSampleRecords);
  const Status status = ReadSample(session->get(), options.keys, sample);
  return status.ok() ? status : Named(peer.name(), status);
}

Result<std::unique_ptr<Contestant>> Contestant::Start(const PeerSpec& spec,
                                                      const ServerOptions& options) {
  auto format = FormatOf(options);
  if (!format) return format.error();
  std::unique_ptr<Contestant> self(new Contestant(options, std::move(*format)));
  PeerOptions how{options.memory_mb, options.threads, defaults::kConnectionsMax,
                  options.server_cpus};
  if (options.tls != nullptr) how.flags = options.tls->ServerFlags();
  how.ask = AskerOf(options.tls);
  auto peer = Peer::Start(spec, how);
  if (!peer) return peer.error();
  self->peer_ = std::move(*peer);
  const Status filled = FillServer(options, *self->peer_, self->format_, &self->space_);
  if (!filled.ok()) return filled;
  return self;
}

LoadOptions Contestant::LoadOptionsOf(const TurnOptions& turn, size_t threads) const {
  const auto connections = static_cast<size_t>(options_.connections);
  threads = std::clamp(threads, size_t{1}, connections);
  return {.threads = static_cast<int>(threads),
          .sessions = static_cast<int>(connections / threads),
          .more_sessions = static_cast<int>(connections % threads),
          .depth = std::max(turn.depth, turn.keys_per_get),
          .warmup_s = options_.warmup_s,
          .seconds = options_.run_s,
          .seed = turn.seed,
          .cpus = options_.client_cpus};
}

Result<LoadFigures> Contestant::Load(const TurnOptions& turn, const LoadOptions& load,
                                     const LoadEvents& events) {
  auto client = ClientOf(options_, *peer_, format_, turn.keys_per_get > 1);
  if (!client) return client.error();
  auto figures = RunLoad(client->get(), MixOf(options_, turn.get_share), &space_, load, events);
  if (!figures) return Named(peer_->name(), figures.error());
  if (figures->operations > 0) return figures;
  return Status(Code::kIoError,
                fmt::format("{}: nothing was answered in {} s", peer_->name(), load.seconds));
}

Result<Turn> Contestant::Play(const TurnOptions& options) {
  const Process& server = peer_->process();
  PerfMeter counters;
  EnergyMeter energy(OpenEnergy("rapl"));
  Turn turn;
  Readings readings;
  CpuSeconds before;
  LoadEvents events;
  events.counting_begins = [&] {
    before = server.Cpu();
    counters.Start({server.pid()});
    energy.Start({server.pid()});
  };
  events.counting_ends = [&] {
    turn.cpu = server.Cpu() - before;
    readings = energy.Stop();
    readings.merge(counters.Stop());
  };
  auto figures = Load(options, LoadOptionsOf(options, options_.client_cpus.size()), events);
  if (!figures) return figures.error();
  turn.load = std::move(*figures);
  const auto keys = static_cast<uint64_t>(options.keys_per_get);
  turn.probes = PerOperation(readings, turn.load.operations / keys);
  return turn;
}

Result<LoadFigures> Contestant::PlayAtRate(const TurnOptions& options, double rate, bool poisson) {
  LoadOptions load = LoadOptionsOf(options, 1);
  load.burst = options.depth;
  const double rounds = rate / options.depth;
  auto schedule = RateSchedule::Parse(fmt::format("{}{}", poisson ? "poisson " : "", rounds));
  if (!schedule) return schedule.error();
  load.rate = *schedule;
  return Load(options, load, {});
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
