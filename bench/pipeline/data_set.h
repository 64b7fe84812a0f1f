// bench/pipeline/data_set.h: a store filled with a workload's objects, and the record of which
// versions of them may be met.
//
// Objects   numbers [0, count): as many as the memory holds beside the index and the segments that
//           the log keeps free, times `fill`. Loaded by all threads at once through the pipeline.
// Versions  a writer says which pass over his requests he begins before he stores anything in it.
//           So what a reader finds is of the load or of a pass that was begun; anything else was
//           never stored.
// Threads   Load: one, which starts its own. BeginPass: the writer. WasStored: any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "bench/harness/workload.h"
#include "bench/pipeline/objects.h"
#include "cache/store.h"

namespace weft::bench {

struct DataSetOptions {
  uint64_t memory_bytes = 0;
  double fill = 1.0;
  int threads = 1;
  bool huge_pages = true;
  cache::PageSource* pages = cache::SystemPages();
};

class DataSet {
 public:
  // Opens a store and loads it. kNoMemory where a store failed, and what Store::Open says.
  static Result<std::unique_ptr<DataSet>> Load(const Workload& workload,
                                               const DataSetOptions& options);

  cache::Store& store() { return *store_; }
  uint64_t objects() const { return objects_; }
  // Since the store was opened.
  uint64_t evictions() const { return store_->Stats().evictions; }
  // At objects of victims, since the store was opened.
  uint64_t victim_looks() const {
    cache::SessionCounters sum;
    store_->SumCounters(&sum);
    return sum.victim_looks.value();
  }
  double load_s() const { return load_s_; }

  // REQUIRES: 0 < writer < kWriters. Returns the pass.
  uint32_t BeginPass(uint32_t writer) {
    // Release: pairs with WasStored; whoever meets a value of the pass sees that it was begun.
    return passes_[writer].begun.fetch_add(1, std::memory_order_release) + 1;
  }
  bool WasStored(Version version) const {
    if (version.writer == 0) return version.pass == 0;
    return version.pass != 0 &&
           version.pass <= passes_[version.writer].begun.load(std::memory_order_acquire);
  }

 private:
  struct alignas(64) Passes {
    std::atomic<uint32_t> begun{0};
  };

  DataSet() = default;
  Status LoadAll(const Workload& workload, int threads);

  std::unique_ptr<cache::Store> store_;
  uint64_t objects_ = 0;
  double load_s_ = 0;
  std::array<Passes, kWriters> passes_;
};

}  // namespace weft::bench
