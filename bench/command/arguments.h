// bench/command/arguments.h: weft-bench's command line, and the options that each benchmark takes
// from it.
//
// Threads   values.
#pragma once

#include <string>
#include <vector>

#include "bench/device/options.h"
#include "bench/durable/options.h"
#include "bench/embedded/options.h"
#include "bench/harness/defaults.h"
#include "bench/pipeline/options.h"
#include "bench/server/options.h"

namespace weft::bench {

// Each subcommand reads its part.
struct Arguments {
  std::string json;
  bool strict = false;
  int repetitions = 0;  // 0: the benchmark's own number
  double seconds = 0;   // 0: likewise
  double warmup = -1;   // below 0: likewise
  uint64_t seed = defaults::kSeed;
  double target = 0;  // 0: defaults.h

  std::string subject = WEFT_SOURCE_DIR "/build/release/src/server/weft";
  std::string subject_command;
  std::string peer = "/usr/bin/memcached";
  std::string peer_command;
  std::string server_cpus = std::to_string(defaults::kServerCpu);
  std::string client_cpus = std::to_string(defaults::kClientCpu);
  ServerOptions server;
  std::vector<std::string> cases;
  LatencyOptions latency;
  HitRatioOptions hit_ratio;
  uint32_t items = defaults::kMemoryItems;

  EmbeddedOptions embedded;
  std::string threads;
  std::string embedded_cpus;
  PrefetchOptions prefetch;
  bool small_pages = false;
  bool quick = false;
  PipelineOptions pipeline;
  AlternationOptions alternation{{},
                                 defaults::kAlternationCyclesMs,
                                 defaults::kAlternationTraceMs,
                                 defaults::kAlternationTraceCycles,
                                 defaults::kAlternationSlotMs,
                                 {}};
  std::string verify = "all";
  std::string steal = "on";
  DurableOptions durable;
  CompactionOptions compaction;
  ContentionOptions contention;
  DeviceOptions device;
  std::string results = WEFT_SOURCE_DIR "/bench/results";
};

// `heavy`: a repetition takes a minute and hardly varies, so one is enough unless asked.
ServerOptions ServerOptionsOf(const Arguments& a, bool heavy);
EmbeddedOptions EmbeddedOptionsOf(const Arguments& a);
PrefetchOptions PrefetchOptionsOf(const Arguments& a);
PipelineOptions PipelineOptionsOf(const Arguments& a);
AlternationOptions AlternationOptionsOf(const Arguments& a);
DurableOptions DurableOptionsOf(const Arguments& a);
CompactionOptions CompactionOptionsOf(const Arguments& a);
ContentionOptions ContentionOptionsOf(const Arguments& a);
DeviceOptions DeviceOptionsOf(const Arguments& a);

// `given` if it is above 0, `otherwise` if not.
inline int Or(int given, int otherwise) { return given > 0 ? given : otherwise; }

}  // namespace weft::bench
