#include "bench/durable/command_line.h"

#include <CLI/CLI.hpp>

namespace weft::bench {

void AddDurable(CLI::App* app, DurableOptions* options) {
  DurableOptions& durable = *options;
  StoreSettings& common = durable.common;
  app->add_option("--num", durable.keys, "keys")
      ->check(CLI::Range(1000, 1'000'000'000))
      ->capture_default_str();
  app->add_option("--value", durable.value_bytes, "bytes of a value")
      ->check(CLI::Range(8, 1 << 20))
      ->capture_default_str();
  app->add_option("--reads", durable.reads, "lookups of a pass")
      ->check(CLI::Range(100, 1 << 30))
      ->capture_default_str();
  app->add_option("--syncs", durable.syncs, "writes of fillsync (a thousandth of the keys)")
      ->check(CLI::Range(1, 1 << 30));
  app->add_option("--benchmarks", durable.benchmarks, "fillrandom,readrandom,...; all if not given")
      ->delimiter(',');
  app->add_option("--stores", durable.stores, "the first against the others (weft,leveldb,rocksdb)")
      ->delimiter(',');
  app->add_option("--place,--dir", durable.places, "memory, disk (both), or folders")
      ->delimiter(',');
  app->add_option("--compression", durable.compressions, "none,snappy (none)")->delimiter(',');
  app->add_option("--settings", durable.settings, "common,leveldb-defaults (common)")
      ->delimiter(',');
  app->add_option("--write-buffer", common.write_buffer_bytes, "bytes of a memtable")
      ->check(CLI::Range(1 << 12, 1 << 30))
      ->capture_default_str();
  app->add_option("--table", common.file_bytes, "bytes of a table")
      ->check(CLI::Range(1 << 12, 1 << 30))
      ->capture_default_str();
  app->add_option("--block-cache", common.block_cache_bytes, "bytes")->capture_default_str();
  app->add_option("--bloom-bits", common.bloom_bits, "of a key; 0: no filter")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  app->add_option("--level1", common.level1_bytes, "bytes of weft's first level")
      ->capture_default_str();
  app->add_option("--rocksdb-level1", common.rocksdb_level1_bytes, "bytes of RocksDB's")
      ->capture_default_str();
  app->add_option("--background-threads", common.background_threads,
                  "that compact; LevelDB has one")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app->add_flag("!--no-verify", common.verify_compaction, "weft reads no outputs back");
  app->add_option("--tail-seconds", durable.tail_s, "of tail: at full speed, then as long again")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  app->add_option("--tail-load", durable.tail_load, "share of the top rate")
      ->check(CLI::Range(0.001, 10.0))
      ->capture_default_str();
}

void AddCompaction(CLI::App* app, CompactionOptions* options) {
  CompactionOptions& compaction = *options;
  app->add_option("--value", compaction.value_bytes, "bytes (100,256,1000)")->delimiter(',');
  app->add_option("--table", compaction.table_bytes, "bytes of a table")
      ->check(CLI::Range(1 << 16, 1 << 30))
      ->capture_default_str();
  app->add_option("--scale", compaction.scale, "of the number of keys")
      ->check(CLI::Range(1e-6, 1e6))
      ->capture_default_str();
  app->add_option("--place,--dir", compaction.places, "memory, disk, folders")->delimiter(',');
  app->add_option("--compression", compaction.compressions, "none,snappy (both)")->delimiter(',');
  app->add_option("--stores", compaction.stores, "weft,leveldb,rocksdb")->delimiter(',');
  app->add_option("--compaction-device", compaction.devices, "too: cuda:0")->delimiter(',');
  app->add_flag("--direct", compaction.direct, "such with devices or --threads by direct I/O, too");
  app->add_option("--threads", compaction.threads, "too: 16")
      ->check(CLI::Range(1, 256))
      ->delimiter(',');
}

void AddContention(CLI::App* app, ContentionOptions* options) {
  ContentionOptions& contention = *options;
  app->add_option("--num", contention.keys, "keys, and operations of A")
      ->check(CLI::Range(1000, 1'000'000'000))
      ->capture_default_str();
  app->add_option("--value", contention.value_bytes, "bytes of values")
      ->delimiter(',')
      ->check(CLI::Range(8, 1 << 20))
      ->capture_default_str();
  app->add_option("--taken", contention.taken, "percent of the CPUs that other work takes")
      ->delimiter(',')
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  app->add_option("--stores", contention.stores, "weft,leveldb,rocksdb")->delimiter(',');
  app->add_option("--compaction-device", contention.devices, "of weft, too: cuda:0")
      ->delimiter(',');
  app->add_option("--place,--dir", contention.place, "memory, disk, a folder")
      ->capture_default_str();
  app->add_option("--threads", contention.threads, "clients")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app->add_option("--background-threads", contention.settings.background_threads,
                  "that compact; LevelDB has one")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app->add_option("--slice", contention.slice_s, "seconds")
      ->check(CLI::Range(0.05, 60.0))
      ->capture_default_str();
  app->add_option("--plots", contention.plots, "folder for charts (SVG)");
}

}  // namespace weft::bench
