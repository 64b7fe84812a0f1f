// sim/record/recorded_store.h: a store of Weft's, filled and queried while its memory accesses are
// recorded: a source of records.
//
// The store is the real one, compiled with WEFT_RECORD_ACCESSES. Cores are sessions that take turns
// on the calling thread, a batch each, through pipeline/cpu_stage.h. The same options and seed give
// the same records, whatever is asked for in which order. That holds for a minute of the store's
// clock, after which objects note reads anew (kAccessNoteSeconds); is_repeatable says so.
//
// Recorded  the queries, and the housekeeping after each batch. Not: filling the store; filling a
//           batch, which is the protocol's part; counters of segments, sessions and the like.
// Replies   a value is copied into the core's reply buffer, as a connection's would be.
// Memory    records wait to be asked for: all other cores', if one is asked for all its own.
// Units     bytes, counts.
// Threads   one.
// Errors    those of cache::Store::Open and of workload.h. kNoMemory: the records don't fit.
//           kCorruption: a reply isn't what was stored. kRetryLater: the index grew meanwhile.
// Source    the simulator's specification, section 3.5.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/record/access_recorder.h"
#include "sim/record/gaps.h"
#include "sim/record/workload.h"
#include "sim/trace/trace_source.h"
#include "weft/cache.h"

namespace weft::sim {

struct RecordingOptions {
  StoreWorkloadOptions workload;
  int64_t ops = 10'000;  // of all cores
  int cores = 1;
  uint32_t batch = 32;  // queries, 1 to 32
  bool prefetches = true;
  IndexPolicy policy = IndexPolicy::kCuckoo;
  double load = 0.7;          // of the index's slots when the store is filled
  uint64_t memory_bytes = 0;  // 0: twice what the records need
  Gaps gaps;
  bool records = true;  // false: all is done, but nothing written down
};

class RecordedStore final : public TraceSource {
 public:
  static constexpr int kCoresMax = 64;

  // Opens a store and fills it.
  static Result<std::unique_ptr<RecordedStore>> Open(const RecordingOptions& options);
  ~RecordedStore() override;

  int cores() const override;
  const StoreShape& shape() const override;
  TableImage InitialTable() const override;
  Result<bool> Next(int core, Record* record) override;

  // The index as searches see it now, from its own memory.
  TableImage TableNow() const;
  struct Answers {
    int64_t gets = 0;
    int64_t hits = 0;
    int64_t sets = 0;
    int64_t stored = 0;
  };
  const Answers& answers() const;
  const AccessRecorder& recorder() const;
  // Has it been quick enough so far that another recording can't differ?
  bool is_repeatable() const;

 private:
  class Engine;  // the store and its cores

  explicit RecordedStore(std::unique_ptr<Engine> engine);

  const std::unique_ptr<Engine> engine_;
};

}  // namespace weft::sim
