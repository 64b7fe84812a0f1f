// bench/pipeline/worker.h: one thread with its requests, its pipeline and its responses. It is the
// client, too: every reply is checked.
//
// RV reads requests off the ring and makes the values of SETs where a socket would have put them.
// PP parses and hashes; a Carrier has the tasks between. WR writes responses one after the other;
// SD hands them over, which is nothing here: the check reads them in place. Checking is the
// client's work and counted apart, but the same thread does it, so rates include it.
//
// Checks    of every batch (or, sampled, of one in kSampled, at random distances) every reply:
//           outcome, length, and every byte of a value with its version. Of all batches: that each
//           query has one of the four outcomes that requests may have, and how many have which.
// Latency   of a query: from the time when its batch begins to be filled until the batch's
//           responses are handed over.
// Threads   one at a time.
// Errors    status(): a wrong reply, with what was wrong; the worker has stopped.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "bench/harness/defaults.h"
#include "bench/pipeline/carrier.h"
#include "bench/pipeline/data_set.h"
#include "bench/pipeline/figures.h"
#include "bench/pipeline/interval.h"
#include "bench/pipeline/request_ring.h"
#include "planner/planner.h"

namespace weft::bench {

enum class Verify : uint8_t { kAll, kSampled };

struct WorkerOptions {
  uint32_t writer = 1;  // of this thread's SETs: 1 to kWriters - 1
  double interval_us = 1000;
  Verify verify = Verify::kAll;
  uint64_t seed = defaults::kSeed;
  CarrierOptions carrier;  // any_plan: if there is a planner
  // Chooses the plan after the first one; writer - 1 is the worker's number. May be null.
  planner::Planner* planner = nullptr;
  // With several rings: how long each is read before the next. All workers change at once.
  uint64_t ring_turn_ns = 0;
  uint64_t slot_ns = 0;  // of Figures::slot_queries; 0: none are counted
};

class Worker : private pipeline::Sink {
 public:
  static constexpr uint32_t kSampled = 16;

  // `data` and `rings` must outlive it; the rings must be filled before Run.
  // REQUIRES: a ring; with several, ring_turn_ns > 0
  static Result<std::unique_ptr<Worker>> Create(DataSet* data, std::span<const RequestRing> rings,
                                                const pipeline::Plan& plan,
                                                const WorkerOptions& options);

  ~Worker();

  // Works until the clock (base/clock.h) reaches `until_ns` and everything begun is answered, for a
  // batch at least; or until a reply was wrong. Slots count from `begin_ns`, when the first ring's
  // turn begins.
  void Run(uint64_t begin_ns, uint64_t until_ns);

  const Status& status() const { return status_; }
  // Of the last Run.
  const Figures& figures() const { return figures_; }

 private:
  // What the replies of a batch were.
  struct Tally {
    uint64_t hits = 0, misses = 0, stored = 0, refused = 0;
    uint64_t replies() const { return hits + misses + stored + refused; }
    bool operator==(const Tally&) const = default;
  };
  // Requests, and how far they are read.
  struct Source {
    const RequestRing* ring;
    size_t next = 0;    // request
    uint32_t pass = 0;  // over the ring
  };
  // What belongs to one batch under way.
  struct Flight {
    const RequestRing* ring = nullptr;
    size_t first = 0;  // request in the ring
    size_t way = 0;    // ways_
    uint32_t queries = 0;
    uint64_t start = 0;              // ticks
    uint64_t first_stage = 0;        // ticks that it took
    std::unique_ptr<char[]> values;  // of its SETs
    std::unique_ptr<char[]> responses;
    size_t response_bytes = 0;
    Tally written;  // the responses, as they were written
  };

  // A plan that was in force, for which workload, and how large its batches were.
  struct Way {
    planner::Candidate candidate;
    uint64_t workload;
    planner::Estimate estimate;
    IntervalController interval;
    uint64_t queries = 0;  // of this Run
  };

  Worker(DataSet* data, std::span<const RequestRing> rings, const pipeline::Plan& plan,
         std::unique_ptr<Carrier> carrier, const WorkerOptions& options);

  void FollowPlanner();
  void Take(const planner::Candidate& candidate, uint64_t workload,
            const planner::Estimate& estimate);

  Source& SourceOfNow();
  void Fill(uint32_t number);
  void Receive(const Source& from, Flight& flight, uint32_t begin, uint32_t count);
  template <uint32_t kKeyBytes>
  size_t ParseGets(const RequestRing& ring, size_t begin, size_t end, uint32_t source,
                   pipeline::Batch* batch);
  void Parse(const Source& from, Flight& flight, uint32_t count, uint32_t source,
             pipeline::Batch& batch);
  void Finish(uint32_t number);
  void AddStages(uint32_t number, uint64_t last_stage);
  void CountDevices(int64_t sign);
  void CountReplies(const Flight& flight);
  void CountSlot(const Flight& flight);
  void Check(const Flight& flight);
  uint32_t CountHits(const RequestRing& ring, size_t place, uint32_t count, const char* at,
                     const char* end) const;
  bool CheckOne(const RequestRing& ring, const RequestView& request, const ResponseHead& head,
                const char* value, Tally* tally);
  void Write(pipeline::Batch& batch, uint32_t begin, uint32_t end,
             cache::Session& session) override;
  char* WriteCounted(Outcome outcome, std::string_view value, char* out, Tally* tally) const;
  // Of the batch at its last stage.
  char* WriteResponse(Outcome outcome, std::string_view value, char* out) const;
  char* WriteGathered(const pipeline::Batch& batch, uint32_t begin, uint32_t end, char* out) const;
  void RunOther(pipeline::Batch& batch, uint32_t i, cache::Session& session) override;

  // Constant after construction.
  DataSet* const data_;
  const WorkerOptions options_;

  const std::unique_ptr<Carrier> carrier_;
  std::vector<Way> ways_;
  size_t way_ = 0;         // in force
  uint64_t decision_ = 0;  // of the planner's
  std::vector<Flight> flights_;
  Flight* at_last_stage_ = nullptr;
  uint32_t value_bytes_ = 0;  // of the batch at its last stage
  std::vector<Source> sources_;
  uint64_t begin_ns_ = 0;  // of the turn
  base::Random random_;
  uint64_t unchecked_ = 0;  // batches until the next that is checked
  Figures figures_;
  Status status_;
};

}  // namespace weft::bench
