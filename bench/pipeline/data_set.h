// bench/pipeline/data_set.h: a store filled with the objects of one or several workloads, and which
// versions of them may be met.
//
// Objects   numbers [0, count) for each size of key: as many as the memory holds besides the index
//           and the segments that the log keeps free, times `fill`; as many bytes for each size.
//           All threads store them through the pipeline.
// Versions  a writer says which pass over its requests it begins before it stores anything in it.
//           So whatever a reader finds is of the fill or of a pass that was begun; anything else
//           was never stored.
// Threads   Fill: one, which starts its own. BeginPass: the writer. WasStored: any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/named/named.h"
#include "bench/pipeline/objects.h"
#include "cache/store.h"

namespace weft::bench {

struct DataSetOptions {
  uint64_t memory_bytes = 0;
  double fill = 1.0;
  int threads = 1;
  bool huge_pages = true;
  bool may_fill_holes = false;  // cache::Store::AllowFilling
  cache::PageSource* pages = cache::SystemPages();
};

class DataSet {
 public:
  // Opens a store and fills it. kInvalidArgument: too little memory, or too much, or keys of one
  // size with values of two. kNoMemory: a store failed. Also the errors of Store::Open.
  static Result<std::unique_ptr<DataSet>> Fill(std::span<const Workload> workloads,
                                               const DataSetOptions& options);

  // What an object of the workload takes in the store's log.
  static uint32_t ObjectBytes(const Workload& workload);

  cache::Store& store() { return *store_; }
  uint64_t objects() const;  // of all sizes
  // REQUIRES: it was filled for the workload, or for one of these sizes
  uint64_t objects(const Workload& workload) const;
  // Since the store was opened.
  uint64_t evictions() const { return store_->Stats().evictions; }
  // At objects of victims, since the store was opened.
  uint64_t victim_looks() const {
    cache::SessionCounters sum;
    store_->SumCounters(&sum);
    return sum.victim_looks.value();
  }
  double fill_s() const { return fill_s_; }

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

  // Objects of one size.
  struct Kind {
    Workload workload;
    uint64_t objects = 0;
  };

  DataSet() = default;
  Status FillAll(const Kind& kind, int threads);

  std::unique_ptr<cache::Store> store_;
  std::vector<Kind> kinds_;
  double fill_s_ = 0;
  std::array<Passes, kWriters> passes_;
};

}  // namespace weft::bench
