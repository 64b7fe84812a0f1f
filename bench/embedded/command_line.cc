#include "bench/embedded/command_line.h"

#include <CLI/CLI.hpp>

#include "bench/harness/checks.h"
#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

struct PrefetchArguments {
  CommonArguments common;
  PrefetchOptions prefetch;
  std::string cpus;
};

EmbeddedOptions EmbeddedOptionsOf(const EmbeddedArguments& a) {
  EmbeddedOptions options = a.embedded;
  SetCommon(a.common, defaults::kRepetitions, &options);
  options.huge_pages = !a.small_pages;
  options.cpus = ParseCpuList(a.cpus);
  const std::vector<int> threads = ParseCpuList(a.threads);  // the same "1,2,4-8"
  if (!threads.empty()) options.threads = threads;
  return options;
}

void AddWalks(CLI::App* app, EmbeddedArguments* a) {
  app->add_option("--objects", a->embedded.objects, "number of objects that are looked up")
      ->check(CLI::Range(2, 1'000'000'000))
      ->capture_default_str();
  app->add_option("--batch", a->embedded.batch, "lookups that overlap")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app->add_option("--threads", a->threads, "thread counts: 1,2,4-8")->check(FaultOfThreadCounts);
  app->add_option("--cpus", a->cpus, "CPUs of the threads, in order: 0-15")->check(FaultOfCpuList);
  app->add_flag("--small-pages", a->small_pages, "4 KiB pages");
}

void DeclareWalk(CLI::App* app, EmbeddedArguments* a) {
  AddWalks(app, a);
  LeaveOut(app, {"--target", "--strict"});
}

void DeclareEmbedded(CLI::App* app, EmbeddedArguments* a) {
  AddWalks(app, a);
  app->add_option("--workload", a->embedded.workloads,
                  "workloads of several threads: K16-G95-U,...")
      ->delimiter(',');
  app->add_option("-m,--memory-mb", a->embedded.memory_mb,
                  "memory in MiB; 0: twice what the objects need");
}

void DeclarePrefetch(CLI::App* app, PrefetchArguments* a) {
  app->add_option("-m,--memory-mb", a->prefetch.memory_mb, "MiB of objects")
      ->check(CLI::Range(1, 1 << 15))
      ->capture_default_str();
  app->add_option("--batch", a->prefetch.batches, "lookups that overlap: 1,8,...")
      ->delimiter(',')
      ->check(CLI::Range(1, 32))
      ->capture_default_str();
  app->add_option("--threads", a->prefetch.threads, "threads that look up at once")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app->add_option("--lookups", a->prefetch.lookups, "lookups in a turn")
      ->check(CLI::Range(1024, 1 << 20))
      ->capture_default_str();
  LeaveOut(app, {"--seconds", "--warmup", "--target", "--strict"});
  app->add_option("--cpus", a->cpus, "CPUs of the threads, which run on the last of them")
      ->check(FaultOfCpuList);
}

Status MeasurePrefetch(const PrefetchArguments& a, Report& report) {
  PrefetchOptions options = a.prefetch;
  SetCommon(a.common, options.repetitions, &options);
  options.cpus = ParseCpuList(a.cpus);
  return RunPrefetch(options, report);
}

UnheededRules<EmbeddedArguments> EmbeddedRules() {
  return {{{"--target", "--strict"},
           "--threads has only one thread, which is the baseline",
           [](const EmbeddedArguments& a) { return a.threads == "1"; }}};
}

UnheededRules<PrefetchArguments> PrefetchRules() {
  return {{{"--threads"},
           "--cpus has fewer CPUs, and each thread needs its own",
           [](const PrefetchArguments& a) {
             const size_t cpus = ParseCpuList(a.cpus).size();
             return cpus != 0 && cpus < static_cast<size_t>(a.prefetch.threads);
           }}};
}

}  // namespace

Status MeasureWalk(const EmbeddedArguments& a, Report& report) {
  return RunWalk(EmbeddedOptionsOf(a), report);
}

Status MeasureEmbedded(const EmbeddedArguments& a, Report& report) {
  const EmbeddedOptions options = EmbeddedOptionsOf(a);
  if (a.threads.empty() && options.workloads.empty()) return RunEmbedded(options, report);
  return RunEmbeddedThreads(options, report);
}

CommandGroup EmbeddedCommands() {
  return {
      PromiseCommand<EmbeddedArguments>(
          "walk", "the bare two-level random walk through this machine's memory", DeclareWalk,
          MeasureWalk),
      PromiseCommand<EmbeddedArguments>("embedded",
                                        "the cache in this process; with --threads, its scaling",
                                        DeclareEmbedded, MeasureEmbedded, EmbeddedRules()),
      PromiseCommand<PrefetchArguments>("prefetch",
                                        "ways of prefetching, and paper 004's claims about them",
                                        DeclarePrefetch, MeasurePrefetch, PrefetchRules()),
  };
}

}  // namespace weft::bench
