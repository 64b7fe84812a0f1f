// Hit ratio with the same memory: both servers play the same trace, at the same time, each on its
// own connection. Speed does not matter here, so they may share the cores.
#include <unistd.h>

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "bench/harness/machine.h"
#include "bench/server/duel.h"
#include "bench/server/trace.h"

namespace weft::bench {
namespace {

struct Played {
  HitCounts trace;
  uint64_t resident_bytes = 0;
  std::string command;

  nlohmann::json ToJson() const {
    return {{"requests", trace.requests},           {"hits", trace.hits},
            {"scan_requests", trace.scan_requests}, {"stale_hits", trace.stale_hits},
            {"late_rounds", trace.late_rounds},     {"refused_sets", trace.refused_sets},
            {"resident_bytes", resident_bytes},     {"command", command}};
  }
};

// A fresh server, so that no trace finds another's leavings.
class Player {
 public:
  Player(const TraceSpec& spec, uint64_t seed) : trace_(spec, seed) {
    records_.key_bytes = SizeDistribution::Fixed(kTraceKeyBytes);
    records_.value_bytes = spec.value_bytes;
  }

  Status Start(const PeerSpec& server, const ServerOptions& options, uint64_t memory_mb) {
    auto peer = Peer::Start(server, {memory_mb, options.threads, defaults::kConnectionsMax, {}});
    if (!peer) return peer.error();
    peer_ = std::move(*peer);
    auto format = RecordFormat::Make(records_);
    if (!format) return format.error();
    format_ = std::make_unique<RecordFormat>(std::move(*format));
    auto client = ClientOf(*peer_, *format_);
    if (!client) return client.error();
    client_ = std::move(*client);
    auto session = client_->NewSession();
    if (!session) return session.error();
    session_ = std::move(*session);
    thread_ = std::thread([this] {
      status_ = trace_.Play(session_.get());
      finished_ = true;
    });
    return Status::Ok();
  }

  bool finished() const { return finished_; }
  double Progress() const { return trace_.Progress(); }
  Result<Played> Finish() {
    thread_.join();
    played_.trace = trace_.counts();
    played_.resident_bytes = peer_->process().ResidentBytes();
    played_.command = peer_->command_line();
    if (!status_.ok())
      return Status(status_.code(), fmt::format("{}: {}", peer_->name(), status_.message()));
    if (played_.trace.scan_hits == 0) return played_;
    return Status(Code::kCorruption, fmt::format("{}: {} hits of keys never stored", peer_->name(),
                                                 played_.trace.scan_hits));
  }
  ~Player() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  TracePlayer trace_;
  RecordOptions records_;
  std::unique_ptr<RecordFormat> format_;
  std::unique_ptr<Peer> peer_;
  std::unique_ptr<Target> client_;
  std::unique_ptr<Session> session_;
  Status status_;
  Played played_;
  std::atomic<bool> finished_{false};
  std::thread thread_;
};

Status PlayBoth(const TraceSpec& trace, const ServerOptions& options, uint64_t memory_mb,
                uint64_t seed, Played played[2]) {
  Player subject(trace, seed), peer(trace, seed);
  Player* players[2] = {&subject, &peer};
  const PeerSpec* specs[2] = {&options.subject, &options.peer};
  for (int i = 0; i < 2; ++i) {
    const Status started = players[i]->Start(*specs[i], options, memory_mb);
    if (!started.ok()) return started;
  }
  while (!subject.finished() || !peer.finished()) {
    Progress(fmt::format("hit-ratio/{}: {} {:.0f} %, {} {:.0f} %", trace.name, specs[0]->name,
                         100 * subject.Progress(), specs[1]->name, 100 * peer.Progress()));
    for (int i = 0; i < 20 && !(subject.finished() && peer.finished()); ++i) usleep(100'000);
  }
  for (int i = 0; i < 2; ++i) {
    auto result = players[i]->Finish();
    if (!result) return result.error();
    played[i] = *result;
  }
  return Status::Ok();
}

Status RunTrace(const TraceSpec& trace, const ServerOptions& options, uint64_t memory_mb,
                Report& report) {
  Samples ratio[2];
  Played last[2];
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(repetition);
    const Status status = PlayBoth(trace, options, memory_mb, seed, last);
    if (!status.ok()) return status;
    for (int i = 0; i < 2; ++i) ratio[i].Add(last[i].trace.HitRatio());
  }
  Row row;
  row.bench = "hit-ratio";
  row.name = trace.name;
  row.unit = "hits a request";
  row.subject = {options.subject.name, ratio[0]};
  row.peer = Side{options.peer.name, ratio[1]};
  row.judged_name = "subject / peer";
  row.judged = ratio[0].Median() / ratio[1].Median();
  row.pair_ratios = PairRatios(ratio[0], ratio[1]);
  row.target = options.target.value_or(defaults::kTargetHitRatio);
  row.details = {{"story", trace.story},
                 {"memory_mb", memory_mb},
                 {"keys", trace.keys},
                 {"warm_requests", trace.warm_requests},
                 {"repetitions", options.repetitions},
                 {"requests", trace.requests},
                 {"rate", trace.rate},
                 {"subject", last[0].ToJson()},
                 {"peer", last[1].ToJson()}};
  report.Add(std::move(row));
  fmt::print("    {}; -m {}, {} keys, {} counted requests; resident {} MB, {} MB\n", trace.story,
             memory_mb, trace.keys, trace.requests, last[0].resident_bytes >> 20,
             last[1].resident_bytes >> 20);
  for (int i = 0; i < 2; ++i) {
    const char* name = i == 0 ? options.subject.name.c_str() : options.peer.name.c_str();
    if (last[i].trace.stale_hits > 0)
      fmt::print("    {}: {} hits of values past their end\n", name, last[i].trace.stale_hits);
    if (last[i].trace.late_rounds > 0)
      fmt::print("    {}: {} rounds late: the machine was too busy for the pace\n", name,
                 last[i].trace.late_rounds);
    if (last[i].trace.refused_sets > 0)
      fmt::print("    {}: {} sets refused\n", name, last[i].trace.refused_sets);
  }
  return Status::Ok();
}

}  // namespace

Status RunHitRatio(const ServerOptions& options, const HitRatioOptions& hit_ratio, Report& report) {
  for (const TraceSpec& trace : Traces(hit_ratio.memory_mb, hit_ratio.scale)) {
    const auto& only = hit_ratio.only;
    if (!only.empty() && std::find(only.begin(), only.end(), trace.name) == only.end()) continue;
    const Status status = RunTrace(trace, options, hit_ratio.memory_mb, report);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

}  // namespace weft::bench
