#include "bench/pipeline/command_line.h"

#include <algorithm>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/harness/checks.h"
#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

PipelineOptions PipelineOptionsOf(const PipelineArguments& a) {
  PipelineOptions options = a.pipeline;
  SetCommon(a.common, defaults::kRepetitions, &options);
  options.cpus = ParseCpuList(a.cpus);
  options.huge_pages = !a.small_pages;
  options.steal = a.steal == "on"    ? Stealing::kOn
                  : a.steal == "off" ? Stealing::kOff
                                     : Stealing::kBoth;
  options.verify = a.verify == "all" ? Verify::kAll : Verify::kSampled;
  return options;
}

void AddPipelines(CLI::App* app, PipelineArguments* a) {
  PipelineOptions& pipeline = a->pipeline;
  app->add_option("--workload", pipeline.workloads,
                  "K8-G95-S,... (default: all; alternation: the paper's two)")
      ->delimiter(',');
  app->add_option("--plan", pipeline.plans,
                  "plan to compare with one stage on the cpu: a plan, 'all', or 'auto' for the "
                  "planner's choice; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("--device", pipeline.devices,
                  "device that is gpu0, gpu1, ... of the plans; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("--steal", a->steal,
                  "whether the CPU takes sets of a device's stage; both: alternately")
      ->check(CLI::IsMember({"on", "off", "both"}))
      ->capture_default_str();
  app->add_option("--batches", pipeline.batches,
                  "batches that a thread has in flight; 0: one a stage")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  app->add_option("--batch-max", pipeline.batch_max,
                  "largest batch of plans with several stages, in queries")
      ->check(CLI::Range(64, 1 << 20))
      ->capture_default_str();
  app->add_option("-m,--memory-mb", pipeline.memory_mb, "MiB filled with objects")
      ->check(CLI::Range(16, 1 << 24))
      ->capture_default_str();
  app->add_option("--fill", pipeline.fill, "share of the objects that fit")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
  app->add_option("--threads", pipeline.threads, "threads, with a pipeline each; 0: one a CPU")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  app->add_option("--cpus", a->cpus, "CPUs of the threads, in order: 0-15")->check(FaultOfCpuList);
  app->add_option_function<std::string>(
      "--energy", [&pipeline](const std::string& spec) { pipeline.meters = {.energy = spec}; },
      "also measure queries a joule: auto, rapl, nvml, nvml+model:IDLE_W,BUSY_W, ... "
      "(bench/README.md)");
  app->add_option("--interval-us", pipeline.intervals_us, "bounds of the mean latency: 300,1000")
      ->delimiter(',')
      ->check(CLI::Range(10.0, 1e7))
      ->capture_default_str();
  app->add_option(
      "--calibration", pipeline.calibration,
      "also predict each figure, from a file of `weft calibrate`, or 'measure' to measure now");
  app->add_option("--settle", pipeline.settle_s, "more seconds of plan auto that are not counted")
      ->check(CLI::Range(0.0, 600.0));
  app->add_flag("!--no-learn", pipeline.learns, "plan auto does not correct its calibration");
  app->add_option("--ring", pipeline.ring, "requests of a thread, which are repeated")
      ->check(CLI::Range(1024, 1 << 30))
      ->capture_default_str();
  app->add_option("--verify", a->verify,
                  "batches whose replies are verified: all, or sampled (one in 16)")
      ->check(CLI::IsMember({"all", "sampled"}))
      ->capture_default_str();
  app->add_flag("--small-pages", a->small_pages, "4 KiB pages");
}

void DeclarePipeline(CLI::App* app, PipelineArguments* a) {
  AddPipelines(app, a);
  app->add_flag("!--no-walk", a->pipeline.walk,
                "leave out the bare walk beside each workload, which doubles the memory");
  LeaveOut(app, {"--target", "--strict"});
}

void DeclareAlternation(CLI::App* app, PipelineArguments* a) {
  AddPipelines(app, a);
  AlternationOptions& alternation = a->alternation;
  app->add_option("--cycle-ms", alternation.cycles_ms, "time for all workloads once: 2,4,...")
      ->delimiter(',')
      ->check(CLI::Range(0.1, 1e4))
      ->capture_default_str();
  app->add_option("--trace-cycle-ms", alternation.trace_cycle_ms,
                  "cycle of the run that is shown slot by slot")
      ->check(CLI::Range(0.1, 1e4))
      ->capture_default_str();
  app->add_option("--trace-cycles", alternation.trace_cycles,
                  "least number of cycles that are overlaid")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
  app->add_option("--slot-ms", alternation.slot_ms,
                  "slot; each workload's turn must be a multiple of it")
      ->check(CLI::Range(0.01, 1e3))
      ->capture_default_str();
  app->add_option("--plots", alternation.plots, "folder for the charts of both (SVG)");
  LeaveOut(app, {"--target", "--strict", "--energy"});
}

Status MeasureAlternation(const PipelineArguments& a, Report& report) {
  AlternationOptions options = a.alternation;
  options.pipeline = PipelineOptionsOf(a);
  if (options.pipeline.workloads.empty())
    options.pipeline.workloads = {"K8-G50-U", "K16-G95-S"};  // paper 000's
  return RunAlternation(options, report);
}

bool HasPlanOfItsOwn(const std::vector<std::string>& plans) {
  return std::any_of(plans.begin(), plans.end(),
                     [](const std::string& plan) { return plan != "auto" && plan != "all"; });
}

// Of both.
UnheededRules<PipelineArguments> PipelineRules() {
  using Arguments = PipelineArguments;
  return {
      {{"--cpus"},
       "it has more CPUs than --threads",
       [](const Arguments& a) {
         return a.pipeline.threads > 0 &&
                ParseCpuList(a.cpus).size() > static_cast<size_t>(a.pipeline.threads);
       }},
      {{"--batch-max"},
       "no --plan is given",
       [](const Arguments& a) { return a.pipeline.plans.empty(); }},
      {{"--batch-max"},
       "without --device every --plan has one stage",
       [](const Arguments& a) {
         return a.pipeline.devices.empty() && !HasPlanOfItsOwn(a.pipeline.plans);
       }},
      {{"--no-learn"},
       "--plan auto is not given",
       [](const Arguments& a) {
         return a.pipeline.plans.empty() || !AsksFor(a.pipeline.plans, "auto");
       }},
      {{"--steal"},
       "no --plan names a plan",
       [](const Arguments& a) { return !HasPlanOfItsOwn(a.pipeline.plans); }},
      {{"--plan"},
       "without --device every plan has one stage, which always runs",
       [](const Arguments& a) {
         return a.pipeline.devices.empty() && !a.pipeline.plans.empty() &&
                std::all_of(a.pipeline.plans.begin(), a.pipeline.plans.end(),
                            [](const std::string& plan) { return plan == "all"; });
       }},
  };
}

}  // namespace

Status MeasurePipeline(const PipelineArguments& a, Report& report) {
  return RunPipeline(PipelineOptionsOf(a), report);
}

CommandGroup PipelineCommands() {
  return {
      PromiseCommand<PipelineArguments>("pipeline",
                                        "the 24 in-memory workloads, offline, through any plan",
                                        DeclarePipeline, MeasurePipeline, PipelineRules()),
      PromiseCommand<PipelineArguments>("alternation",
                                        "in-memory workloads in turns: a test of the planner",
                                        DeclareAlternation, MeasureAlternation, PipelineRules()),
  };
}

}  // namespace weft::bench
