#include "bench/command/commands.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/command/arguments.h"
#include "bench/command/unheeded.h"
#include "bench/drive/commands.h"
#include "bench/durable/command_line.h"
#include "bench/embedded/prefetch_command_line.h"
#include "bench/experiment/commands.h"
#include "bench/harness/checks.h"
#include "bench/harness/command_line.h"
#include "bench/harness/machine.h"
#include "tool/wrong_use.h"

namespace weft::bench {
namespace {

// 1, 2, 4, ... up to the CPUs there are.
std::vector<int> PowersOfTwo(int cpus) {
  std::vector<int> counts;
  for (int count = 1; count <= cpus; count *= 2) counts.push_back(count);
  return counts;
}

Status RunEmbeddedEither(const Arguments& a, Report& report) {
  const EmbeddedOptions options = EmbeddedOptionsOf(a);
  if (a.threads.empty() && options.workloads.empty()) return RunEmbedded(options, report);
  return RunEmbeddedThreads(options, report);
}

using Benchmark = std::function<Status(const Arguments&, Report&)>;

const std::map<std::string, Benchmark>& Benchmarks() {
  static const std::map<std::string, Benchmark> all = {
      {"walk", [](auto& a, auto& r) { return RunWalk(EmbeddedOptionsOf(a), r); }},
      {"embedded", RunEmbeddedEither},
      {"prefetch", [](auto& a, auto& r) { return RunPrefetch(PrefetchOptionsOf(a), r); }},
      {"server", [](auto& a, auto& r) { return RunServer(ServerOptionsOf(a, false), a.cases, r); }},
      {"latency",
       [](auto& a, auto& r) { return RunLatency(ServerOptionsOf(a, false), a.latency, r); }},
      {"scaling", [](auto& a, auto& r) { return RunScaling(ServerOptionsOf(a, false), r); }},
      {"memory", [](auto& a, auto& r) { return RunMemory(ServerOptionsOf(a, true), a.items, r); }},
      {"hit-ratio",
       [](auto& a, auto& r) { return RunHitRatio(ServerOptionsOf(a, true), a.hit_ratio, r); }},
      {"pipeline", [](auto& a, auto& r) { return RunPipeline(PipelineOptionsOf(a), r); }},
      {"alternation", [](auto& a, auto& r) { return RunAlternation(AlternationOptionsOf(a), r); }},
      {"durable", [](auto& a, auto& r) { return RunDurable(DurableOptionsOf(a), r); }},
      {"compaction", [](auto& a, auto& r) { return RunCompaction(CompactionOptionsOf(a), r); }},
      {"contention", [](auto& a, auto& r) { return RunContention(ContentionOptionsOf(a), r); }},
      {"device", [](auto& a, auto& r) { return RunDevice(DeviceOptionsOf(a), r); }},
  };
  return all;
}

nlohmann::json ContextOf(const Arguments& a, const std::string& command_line) {
  return {{"seed", a.seed}, {"command_line", command_line}};
}

Result<Report> OpenReport(const Arguments& a, const std::string& json,
                          const std::string& command_line) {
  return Report::Open(json, ContextOf(a, command_line));
}

int Fail(const Status& status) {
  fmt::print(stderr, "weft-bench: {}\n", status.ToString());
  return 2;
}

int ExitStatusOf(const Status& status) { return status.ok() ? 0 : Fail(status); }

int RunOne(const std::string& name, const Arguments& a, const std::string& command_line) {
  auto report = OpenReport(a, a.json, command_line);
  if (!report) return Fail(report.error());
  const Status status = Benchmarks().at(name)(a, *report);
  if (!status.ok()) return Fail(status);
  return a.strict && report->short_count() > 0 ? 1 : 0;
}

// "2026-11-21-2x-amd-epyc": a run's file names begin with it.
std::string RunName() {
  const std::time_t now = std::time(nullptr);
  std::tm utc;
  gmtime_r(&now, &utc);
  char date[16];
  std::strftime(date, sizeof date, "%Y-%m-%d", &utc);
  return fmt::format("{}-{}", date, ThisMachine().host_class);
}

void MakeQuick(Arguments* a) {
  a->repetitions = Or(a->repetitions, 2);
  if (a->seconds == 0) a->seconds = 0.5;
  a->items = 1'000'000;
  a->hit_ratio.scale = 0.1;
  a->embedded.objects = 2'000'000;
  a->pipeline.memory_mb = 64;
}

int RunAll(Arguments a, const std::string& command_line) {
  if (a.quick) MakeQuick(&a);
  std::error_code error;
  std::filesystem::create_directories(a.results, error);
  const std::string base = fmt::format("{}/{}{}", a.results, RunName(), a.quick ? "-quick" : "");
  const std::string json = a.json.empty() ? base + ".jsonl" : a.json;
  auto report = OpenReport(a, json, command_line);
  if (!report) return Fail(report.error());
  bool complete = true;
  const auto run = [&](const std::string& name, const Arguments& with) {
    const Status status = Benchmarks().at(name)(with, *report);
    if (status.ok()) return;
    complete = false;
    report->Unavailable(name, status.ToString());
  };
  Arguments threaded = a;
  if (threaded.threads.empty())
    threaded.threads = fmt::format("{}", fmt::join(PowersOfTwo(ThisMachine().cpus), ","));
  run("walk", threaded);
  a.threads.clear();
  run("embedded", a);
  run("embedded", threaded);
  for (const char* name :
       {"pipeline", "server", "latency", "scaling", "memory", "hit-ratio", "durable", "compaction"})
    run(name, a);
  std::ofstream(base + ".md") << "# weft-bench all\n\n" << report->Markdown();
  fmt::print("written: {} and {}.md\n", json, base);
  if (!complete) return 2;
  return a.strict && report->short_count() > 0 ? 1 : 0;
}

void AddCommon(CLI::App* app, Arguments* a) {
  app->add_option("--json", a->json, "append a JSON line a figure to this file");
  app->add_flag("--strict", a->strict, "exit 1 when a target was missed");
  app->add_option("--repetitions", a->repetitions, "turns of each side (5; memory, hit-ratio: 1)")
      ->check(CLI::Range(1, 100'000));
  app->add_option("--seconds", a->seconds, "length of a turn (servers 3, embedded 1)")
      ->check(CLI::Range(0.001, 1e6));
  app->add_option("--warmup", a->warmup, "uncounted seconds before each turn")
      ->check(CLI::Range(0.0, 1e6));
  app->add_option("--seed", a->seed, "of all randomness")->capture_default_str();
  app->add_option("--target", a->target, "instead of the project's own (bench/harness/defaults.h)")
      ->check(CLI::Range(1e-6, 1e6));
}

// Of the common ones, what a subcommand has no use for: an option that does nothing misleads.
void LeaveOut(CLI::App* app, std::initializer_list<const char*> names) {
  for (const char* name : names) app->remove_option(app->get_option(name));
}

void AddServer(CLI::App* app, Arguments* a) {
  app->add_option("--subject", a->subject, "server under test")->capture_default_str();
  app->add_option("--subject-command", a->subject_command,
                  "its command line, with {path} {port} {memory_mb} {threads} {connections}");
  app->add_option("--peer", a->peer, "server to compare with")->capture_default_str();
  app->add_option("--peer-command", a->peer_command, "its command line, likewise");
  app->add_option("--server-cpus", a->server_cpus, "CPUs of the servers")
      ->check(FaultOfCpuList)
      ->capture_default_str();
  app->add_option("--client-cpus", a->client_cpus, "CPUs of the client, one thread each")
      ->check(FaultOfCpuList)
      ->capture_default_str();
  app->add_option("-m,--memory-mb", a->server.memory_mb, "the servers' -m")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  app->add_option("--keys", a->server.keys, "keys stored beforehand")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  app->add_option("--key-bytes", a->server.key_bytes, "bytes of a key")
      ->check(CLI::Range(8, 128))
      ->capture_default_str();
  app->add_option("--value-bytes", a->server.value_bytes, "bytes of a value")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app->add_option("--get-share", a->server.get_share, "GETs among the requests")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app->add_flag("--zipf", a->server.zipf, "Zipf 0.99 instead of uniform keys");
  app->add_option("--connections", a->server.connections, "of the client, all threads together")
      ->check(CLI::Range(1, 2000))
      ->capture_default_str();
  app->add_option("-t,--server-threads", a->server.threads, "the servers' -t")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

void AddMemory(CLI::App* app, Arguments* a) {
  AddServer(app, a);
  LeaveOut(app,
           {"--seconds", "--warmup", "--seed", "--keys", "--get-share", "--zipf", "--connections"});
  app->add_option("--items", a->items, "stored in each server")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
}

void AddLatency(CLI::App* app, Arguments* a) {
  app->add_option("--depth", a->latency.depths, "requests sent at one instant on a connection")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  app->add_option("--load", a->latency.load, "share of the peer's top rate")
      ->check(CLI::Range(0.001, 10.0))
      ->capture_default_str();
  app->add_option("--rate", a->latency.rate, "operations a second, instead of --load")
      ->check(CLI::Range(0.001, 1e12));
  app->add_flag("--poisson", a->latency.poisson, "exponential gaps instead of even ones");
}

void AddHitRatio(CLI::App* app, Arguments* a) {
  app->add_option("-m,--memory-mb", a->hit_ratio.memory_mb, "the servers' -m")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  app->add_option("--scale", a->hit_ratio.scale, "of the number of requests")
      ->check(CLI::Range(1e-6, 1e6))
      ->capture_default_str();
  app->add_option("--trace", a->hit_ratio.only,
                  "zipf, scan, ttl-thousand, ttl-short, mixed-sizes; all if not given")
      ->delimiter(',')
      ->check(CLI::IsMember({"zipf", "scan", "ttl-thousand", "ttl-short", "mixed-sizes"}));
  app->add_option("--subject", a->subject, "server under test")->capture_default_str();
  app->add_option("--subject-command", a->subject_command, "its command line");
  app->add_option("--peer", a->peer, "server to compare with")->capture_default_str();
  app->add_option("--peer-command", a->peer_command, "its command line");
}

void AddQuick(CLI::App* app, Arguments* a) {
  app->add_flag("--quick", a->quick, "small: does everything run? Not for figures");
}

void AddDevice(CLI::App* app, Arguments* a) {
  DeviceOptions& device = a->device;
  app->add_option("--objects", device.objects, "fewer where the device has not the memory")
      ->check(CLI::Range(1000, 2'000'000'000))
      ->capture_default_str();
  app->add_option("--load", device.load, "share of the index's slots")
      ->check(CLI::Range(0.05, 0.95))
      ->capture_default_str();
  app->add_option("--batch", device.batch, "queries of a launch")
      ->check(CLI::Range(1024, 1 << 28))
      ->capture_default_str();
  app->add_option("--miss-permille", device.miss_permille, "of searches and reads")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app->add_option("--shapes", device.shapes, "K8,K16,K32; all if not given")->delimiter(',');
  app->add_option("--device", device.device, "number of the GPU")->capture_default_str();
  app->add_flag("--quick", a->quick, "small: does everything run? Not for figures");
}

void AddEmbedded(CLI::App* app, Arguments* a) {
  app->add_option("--objects", a->embedded.objects, "that are looked up")
      ->check(CLI::Range(2, 1'000'000'000))
      ->capture_default_str();
  app->add_option("--batch", a->embedded.batch, "lookups that overlap")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app->add_option("--threads", a->threads, "thread counts: 1,2,4-8")->check(FaultOfThreadCounts);
  app->add_option("--cpus", a->embedded_cpus, "CPUs of the threads, in order: 0-15")
      ->check(FaultOfCpuList);
  app->add_flag("--small-pages", a->small_pages, "4 KiB pages");
}

void AddAlternation(CLI::App* app, Arguments* a) {
  AlternationOptions& alternation = a->alternation;
  app->add_option("--cycle-ms", alternation.cycles_ms, "all workloads once: 2,4,...")
      ->delimiter(',')
      ->check(CLI::Range(0.1, 1e4))
      ->capture_default_str();
  app->add_option("--trace-cycle-ms", alternation.trace_cycle_ms, "of the run shown slot by slot")
      ->check(CLI::Range(0.1, 1e4))
      ->capture_default_str();
  app->add_option("--trace-cycles", alternation.trace_cycles, "laid over each other, at least")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
  app->add_option("--slot-ms", alternation.slot_ms, "of the workloads' turns a whole part")
      ->check(CLI::Range(0.01, 1e3))
      ->capture_default_str();
  app->add_option("--plots", alternation.plots, "folder for charts of both (SVG)");
}

void AddPipeline(CLI::App* app, Arguments* a) {
  PipelineOptions& pipeline = a->pipeline;
  app->add_option("--workload", pipeline.workloads,
                  "K8-G95-S,...; if not given all, or for alternation the paper's two")
      ->delimiter(',');
  app->add_option("--plan", pipeline.plans,
                  "compared with one stage on the cpu; 'all' that there are; 'auto', as the "
                  "planner chooses; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("--device", pipeline.devices, "gpu0, gpu1, ... of the plans; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("--steal", a->steal, "the CPU takes sets of a device's stage; both: in turns")
      ->check(CLI::IsMember({"on", "off", "both"}))
      ->capture_default_str();
  app->add_option("--batches", pipeline.batches, "of a thread under way; 0: one a stage")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  app->add_option("--batch-max", pipeline.batch_max, "queries, of plans with several stages")
      ->check(CLI::Range(64, 1 << 20))
      ->capture_default_str();
  app->add_option("-m,--memory-mb", pipeline.memory_mb, "filled with objects")
      ->check(CLI::Range(16, 1 << 24))
      ->capture_default_str();
  app->add_option("--fill", pipeline.fill, "share of the objects that fit")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
  app->add_option("--threads", pipeline.threads, "a pipeline each; 0: one a CPU")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  app->add_option("--cpus", a->embedded_cpus, "CPUs of the threads, in order: 0-15")
      ->check(FaultOfCpuList);
  app->add_option_function<std::string>(
      "--energy", [&pipeline](const std::string& spec) { pipeline.meters = {.energy = spec}; },
      "queries a joule, too: auto, rapl, nvml, nvml+model:IDLE_W,BUSY_W, ... (bench/README.md)");
  app->add_option("--interval-us", pipeline.intervals_us, "bounds of the mean latency: 300,1000")
      ->delimiter(',')
      ->check(CLI::Range(10.0, 1e7))
      ->capture_default_str();
  app->add_option("--calibration", pipeline.calibration,
                  "predict each figure: a file of `weft calibrate`, or 'measure' for one made now");
  app->add_option("--settle", pipeline.settle_s, "uncounted seconds more of plan auto")
      ->check(CLI::Range(0.0, 600.0));
  app->add_flag("!--no-learn", pipeline.learns, "plan auto keeps to its calibration");
  app->add_option("--ring", pipeline.ring, "requests of a thread, read round and round")
      ->check(CLI::Range(1024, 1 << 30))
      ->capture_default_str();
  app->add_option("--verify", a->verify, "batches that are compared: all, or sampled (one in 16)")
      ->check(CLI::IsMember({"all", "sampled"}))
      ->capture_default_str();
  app->add_flag("--small-pages", a->small_pages, "4 KiB pages");
}

void AddBenchmarks(CLI::App* app, Arguments* arguments) {
  Arguments& a = *arguments;
  const auto add = [&](const char* name, const char* what) {
    CLI::App* sub = app->add_subcommand(name, what);
    AddCommon(sub, &a);
    return sub;
  };
  CLI::App* walk = add("walk", "the bare two-level random walk of this machine's memory");
  AddEmbedded(walk, &a);
  LeaveOut(walk, {"--target", "--strict"});
  CLI::App* embedded = add("embedded", "the cache in this process; with --threads: its scaling");
  AddEmbedded(embedded, &a);
  embedded->add_option("--workload", a.embedded.workloads, "of several threads: K16-G95-U,...")
      ->delimiter(',');
  embedded->add_option("-m,--memory-mb", a.embedded.memory_mb, "0: twice what the objects need");
  CLI::App* prefetch = add("prefetch", "ways of prefetching, and paper 004's claims of them");
  AddPrefetch(prefetch, &a.prefetch);
  LeaveOut(prefetch, {"--seconds", "--warmup", "--target", "--strict"});
  prefetch->add_option("--cpus", a.embedded_cpus, "runs on the last of them, as many as threads")
      ->check(FaultOfCpuList);
  CLI::App* server = add("server", "CPU time a request: depth 1, depth 32, gets of 100 keys");
  AddServer(server, &a);
  server->add_option("--case", a.cases, "depth-1, depth-32, multiget-100; all if not given")
      ->delimiter(',')
      ->check(CLI::IsMember({"depth-1", "depth-32", "multiget-100"}));
  CLI::App* latency = add("latency", "p50, p99, p99.9 at a fixed open-loop rate");
  AddServer(latency, &a);
  AddLatency(latency, &a);
  CLI::App* scaling = add("scaling", "two workers against one");
  AddServer(scaling, &a);
  LeaveOut(scaling, {"--server-threads"});
  CLI::App* memory = add("memory", "resident bytes an item");
  AddMemory(memory, &a);
  CLI::App* hit_ratio = add("hit-ratio", "hits when memory is short");
  AddHitRatio(hit_ratio, &a);
  LeaveOut(hit_ratio, {"--seconds", "--warmup"});
  CLI::App* pipeline = add("pipeline", "the 24 in-memory workloads, offline, through any plan");
  AddPipeline(pipeline, &a);
  pipeline->add_flag(
      "!--no-walk", a.pipeline.walk,
      "without the bare walk beside each workload, which takes as much memory again");
  LeaveOut(pipeline, {"--target", "--strict"});
  CLI::App* alternation = add("alternation", "in-memory workloads in turns: does the plan follow?");
  AddPipeline(alternation, &a);
  AddAlternation(alternation, &a);
  LeaveOut(alternation, {"--target", "--strict", "--energy"});
  CLI::App* durable = add("durable", "the durable store against LevelDB and RocksDB");
  AddDurable(durable, &a.durable);
  AddQuick(durable, &a);
  LeaveOut(durable, {"--seconds", "--warmup"});
  CLI::App* compaction = add("compaction", "compactions alone: input a second");
  AddCompaction(compaction, &a.compaction);
  AddQuick(compaction, &a);
  LeaveOut(compaction, {"--seconds", "--warmup"});
  CLI::App* contention = add("contention", "stores under YCSB A while other work takes the CPUs");
  AddContention(contention, &a.contention);
  AddQuick(contention, &a);
  LeaveOut(contention, {"--seconds", "--warmup"});
  CLI::App* device = add("device", "one GPU, keys and values in its memory: operations a second");
  AddDevice(device, &a);
  LeaveOut(device, {"--seconds", "--warmup", "--target"});
  CLI::App* all = add("all", "everything, into bench/results");
  AddServer(all, &a);
  all->add_flag("--quick", a.quick, "short and small: does everything run? Not for figures");
  all->add_option("--results", a.results, "folder")->capture_default_str();
}

}  // namespace

struct Commands::Parts {
  Arguments arguments;
  DriveCommands drive;
  ExperimentCommands experiments;
};

Commands::Commands()
    : app_(std::make_unique<CLI::App>(
          "weft-bench: each of the project's promises, measured (bench/README.md)", "weft-bench")),
      parts_(std::make_unique<Parts>()) {
  app_->require_subcommand(1);
  AddBenchmarks(app_.get(), &parts_->arguments);
  parts_->drive.AddTo(app_.get());
  parts_->experiments.AddTo(app_.get());
}

Commands::~Commands() = default;

Status Commands::Check() const {
  const CLI::App& subcommand = *app_->get_subcommands().front();
  std::string why = FaultOfNumbers(subcommand);
  if (why.empty()) why = UnheededOf(subcommand, parts_->arguments);
  return why.empty() ? Status::Ok() : Status(Code::kInvalidArgument, why);
}

int Commands::Run(const std::string& command_line) {
  const std::string name = app_->get_subcommands().front()->get_name();
  if (const auto status = parts_->drive.Run(name, command_line)) return ExitStatusOf(*status);
  if (const auto status = parts_->experiments.Run(name, command_line)) return ExitStatusOf(*status);
  const Arguments& a = parts_->arguments;
  return name == "all" ? RunAll(a, command_line) : RunOne(name, a, command_line);
}

int Main(int argc, char** argv) {
  Commands commands;
  try {
    commands.app().parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return tool::AnswerParseError(commands.app(), error);
  }
  if (Status status = commands.Check(); !status.ok()) return Fail(status);
  return commands.Run(CommandLine(std::span(argv, static_cast<size_t>(argc))));
}

}  // namespace weft::bench
