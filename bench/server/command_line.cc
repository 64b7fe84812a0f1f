#include "bench/server/command_line.h"

#include <CLI/CLI.hpp>

#include "bench/harness/checks.h"
#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

// `heavy`: a repetition takes a minute and hardly varies, so one is enough unless asked.
ServerOptions ServerOptionsOf(const ServerArguments& a, bool heavy) {
  ServerOptions options = a.server;
  options.subject = SpecFromPath(a.subject, a.subject_command);
  options.peer = SpecFromPath(a.peer, a.peer_command);
  if (options.subject.name == options.peer.name) options.subject.name += " (subject)";
  options.server_cpus = ParseCpuList(a.server_cpus);
  options.client_cpus = ParseCpuList(a.client_cpus);
  SetCommon(a.common, heavy ? 1 : defaults::kRepetitions, &options);
  return options;
}

void DeclareServer(CLI::App* app, ServerArguments* a) {
  AddServers(app, a);
  app->add_option("--case", a->cases, "depth-1, depth-32, multiget-100 (default: all)")
      ->delimiter(',')
      ->check(CLI::IsMember({"depth-1", "depth-32", "multiget-100"}));
  app->add_option("--protocol", a->protocol, "memcached's: text, or binary (without multiget-100)")
      ->check(CLI::IsMember({"text", "binary"}))
      ->capture_default_str();
  app->add_flag("--tls", a->tls,
                "TLS 1.3: starts both servers with memcached's flags for it, and with a "
                "certificate made for the run");
}

void DeclareLatency(CLI::App* app, ServerArguments* a) {
  AddServers(app, a);
  app->add_option("--depth", a->latency.depths, "requests sent at one instant on a connection")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  app->add_option("--load", a->latency.load, "share of the peer's top rate")
      ->check(CLI::Range(0.001, 10.0))
      ->capture_default_str();
  app->add_option("--rate", a->latency.rate, "operations a second, instead of --load")
      ->check(CLI::Range(0.001, 1e12));
  app->add_flag("--poisson", a->latency.poisson,
                "exponential gaps between requests instead of even ones");
}

void DeclareScaling(CLI::App* app, ServerArguments* a) {
  AddServers(app, a);
  LeaveOut(app, {"--server-threads"});
}

void DeclareMemory(CLI::App* app, ServerArguments* a) {
  AddServers(app, a);
  LeaveOut(app,
           {"--seconds", "--warmup", "--seed", "--keys", "--get-share", "--zipf", "--connections"});
  app->add_option("--items", a->items, "items stored in each server")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
}

void DeclareHitRatio(CLI::App* app, ServerArguments* a) {
  app->add_option("-m,--memory-mb", a->hit_ratio.memory_mb, "memory of each server in MiB")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  app->add_option("--scale", a->hit_ratio.scale, "factor for the number of requests")
      ->check(CLI::Range(1e-6, 1e6))
      ->capture_default_str();
  app->add_option("--trace", a->hit_ratio.only,
                  "zipf, scan, ttl-thousand, ttl-short, mixed-sizes (default: all)")
      ->delimiter(',')
      ->check(CLI::IsMember({"zipf", "scan", "ttl-thousand", "ttl-short", "mixed-sizes"}));
  app->add_option("--subject", a->subject, "server under test")->capture_default_str();
  app->add_option("--subject-command", a->subject_command, "the subject's command line");
  app->add_option("--peer", a->peer, "server to compare with")->capture_default_str();
  app->add_option("--peer-command", a->peer_command, "the peer's command line");
  LeaveOut(app, {"--seconds", "--warmup"});
}

}  // namespace

void AddServers(CLI::App* app, ServerArguments* a) {
  app->add_option("--subject", a->subject, "server under test")->capture_default_str();
  app->add_option(
      "--subject-command", a->subject_command,
      "the subject's command line, with {path} {port} {memory_mb} {threads} {connections}");
  app->add_option("--peer", a->peer, "server to compare with")->capture_default_str();
  app->add_option("--peer-command", a->peer_command, "the peer's command line, in the same form");
  app->add_option("--server-cpus", a->server_cpus, "CPUs of the servers")
      ->check(FaultOfCpuList)
      ->capture_default_str();
  app->add_option("--client-cpus", a->client_cpus, "CPUs of the client, with one thread each")
      ->check(FaultOfCpuList)
      ->capture_default_str();
  app->add_option("-m,--memory-mb", a->server.memory_mb, "memory of each server in MiB")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  app->add_option("--keys", a->server.keys, "keys stored before the measurement")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  app->add_option("--key-bytes", a->server.key_bytes, "bytes of a key")
      ->check(CLI::Range(8, 128))
      ->capture_default_str();
  app->add_option("--value-bytes", a->server.value_bytes, "bytes of a value")
      ->check(CLI::Range(8, 1 << 20))
      ->capture_default_str();
  app->add_option("--get-share", a->server.get_share, "share of GETs among the requests")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app->add_flag("--zipf", a->server.zipf, "Zipf 0.99 instead of uniform keys");
  app->add_option("--connections", a->server.connections,
                  "connections of the client, all threads together")
      ->check(CLI::Range(1, 2000))
      ->capture_default_str();
  app->add_option("-t,--server-threads", a->server.threads, "worker threads of each server")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

Status MeasureServer(const ServerArguments& a, Report& report) {
  ServerOptions options = ServerOptionsOf(a, false);
  options.binary = a.protocol == "binary";
  if (a.tls) {
    auto identity = TlsIdentity::Make();
    if (!identity) return identity.error();
    options.tls = std::move(*identity);
  }
  return RunServer(options, a.cases, report);
}

Status MeasureLatency(const ServerArguments& a, Report& report) {
  return RunLatency(ServerOptionsOf(a, false), a.latency, report);
}

Status MeasureScaling(const ServerArguments& a, Report& report) {
  return RunScaling(ServerOptionsOf(a, false), report);
}

Status MeasureMemory(const ServerArguments& a, Report& report) {
  return RunMemory(ServerOptionsOf(a, true), a.items, report);
}

Status MeasureHitRatio(const ServerArguments& a, Report& report) {
  return RunHitRatio(ServerOptionsOf(a, true), a.hit_ratio, report);
}

CommandGroup ServerCommands() {
  using Arguments = ServerArguments;
  return {
      PromiseCommand<Arguments>(
          "server", "CPU time a request: depth 1, depth 32, gets of 100 keys", DeclareServer,
          MeasureServer,
          {{{"--get-share"},
            "multiget-100 has only GETs",
            [](const Arguments& a) { return !AsksForPart(a.cases, "depth"); }},
           {{"--case"},
            "multiget-100 is measured in text alone",
            [](const Arguments& a) {
              return a.protocol == "binary" && AsksFor(a.cases, "multiget-100");
            }}}),
      PromiseCommand<Arguments>(
          "latency", "p50, p99, p99.9 at a fixed open-loop rate", DeclareLatency, MeasureLatency,
          {{{"--load"}, "--rate is given", [](const Arguments& a) { return a.latency.rate > 0; }}}),
      PromiseCommand<Arguments>("scaling", "two workers compared with one", DeclareScaling,
                                MeasureScaling),
      PromiseCommand<Arguments>("memory", "resident bytes an item", DeclareMemory, MeasureMemory),
      PromiseCommand<Arguments>("hit-ratio", "hits when memory is short", DeclareHitRatio,
                                MeasureHitRatio),
  };
}

}  // namespace weft::bench
