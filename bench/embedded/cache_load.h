// bench/embedded/cache_load.h: a weft::Cache filled with a data set, and batches of requests on it
// whose answers are checked.
//
// Keys      of a stream are written before the clock starts and lie in its order, as a program that
//           calls a cache has its keys. So only the cache is timed.
// Checks    of each hit, outcome and length; of one hit a batch, in turn, every byte. VerifySample
//           reads every byte of `count` values, outside the clock.
// Threads   Fill and VerifySample: one. Run: any number, each with its own CacheWorker.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/named/named.h"
#include "bench/workload/record.h"
#include "weft/cache.h"

namespace weft::bench {

struct CacheAnswers {
  uint64_t gets = 0;
  uint64_t hits = 0;
  uint64_t sets = 0;
  uint64_t stored = 0;
  uint64_t wrong = 0;  // a value that is not its key's

  void Merge(const CacheAnswers& other);
};

// Opens a cache for `objects` of the workload's sizes and stores ids [0, objects). `memory_mb` 0:
// twice what they need. kNoMemory: a store failed.
Result<std::unique_ptr<Cache>> FillCache(const Workload& workload, uint64_t objects,
                                         uint64_t memory_mb, CacheOptions options);

// The buffers of one thread.
class CacheWorker {
 public:
  // Writes the keys of `stream`, which must outlive it.
  CacheWorker(Cache* cache, const Workload& workload, uint32_t batch,
              std::span<const uint32_t> stream);

  // Carries out `ids`, a part of the stream (bit 31 marks a SET), `batch` at a time: one MultiGet
  // and one MultiSet each.
  void Run(std::span<const uint32_t> ids);
  // GETs alone, by MultiView: the first bytes of each value are read in place.
  void View(std::span<const uint32_t> ids);
  const CacheAnswers& answers() const { return answers_; }

 private:
  void RunBatch(std::span<const uint32_t> ids);
  void ViewBatch(std::span<const uint32_t> ids);
  void CheckBatch(size_t gets, std::span<const uint32_t> ids);

  Cache* const cache_;
  const RecordFormat records_;
  const uint32_t key_bytes_;
  const uint32_t value_bytes_;
  const uint32_t batch_;
  const std::span<const uint32_t> stream_;
  std::vector<char> keys_;    // of the stream, in its order
  std::vector<char> values_;  // of one batch
  std::vector<Cache::Lookup> lookups_;
  std::vector<Cache::View> views_;
  std::vector<Cache::Pair> pairs_;
  size_t sampled_ = 0;  // lane whose value is read whole
  CacheAnswers answers_;
};

// Gets `count` random ids below `objects` and compares every byte.
CacheAnswers VerifySample(Cache* cache, const Workload& workload, uint64_t objects, uint64_t count,
                          uint64_t seed);

}  // namespace weft::bench
