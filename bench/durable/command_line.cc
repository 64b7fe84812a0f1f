#include "bench/durable/command_line.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace weft::bench {
namespace {

// "weft,leveldb,rocksdb"
std::string StoresText() { return fmt::format("{}", fmt::join(StoreNames(), ",")); }

void DeclareDurable(CLI::App* app, DurableArguments* a) {
  DurableOptions& durable = a->durable;
  StoreSettings& common = durable.common;
  app->add_option("--num", durable.keys, "number of keys")
      ->check(CLI::Range(1000, 1'000'000'000))
      ->capture_default_str();
  app->add_option("--value", durable.value_bytes, "bytes of a value")
      ->check(CLI::Range(8, 1 << 20))
      ->capture_default_str();
  app->add_option("--reads", durable.reads, "lookups in a pass")
      ->check(CLI::Range(100, 1 << 30))
      ->capture_default_str();
  app->add_option("--syncs", durable.syncs,
                  "writes of fillsync (default: a thousandth of the keys)")
      ->check(CLI::Range(1, 1 << 30));
  app->add_option("--benchmarks", durable.benchmarks, "fillrandom,readrandom,... (default: all)")
      ->delimiter(',');
  app->add_option(
         "--stores", durable.stores,
         fmt::format("stores; the first is compared with the others (default: {})", StoresText()))
      ->delimiter(',');
  app->add_option("--place,--dir", durable.places, "memory, disk or folders (default: memory,disk)")
      ->delimiter(',');
  app->add_option("--compression", durable.compressions, "none,snappy (default: none)")
      ->delimiter(',');
  app->add_option("--settings", durable.settings, "common,leveldb-defaults (default: common)")
      ->delimiter(',');
  app->add_option("--write-buffer", common.write_buffer_bytes, "bytes of a memtable")
      ->check(CLI::Range(1 << 12, 1 << 30))
      ->capture_default_str();
  app->add_option("--table", common.file_bytes, "bytes of a table")
      ->check(CLI::Range(1 << 12, 1 << 30))
      ->capture_default_str();
  app->add_option("--block-cache", common.block_cache_bytes, "bytes of the block cache")
      ->capture_default_str();
  app->add_option("--bloom-bits", common.bloom_bits, "bits a key of the Bloom filter; 0: no filter")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  app->add_option("--level1", common.level1_bytes, "bytes of weft's first level")
      ->capture_default_str();
  app->add_option("--rocksdb-level1", common.rocksdb_level1_bytes, "bytes of RocksDB's first level")
      ->capture_default_str();
  app->add_option("--background-threads", common.background_threads,
                  "compaction threads; LevelDB has one")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app->add_flag("!--no-verify", common.verify_compaction, "weft does not read its outputs back");
  app->add_option("--tail-seconds", durable.tail_s,
                  "seconds of tail at full speed, and then at --tail-load")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  app->add_option("--tail-load", durable.tail_load, "share of the top rate")
      ->check(CLI::Range(0.001, 10.0))
      ->capture_default_str();
  AddQuick(app, &a->quick);
  LeaveOut(app, {"--seconds", "--warmup"});
}

void DeclareCompaction(CLI::App* app, DurableArguments* a) {
  CompactionOptions& compaction = a->compaction;
  app->add_option("--value", compaction.value_bytes, "bytes of a value (default: 100,256,1000)")
      ->delimiter(',');
  app->add_option("--table", compaction.table_bytes, "bytes of a table")
      ->check(CLI::Range(1 << 16, 1 << 30))
      ->capture_default_str();
  app->add_option("--scale", compaction.scale, "factor for the number of keys")
      ->check(CLI::Range(1e-6, 1e6))
      ->capture_default_str();
  app->add_option("--place,--dir", compaction.places, "memory, disk, folders")->delimiter(',');
  app->add_option("--compression", compaction.compressions, "none,snappy (default: both)")
      ->delimiter(',');
  app->add_option("--stores", compaction.stores, StoresText())->delimiter(',');
  app->add_option("--compaction-device", compaction.devices,
                  "also measure on these devices: cuda:0")
      ->delimiter(',');
  app->add_flag("--direct", compaction.direct,
                "repeat those with devices or --threads by direct I/O");
  app->add_option("--threads", compaction.threads, "also measure with this many threads: 16")
      ->check(CLI::Range(1, 256))
      ->delimiter(',');
  AddQuick(app, &a->quick);
  LeaveOut(app, {"--seconds", "--warmup"});
}

void DeclareContention(CLI::App* app, DurableArguments* a) {
  ContentionOptions& contention = a->contention;
  app->add_option("--num", contention.keys, "number of keys, and of operations of YCSB A")
      ->check(CLI::Range(1000, 1'000'000'000))
      ->capture_default_str();
  app->add_option("--value", contention.value_bytes, "bytes of values")
      ->delimiter(',')
      ->check(CLI::Range(8, 1 << 20))
      ->capture_default_str();
  app->add_option("--taken", contention.taken, "percent of the CPUs that other work uses")
      ->delimiter(',')
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  app->add_option("--stores", contention.stores, StoresText())->delimiter(',');
  app->add_option("--compaction-device", contention.devices,
                  "also measure weft on these devices: cuda:0")
      ->delimiter(',');
  app->add_option("--place,--dir", contention.place, "memory, disk or a folder")
      ->capture_default_str();
  app->add_option("--threads", contention.threads, "client threads")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app->add_option("--background-threads", contention.settings.background_threads,
                  "compaction threads; LevelDB has one")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app->add_option("--slice", contention.slice_s, "seconds of a slice")
      ->check(CLI::Range(0.05, 60.0))
      ->capture_default_str();
  app->add_option("--plots", contention.plots, "folder for charts (SVG)");
  AddQuick(app, &a->quick);
  LeaveOut(app, {"--seconds", "--warmup"});
}

constexpr const char* kNoWeft = "--stores does not include weft";
constexpr const char* kOneThread = "no store of --stores has several compaction threads";

bool HaveOneThread(const std::vector<std::string>& stores) {
  return !stores.empty() && std::none_of(stores.begin(), stores.end(), HasBackgroundThreads);
}

UnheededRules<DurableArguments> DurableRules() {
  using Arguments = DurableArguments;
  return {
      {{"--strict", "--target"},
       "--stores has one store, so nothing is compared",
       [](const Arguments& a) { return a.durable.stores.size() == 1; }},
      {{"--reads"},
       "--benchmarks includes none that looks up",
       [](const Arguments& a) { return !AsksForPart(a.durable.benchmarks, "read"); }},
      {{"--syncs"},
       "--benchmarks does not include fillsync",
       [](const Arguments& a) { return !AsksForPart(a.durable.benchmarks, "fillsync"); }},
      {{"--tail-seconds", "--tail-load"},
       "--benchmarks does not include tail",
       [](const Arguments& a) { return !AsksFor(a.durable.benchmarks, "tail"); }},
      {{"--write-buffer", "--table", "--block-cache", "--bloom-bits", "--rocksdb-level1"},
       "--settings leveldb-defaults sets its own",
       [](const Arguments& a) {
         return !AsksFor(a.durable.settings, "common") && !a.durable.settings.empty();
       }},
      {{"--level1", "--no-verify"},
       kNoWeft,
       [](const Arguments& a) { return !AsksFor(a.durable.stores, "weft"); }},
      {{"--rocksdb-level1"},
       "--stores does not include rocksdb",
       [](const Arguments& a) { return !AsksFor(a.durable.stores, "rocksdb"); }},
      {{"--background-threads"},
       kOneThread,
       [](const Arguments& a) { return HaveOneThread(a.durable.stores); }},
      {{"--num"},
       kQuickTakesLess,
       [](const Arguments& a) { return a.quick && a.durable.keys > defaults::kQuickKeys; }},
      {{"--reads"},
       kQuickTakesLess,
       [](const Arguments& a) { return a.quick && a.durable.reads > defaults::kQuickKeys; }},
      {{"--tail-seconds"},
       kQuickTakesLess,
       [](const Arguments& a) { return a.quick && a.durable.tail_s > defaults::kQuickTailS; }},
  };
}

UnheededRules<DurableArguments> CompactionRules() {
  using Arguments = DurableArguments;
  return {
      {{"--compaction-device", "--threads", "--direct"},
       kNoWeft,
       [](const Arguments& a) { return !AsksFor(a.compaction.stores, "weft"); }},
      {{"--direct"},
       "neither --compaction-device nor --threads is given",
       [](const Arguments& a) {
         return a.compaction.devices.empty() && a.compaction.threads.empty();
       }},
      {{"--scale"},
       kQuickTakesLess,
       [](const Arguments& a) { return a.quick && a.compaction.scale > defaults::kQuickScale; }},
  };
}

UnheededRules<DurableArguments> ContentionRules() {
  using Arguments = DurableArguments;
  return {
      {{"--background-threads"},
       kOneThread,
       [](const Arguments& a) { return HaveOneThread(a.contention.stores); }},
      {{"--compaction-device"},
       kNoWeft,
       [](const Arguments& a) { return !AsksFor(a.contention.stores, "weft"); }},
      {{"--num"},
       kQuickTakesLess,
       [](const Arguments& a) { return a.quick && a.contention.keys > defaults::kQuickKeys; }},
  };
}

Status MeasureContention(const DurableArguments& a, Report& report) {
  ContentionOptions options = a.contention;
  SetCommon(a.common, 1, &options);
  if (a.quick) options.keys = std::min(options.keys, defaults::kQuickKeys);
  return RunContention(options, report);
}

}  // namespace

Status MeasureDurable(const DurableArguments& a, Report& report) {
  DurableOptions options = a.durable;
  SetCommon(a.common, a.quick ? 1 : defaults::kDurableRepetitions, &options);
  if (a.quick) {
    options.keys = std::min(options.keys, defaults::kQuickKeys);
    options.reads = std::min(options.reads, defaults::kQuickKeys);
    options.tail_s = std::min(options.tail_s, defaults::kQuickTailS);
  }
  return RunDurable(options, report);
}

Status MeasureCompaction(const DurableArguments& a, Report& report) {
  CompactionOptions options = a.compaction;
  SetCommon(a.common, a.quick ? 1 : defaults::kDurableRepetitions, &options);
  if (a.quick) options.scale = std::min(options.scale, defaults::kQuickScale);
  return RunCompaction(options, report);
}

CommandGroup DurableCommands() {
  return {
      PromiseCommand<DurableArguments>("durable",
                                       "the durable store compared with LevelDB and RocksDB",
                                       DeclareDurable, MeasureDurable, DurableRules()),
      PromiseCommand<DurableArguments>("compaction", "compactions only: input a second",
                                       DeclareCompaction, MeasureCompaction, CompactionRules()),
      PromiseCommand<DurableArguments>("contention",
                                       "stores under YCSB A while other work uses the CPUs",
                                       DeclareContention, MeasureContention, ContentionRules()),
  };
}

}  // namespace weft::bench
