#include "bench/command/arguments.h"

#include <algorithm>

#include "bench/harness/command_line.h"
#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

using defaults::kQuickDeviceBatch;
using defaults::kQuickKeys;
using defaults::kQuickObjects;
using defaults::kQuickScale;
using defaults::kQuickTailS;

// What all that run in turns take of the command line.
template <typename Options>
void SetTurns(const Arguments& a, Options* options) {
  if (a.seconds > 0) options->run_s = a.seconds;
  if (a.warmup >= 0) options->warmup_s = a.warmup;
  options->seed = a.seed;
}

}  // namespace

ServerOptions ServerOptionsOf(const Arguments& a, bool heavy) {
  ServerOptions options = a.server;
  options.subject = SpecFromPath(a.subject, a.subject_command);
  options.peer = SpecFromPath(a.peer, a.peer_command);
  if (options.subject.name == options.peer.name) options.subject.name += " (subject)";
  options.server_cpus = ParseCpuList(a.server_cpus);
  options.client_cpus = ParseCpuList(a.client_cpus);
  options.repetitions = Or(a.repetitions, heavy ? 1 : defaults::kRepetitions);
  SetTurns(a, &options);
  if (a.target > 0) options.target = a.target;
  return options;
}

EmbeddedOptions EmbeddedOptionsOf(const Arguments& a) {
  EmbeddedOptions options = a.embedded;
  options.repetitions = Or(a.repetitions, defaults::kRepetitions);
  SetTurns(a, &options);
  if (a.target > 0) options.target = a.target;
  options.huge_pages = !a.small_pages;
  options.cpus = ParseCpuList(a.embedded_cpus);
  const std::vector<int> threads = ParseCpuList(a.threads);  // the same "1,2,4-8"
  if (!threads.empty()) options.threads = threads;
  return options;
}

PrefetchOptions PrefetchOptionsOf(const Arguments& a) {
  PrefetchOptions options = a.prefetch;
  options.repetitions = Or(a.repetitions, options.repetitions);
  options.seed = a.seed;
  options.cpus = ParseCpuList(a.embedded_cpus);
  return options;
}

PipelineOptions PipelineOptionsOf(const Arguments& a) {
  PipelineOptions options = a.pipeline;
  options.repetitions = Or(a.repetitions, defaults::kRepetitions);
  SetTurns(a, &options);
  options.cpus = ParseCpuList(a.embedded_cpus);
  options.huge_pages = !a.small_pages;
  options.steal = a.steal == "on"    ? Stealing::kOn
                  : a.steal == "off" ? Stealing::kOff
                                     : Stealing::kBoth;
  options.verify = a.verify == "all" ? Verify::kAll : Verify::kSampled;
  return options;
}

AlternationOptions AlternationOptionsOf(const Arguments& a) {
  AlternationOptions options = a.alternation;
  options.pipeline = PipelineOptionsOf(a);
  if (options.pipeline.workloads.empty())
    options.pipeline.workloads = {"K8-G50-U", "K16-G95-S"};  // paper 000's
  return options;
}

DurableOptions DurableOptionsOf(const Arguments& a) {
  DurableOptions options = a.durable;
  options.repetitions = Or(a.repetitions, a.quick ? 1 : defaults::kDurableRepetitions);
  options.seed = a.seed;
  if (a.target > 0) options.target = a.target;
  if (a.quick) {
    options.keys = std::min(options.keys, kQuickKeys);
    options.reads = std::min(options.reads, kQuickKeys);
    options.tail_s = std::min(options.tail_s, kQuickTailS);
  }
  return options;
}

CompactionOptions CompactionOptionsOf(const Arguments& a) {
  CompactionOptions options = a.compaction;
  options.repetitions = Or(a.repetitions, a.quick ? 1 : defaults::kDurableRepetitions);
  options.seed = a.seed;
  if (a.target > 0) options.target = a.target;
  if (a.quick) options.scale = std::min(options.scale, kQuickScale);
  return options;
}

ContentionOptions ContentionOptionsOf(const Arguments& a) {
  ContentionOptions options = a.contention;
  options.repetitions = Or(a.repetitions, 1);
  options.seed = a.seed;
  if (a.target > 0) options.target = a.target;
  if (a.quick) options.keys = std::min(options.keys, kQuickKeys);
  return options;
}

DeviceOptions DeviceOptionsOf(const Arguments& a) {
  DeviceOptions options = a.device;
  options.repetitions = Or(a.repetitions, defaults::kRepetitions);
  options.seed = a.seed;
  if (a.quick) {
    options.objects = std::min(options.objects, kQuickObjects);
    options.batch = std::min(options.batch, kQuickDeviceBatch);
  }
  return options;
}

}  // namespace weft::bench
