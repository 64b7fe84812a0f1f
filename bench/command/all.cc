#include "bench/command/all.h"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "bench/durable/command_line.h"
#include "bench/embedded/command_line.h"
#include "bench/harness/machine.h"
#include "bench/pipeline/command_line.h"
#include "bench/server/command_line.h"

namespace weft::bench {
namespace {

struct AllArguments {
  ServerArguments server;  // whose common ones are for all
  bool quick = false;
  std::string results = WEFT_SOURCE_DIR "/bench/results";
};

// What each folder's benchmarks get of it.
struct AllParts {
  EmbeddedArguments embedded, threaded;
  PipelineArguments pipeline;
  ServerArguments server;
  DurableArguments durable;
};

// 1, 2, 4, ... up to the CPUs there are.
std::vector<int> PowersOfTwo(int cpus) {
  std::vector<int> counts;
  for (int count = 1; count <= cpus; count *= 2) counts.push_back(count);
  return counts;
}

AllParts PartsOf(const AllArguments& a) {
  AllParts parts;
  parts.server = a.server;
  CommonArguments& common = parts.server.common;
  if (a.quick) {
    common.repetitions = Or(common.repetitions, 2);
    if (common.seconds == 0) common.seconds = 0.5;
    parts.server.items = 1'000'000;
    parts.server.hit_ratio.scale = 0.1;
    parts.embedded.embedded.objects = 2'000'000;
    parts.pipeline.pipeline.memory_mb = 64;
    parts.durable.quick = true;
  }
  parts.embedded.common = parts.pipeline.common = parts.durable.common = common;
  parts.threaded = parts.embedded;
  parts.threaded.threads = fmt::format("{}", fmt::join(PowersOfTwo(ThisMachine().cpus), ","));
  return parts;
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

Result<int> RunAll(const AllArguments& a, const std::string& command_line) {
  std::error_code error;
  std::filesystem::create_directories(a.results, error);
  const std::string base = fmt::format("{}/{}{}", a.results, RunName(), a.quick ? "-quick" : "");
  CommonArguments common = a.server.common;
  if (common.json.empty()) common.json = base + ".jsonl";
  auto report = OpenReport(common, command_line);
  if (!report) return report.error();
  bool complete = true;
  const auto take = [&](const char* name, const Status& status) {
    if (status.ok()) return;
    complete = false;
    report->Unavailable(name, status.ToString());
  };
  const AllParts parts = PartsOf(a);
  take("walk", MeasureWalk(parts.threaded, *report));
  take("embedded", MeasureEmbedded(parts.embedded, *report));
  take("embedded", MeasureEmbedded(parts.threaded, *report));
  take("pipeline", MeasurePipeline(parts.pipeline, *report));
  take("server", MeasureServer(parts.server, *report));
  take("latency", MeasureLatency(parts.server, *report));
  take("scaling", MeasureScaling(parts.server, *report));
  take("memory", MeasureMemory(parts.server, *report));
  take("hit-ratio", MeasureHitRatio(parts.server, *report));
  take("durable", MeasureDurable(parts.durable, *report));
  take("compaction", MeasureCompaction(parts.durable, *report));
  std::ofstream(base + ".md") << "# weft-bench all\n\n" << report->Markdown();
  fmt::print("written: {} and {}.md\n", common.json, base);
  return complete ? ExitStatusOf(common, *report) : 2;
}

void DeclareAll(CLI::App* app, AllArguments* a) {
  AddCommon(app, &a->server.common);
  AddServers(app, &a->server);
  app->add_flag("--quick", a->quick,
                "short and small run to check that everything works; its figures mean nothing");
  app->add_option("--results", a->results, "folder for the results")->capture_default_str();
}

}  // namespace

CommandGroup AllCommands() {
  const auto arguments = std::make_shared<AllArguments>();
  Subcommand all;
  all.name = "all";
  all.help = "every benchmark, with results in bench/results";
  all.declare = [arguments](CLI::App* app) { DeclareAll(app, arguments.get()); };
  all.run = [arguments](const std::string& command_line) {
    return RunAll(*arguments, command_line);
  };
  return {all};
}

}  // namespace weft::bench
