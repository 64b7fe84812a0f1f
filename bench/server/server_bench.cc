// CPU time of the server per operation: the figure that stays put when a shared machine does not.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "bench/server/duel.h"

namespace weft::bench {
namespace {

struct Case {
  const char* name;
  int depth;
  int keys_per_get;
  bool gets_only;
  // Peer's cost over the subject's, by what the requests are; none: for information.
  double target;
  std::optional<double> binary_target;
  std::optional<double> tls_target;

  bool is_multi_get() const { return keys_per_get > 1; }
  std::optional<double> TargetOf(const ServerOptions& options) const {
    if (options.target || !(options.binary || options.tls)) return options.target.value_or(target);
    if (options.binary && options.tls) return std::nullopt;
    return options.binary ? binary_target : tls_target;
  }
};
constexpr Case kCases[] = {
    {"depth-1", 1, 1, false, defaults::kTargetCpuDepth1, {}, defaults::kTargetCpuTlsDepth1},
    {"depth-32", defaults::kDeepDepth, 1, false, defaults::kTargetCpuDeep,
     defaults::kTargetCpuBinaryDeep, defaults::kTargetCpuTlsDeep},
    {"multiget-100", 1, defaults::kMultigetKeys, true, defaults::kTargetCpuMultiget, {}, {}},
};

// All turns of one server in one case.
struct ServerSeries {
  Samples cpu, user, system, rate, client_cpu;
  double client_busy = 0;
  uint64_t misses = 0;
  uint64_t round_us_p99 = 0;
  nlohmann::json probes;

  void Add(const Turn& turn) {
    const double millions = static_cast<double>(turn.load.operations) / 1e6;
    cpu.Add(turn.CpuPerMillion());
    user.Add(turn.cpu.user / millions);
    system.Add(turn.cpu.system / millions);
    rate.Add(turn.load.OperationsPerSecond());
    client_cpu.Add(turn.load.cpu_s / millions);
    client_busy = std::max(client_busy, turn.load.busy);
    misses += turn.load.outcomes.missing;
    round_us_p99 = turn.load.latency_ns.Percentile(99) / 1000;
    probes = turn.probes;
  }
  nlohmann::json ToJson(const Peer& peer) const {
    return {{"version", peer.version()},
            {"command", peer.command_line()},
            {"per_second", rate.all()},
            {"user_cpu_s_per_million", user.Median()},
            {"system_cpu_s_per_million", system.Median()},
            {"client_cpu_s_per_million", client_cpu.Median()},
            {"client_busy_max", client_busy},
            {"client_saturated", client_busy > 0.97},
            {"misses", misses},
            {"closed_loop_round_us_p99", round_us_p99},
            {"probes_last_run", probes}};
  }
};

// "instructions_per_op 812.5, ..." with the word unavailable where there is nothing.
std::string ProbeNote(const nlohmann::json& probes) {
  std::string text;
  for (const auto& [name, value] : probes.items()) {
    if (!text.empty()) text += ", ";
    text += name + " " + (value.is_string() ? value.get<std::string>() : Short(value));
  }
  return text;
}

std::string SideNote(const Peer& peer, const ServerSeries& series, const char* unit) {
  return fmt::format(
             "    {}: {} {}/s; server user {:.3f} + system {:.3f}; client {:.3f} CPU s / M{}{}\n",
             peer.name(), Short(series.rate.Median()), unit, series.user.Median(),
             series.system.Median(), series.client_cpu.Median(),
             series.client_busy > 0.97 ? ", CLIENT SATURATED (rates are the client's)" : "",
             series.misses > 0 ? fmt::format(", {} MISSES", series.misses) : "") +
         fmt::format("      {}\n", ProbeNote(series.probes));
}

Status RunCase(const Case& test, const ServerOptions& options, Contestant* sides[2],
               Report& report) {
  const bool per_key = test.is_multi_get();
  ServerSeries series[2];
  const Status status = Alternate(options.repetitions, [&](int side, int repetition) {
    auto turn =
        sides[side]->Play({test.gets_only ? 1.0 : options.get_share, test.depth, test.keys_per_get,
                           options.seed + static_cast<uint64_t>(repetition)});
    if (!turn) return turn.error();
    series[side].Add(*turn);
    Progress(fmt::format("server/{} {}/{} {}: {:.3f} CPU s / M, {}/s", test.name, repetition + 1,
                         options.repetitions, sides[side]->peer().name(),
                         series[side].cpu.all().back(), Short(series[side].rate.all().back())));
    return Status::Ok();
  });
  if (!status.ok()) return status;
  Row row;
  row.bench = "server";
  row.name = test.name;
  row.unit = per_key ? "server CPU s / M keys" : "server CPU s / M ops";
  row.subject = {sides[0]->peer().name(), series[0].cpu};
  row.peer = Side{sides[1]->peer().name(), series[1].cpu};
  row.judged_name = "peer / subject";
  row.judged = series[1].cpu.Median() / series[0].cpu.Median();
  row.pair_ratios = PairRatios(series[1].cpu, series[0].cpu);
  row.target = test.TargetOf(options);
  row.details = DetailsOf(options);
  row.details["depth"] = test.depth;
  row.details["keys_per_get"] = test.keys_per_get;
  for (int i = 0; i < 2; ++i)
    row.details[i == 0 ? "subject" : "peer"] = series[i].ToJson(sides[i]->peer());
  report.Add(std::move(row));
  for (int i = 0; i < 2; ++i)
    fmt::print("{}", SideNote(sides[i]->peer(), series[i], per_key ? "keys" : "ops"));
  return Status::Ok();
}

// Not OK: a server that is known to lack what is to be measured.
Status LeftOut(const ServerOptions& options) {
  if (!options.binary && options.tls == nullptr) return Status::Ok();
  for (const PeerSpec* const spec : {&options.subject, &options.peer}) {
    if (!IsLikeMemcached(*spec))
      return {Code::kUnsupported,
              fmt::format("{} is left out: it has no binary protocol, and not memcached's flags "
                          "for TLS",
                          spec->name)};
  }
  return Status::Ok();
}

}  // namespace

Status RunServer(const ServerOptions& options, const std::vector<std::string>& cases,
                 Report& report) {
  const Status left_out = LeftOut(options);
  if (!left_out.ok()) return left_out;
  auto subject = Contestant::Start(options.subject, options);
  if (!subject) return subject.error();
  auto peer = Contestant::Start(options.peer, options);
  if (!peer) return peer.error();
  Contestant* sides[2] = {subject->get(), peer->get()};
  for (const Case& test : kCases) {
    if (!cases.empty() && std::find(cases.begin(), cases.end(), test.name) == cases.end()) continue;
    if (options.binary && test.is_multi_get()) continue;
    const Status status = RunCase(test, options, sides, report);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

}  // namespace weft::bench
