#include "bench/drive/measure.h"

#include <algorithm>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/drive/driver.h"
#include "bench/drive/each_target.h"
#include "bench/harness/unheeded.h"
#include "bench/target/command_line.h"
#include "bench/target/targets.h"

namespace weft::bench {
namespace {

void AddLoad(CLI::App* app, LoadOptions* load) {
  app->add_option("--threads", load->threads, "threads of the client")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app->add_option("--sessions", load->sessions, "sessions (connections) of each thread")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app->add_option("--depth", load->depth, "operations that a session has in flight")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app->add_option("--batch", load->batch, "operations that begin together; 0: as many as --depth")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  app->add_option("--seconds", load->seconds, "seconds of each run")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  app->add_option("--warmup", load->warmup_s, "seconds before each run that are not counted")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app->add_option("--slice", load->slice_s, "seconds of each step of the time series")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
  app->add_option("--patience", load->patience_s,
                  "seconds without an answer after which a run fails")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  app->add_option("--seed", load->seed, "seed of all random choices")->capture_default_str();
}

void AddTarget(CLI::App* app, TargetOptions* target) {
  app->add_option("-m,--memory-mb", target->memory_mb,
                  "memory of caches and started servers in MiB")
      ->check(CLI::Range(64, 1 << 24))
      ->capture_default_str();
  AddServerOptions(app, target);
  app->add_flag("--multi-get", target->multi_get,
                "send reads that follow one another as one request");
  app->add_option("--place", target->place,
                  "place of durable stores: memory, disk or an existing folder")
      ->capture_default_str();
  app->add_flag("--sync", target->sync, "durable stores: sync each write to disk");
  app->add_option("--block-cache", target->store.block_cache_bytes,
                  "durable stores: bytes of the block cache")
      ->capture_default_str();
  app->add_option("--write-buffer", target->store.write_buffer_bytes,
                  "durable stores: bytes of a memtable")
      ->capture_default_str();
  app->add_option("--background-threads", target->store.background_threads,
                  "compaction threads; LevelDB has one")
      ->capture_default_str();
  app->add_option("--compaction-device", target->store.compaction_device,
                  "compaction device of weft: cuda:0, ... (default: the CPU)")
      ->capture_default_str();
}

// Options that are for what none of the workloads is. What is wrong with these is told later.
void RefuseUnheededByWorkloads(const CLI::App& app, const MeasureOptions& options) {
  if (IsGiven(app, "--rate") && IsGiven(app, "--batch"))
    throw CLI::ValidationError("--batch",
                               "an open loop (--rate) begins operations when they are due");
  auto mixes = MixesOf(options);
  if (!mixes) return;
  const auto has_rate = [](const OperationMix& mix) { return mix.rate.has_value(); };
  if (IsGiven(app, "--batch") && std::all_of(mixes->begin(), mixes->end(), has_rate))
    throw CLI::ValidationError(
        "--batch", "an open loop (a workload's rate) begins operations when they are due");
  const auto reads = [](const OperationMix& mix) {
    return !mix.fills && mix.ShareOf(OperationKind::kRead) > 0;
  };
  if (IsGiven(app, "--multi-get") && std::none_of(mixes->begin(), mixes->end(), reads))
    throw CLI::ValidationError("--multi-get", "no workload reads");
  const auto fills = [](const OperationMix& mix) { return mix.fills; };
  if (!std::all_of(mixes->begin(), mixes->end(), fills)) return;
  for (const char* name : {"--rate", "--seconds", "--warmup"}) {
    if (IsGiven(app, name))
      throw CLI::ValidationError(name, "a fill stores all records as fast as it can");
  }
  if (IsGiven(app, "--threads") && options.fill_threads > 0)
    throw CLI::ValidationError("--threads", "--fill-threads store the records");
}

// What is found by meters alone, or stands in files alone, would be lost.
void RefuseWhatWouldBeShownNowhere(const CLI::App& app, const MeasureOptions& options) {
  for (const char* name : {"--per-cpu", "--bandwidth"}) {
    if (IsGiven(app, name) && options.log.json.empty())
      throw CLI::ValidationError(name, "its results are only in the --json file");
  }
  // Experiments print what they come to.
  if (options.experiment == "efficiency") return;
  if (IsGiven(app, "--energy") && options.log.json.empty() && options.log.csv.empty())
    throw CLI::ValidationError("--energy", "joules are only in the --json and --csv files");
}

// Requests of several operations, where a session can't have so many.
void RefuseUnheededByDepth(const CLI::App& app, const MeasureOptions& options) {
  if (app.get_option_no_throw("--depth") == nullptr) return;  // it is chosen otherwise
  const LoadOptions& load = options.load;
  if (load.batch > load.depth) throw CLI::ValidationError("--batch", "it must be at most --depth");
  if (IsGiven(app, "--multi-get") && (load.depth == 1 || load.batch == 1))
    throw CLI::ValidationError("--multi-get",
                               "only one operation begins at a time (--depth, --batch)");
}

}  // namespace

void AddMeasure(CLI::App* app, MeasureOptions* options) {
  app->add_option("--target", options->targets, TargetHelp())->delimiter(',');
  app->add_option(
         "--workload", options->workloads,
         "ycsb-a, K16-G95-S, compaction-256, ...; 'ycsb': all of YCSB in the papers' order")
      ->delimiter(',');
  app->add_option("--workload-file", options->workload_file,
                  "your own workloads, in TOML as in bench/workload/example.toml; all of them if "
                  "there is no --workload");
  app->add_option("--records", options->records, "number of records instead of the workload's own")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
  app->add_option("--key-bytes", options->key_bytes,
                  "key sizes instead of the workload's own: 24, 'uniform 16 64', ...");
  app->add_option("--value-bytes", options->value_bytes,
                  "value sizes instead of the workload's own: 1000, 'uniform 8 64', ...");
  app->add_option(
      "--rate", options->rate,
      "scheduled operations a second (not for fills): 10000, '1000 for 10s, 5000 for 5s', ...");
  AddLoad(app, &options->load);
  app->add_option("--fill-threads", options->fill_threads,
                  "threads that store the records; 0: as many as --threads")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app->add_option("--load-threads", options->fill_threads, "the old name of --fill-threads")
      ->check(CLI::Range(0, 1024))
      ->group("");  // no help lists it
  AddTarget(app, &options->target);
  app->add_option("--energy", options->meters.energy,
                  "energy meter: auto, rapl, nvml, serial:/dev/..., csv:FILE, model:IDLE_W,BUSY_W")
      ->capture_default_str();
  app->add_flag("--per-cpu", options->meters.by_cpu,
                "count events of the whole machine for each CPU");
  app->add_flag_callback(
      "--bandwidth", [options] { options->meters.bandwidth = TriadOptions(); },
      "measure the machine's memory bandwidth before each run");
  app->add_option("--repetitions", options->repetitions,
                  "repetitions of every run, each with its own seed; several give ranges")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app->add_option("--json", options->log.json, "append one line a run to this file");
  app->add_option("--csv", options->log.csv, "append one row a run to this CSV file");
  app->add_option("--hdr", options->log.hdr_folder,
                  "folder for an HdrHistogram log of each run, with an interval a slice");
  app->parse_complete_callback([app, options] {
    // A file of one's own comes before workloads that stand there as a default.
    if (IsGiven(*app, "--workload-file") && !IsGiven(*app, "--workload"))
      options->workloads.clear();
    if (IsGiven(*app, "--load-threads") && IsGiven(*app, "--fill-threads"))
      throw CLI::ValidationError("--load-threads",
                                 "it is the old name of --fill-threads, which is given");
    RefuseUnheededByTargets(*app, options->targets);
    RefuseUnheededByWorkloads(*app, *options);
    RefuseUnheededByDepth(*app, *options);
    RefuseWhatWouldBeShownNowhere(*app, *options);
  });
}

}  // namespace weft::bench
