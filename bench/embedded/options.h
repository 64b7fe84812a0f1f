// bench/embedded/options.h: the options of the benchmarks of the embedded cache, and their names.
//
// Each Run... prints and records its rows in `report`. A Status other than OK: there is no figure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/defaults.h"
#include "bench/harness/report.h"

namespace weft::bench {

struct EmbeddedOptions {
  uint64_t objects = defaults::kEmbeddedObjects;
  uint32_t batch = defaults::kBatch;
  std::vector<int> threads = {1};
  std::vector<std::string> workloads;  // empty: those of the thread table
  std::vector<int> cpus;               // thread i runs on cpus[i]; empty: those usable
  uint64_t memory_mb = 0;              // 0: twice what the objects need
  bool huge_pages = true;
  int repetitions = defaults::kRepetitions;
  double run_s = 1.0;
  double warmup_s = 0.25;
  uint64_t seed = defaults::kSeed;
  std::optional<double> target;
};

// How it was taken, as every row records it.
nlohmann::json DetailsOf(const EmbeddedOptions& options);

struct PrefetchOptions {
  uint64_t memory_mb = 1024;                             // of objects
  std::vector<uint32_t> values = {128, 256, 512, 1024};  // ascending; bytes
  std::vector<uint32_t> batches = {1, 4, 8, 16, 32};
  size_t lookups = 1 << 15;  // of a turn, 2^20 at most
  std::vector<int> cpus;     // runs on the last ones; empty: of those usable
  int threads = 1;           // that look up at once, each on its own CPU as far as there are
  int repetitions = 7;
  uint64_t seed = defaults::kSeed;
};

// The bare walk alone, for each thread count: what the memory of this machine allows.
Status RunWalk(const EmbeddedOptions& options, Report& report);
// One thread, all hits: against the bare walk, and against itself without prefetching.
Status RunEmbedded(const EmbeddedOptions& options, Report& report);
// Ways of prefetching in software, in turns, and paper 004's claims about them.
Status RunPrefetch(const PrefetchOptions& options, Report& report);
// The workloads at each thread count, relative to one thread.
Status RunEmbeddedThreads(const EmbeddedOptions& options, Report& report);

}  // namespace weft::bench
