// bench/durable/options.h: the options of the benchmarks of the durable store, and their names.
//
// Each Run... prints and records its rows in `report`. A Status other than OK: there is no figure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/defaults.h"
#include "bench/harness/report.h"
#include "bench/store/store.h"

namespace weft::bench {

struct DurableOptions {
  uint64_t keys = defaults::kDurableKeys;
  uint32_t value_bytes = defaults::kDurableValueBytes;
  uint64_t reads = defaults::kDurableReads;
  uint64_t syncs = 0;                     // 0: a thousandth of the keys
  std::vector<std::string> benchmarks;    // empty: all
  std::vector<std::string> stores;        // the first is the subject; empty: all
  std::vector<std::string> places;        // "memory", "disk", or a folder; empty: the first two
  std::vector<std::string> compressions;  // "none", "snappy"; empty: none
  std::vector<std::string> settings;      // "common", "leveldb-defaults"; empty: common
  StoreSettings common;
  double tail_s = 10;
  double tail_load = defaults::kTailLoad;
  int repetitions = defaults::kDurableRepetitions;
  uint64_t seed = defaults::kSeed;
  std::optional<double> target;
};

struct CompactionOptions {
  std::vector<uint32_t> value_bytes;      // empty: 100, 256, 1000
  double scale = 1;                       // of the number of keys
  std::vector<std::string> places;        // empty: memory
  std::vector<std::string> compressions;  // empty: both
  std::vector<std::string> stores;        // empty: all
  std::vector<std::string> devices;       // of ours beside the CPU: "cuda:0"
  std::vector<int> threads;               // of ours beside one and two
  bool direct = false;                    // of those with so many threads, or a device: also by
                                          // direct I/O
  uint64_t table_bytes = 64u << 20;       // of a table
  int repetitions = defaults::kDurableRepetitions;
  uint64_t seed = defaults::kSeed;
  std::optional<double> target;
};

// Stores beside other work, as in paper 001 (LUDA), section IV.
struct ContentionOptions {
  uint64_t keys = defaults::kContentionKeys;  // stored, and operations of workload A
  std::vector<uint32_t> value_bytes = defaults::kContentionValueBytes;
  std::vector<int> taken = defaults::kContentionTaken;  // percent of each CPU's time
  std::vector<std::string> stores;                      // empty: all
  std::vector<std::string> devices;                     // weft's beside the CPU: "cuda:0"
  std::string place = "memory";
  StoreSettings settings{.name = "contention",
                         .write_buffer_bytes = 4u << 20,
                         .file_bytes = 4u << 20,
                         .background_threads = 4};
  int threads = 1;
  double slice_s = 1;
  std::string plots;  // folder of the charts; empty: none
  int repetitions = 1;
  uint64_t seed = defaults::kSeed;
  std::optional<double> target;
};

// Every pass on every store, turn by turn.
Status RunDurable(const DurableOptions& options, Report& report);
// Compactions alone: input a second.
Status RunCompaction(const CompactionOptions& options, Report& report);
// YCSB's fill and A while other work takes a share of the CPUs.
Status RunContention(const ContentionOptions& options, Report& report);

}  // namespace weft::bench
