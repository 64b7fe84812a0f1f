// Hit ratio with the same memory: both servers play the same trace, at the same time, each on its
// own connection. Speed does not matter here, so they may share the cores.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include <fmt/format.h>

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

// On a fresh server, so that no trace finds another's leavings.
Result<Played> PlayOn(const PeerSpec& server, const ServerOptions& options, uint64_t memory_mb,
                      const TraceSpec& trace, TracePlayer* player) {
  auto peer = Peer::Start(server, {memory_mb, options.threads, defaults::kConnectionsMax, {}});
  if (!peer) return peer.error();
  RecordOptions records;
  records.key_bytes = SizeDistribution::Fixed(kTraceKeyBytes);
  records.value_bytes = trace.value_bytes;
  auto format = RecordFormat::Make(records);
  if (!format) return format.error();
  auto client = ClientOf(options, **peer, *format);
  if (!client) return client.error();
  auto session = (*client)->NewSession();
  if (!session) return session.error();
  const Status status = player->Play(session->get());
  if (!status.ok())
    return Status(status.code(), fmt::format("{}: {}", server.name, status.message()));
  const HitCounts& counts = player->counts();
  if (counts.scan_hits > 0)
    return Status(Code::kCorruption,
                  fmt::format("{}: {} hits of keys never stored", server.name, counts.scan_hits));
  return Played{counts, (*peer)->process().ResidentBytes(), (*peer)->command_line()};
}

Status PlayBoth(const TraceSpec& trace, const ServerOptions& options, uint64_t memory_mb,
                uint64_t seed, Played played[2]) {
  const PeerSpec* specs[2] = {&options.subject, &options.peer};
  TracePlayer players[2] = {{trace, seed}, {trace, seed}};
  Status statuses[2];
  std::atomic<int> running{2};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      auto result = PlayOn(*specs[i], options, memory_mb, trace, &players[i]);
      if (result) played[i] = *result;
      if (!result) statuses[i] = result.error();
      --running;
    });
  }
  while (running > 0) {
    Progress(fmt::format("hit-ratio/{}: {} {:.0f} %, {} {:.0f} %", trace.name, specs[0]->name,
                         100 * players[0].Progress(), specs[1]->name, 100 * players[1].Progress()));
    for (int i = 0; i < 20 && running > 0; ++i) usleep(100'000);
  }
  for (std::thread& thread : threads) thread.join();
  return statuses[0].ok() ? statuses[1] : statuses[0];
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
  row.SetPeer("subject / peer", {options.peer.name, ratio[1]});
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
