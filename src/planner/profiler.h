// planner/profiler.h: what each worker counts of its batches, and what that says of the workload.
//
// A batch knows what it has seen: how many queries of which kind, bytes of keys and values, misses.
// Note adds that up, and keeps the hashes of a few keys taken at random. The difference of two
// looks at all workers' counters is a window; equal keys among those taken in it show the skew
// (planner/popularity.h).
//
// Threads   Profiler: one writes; any reads, a moment old. Windows: one.
// Cost      Note: a dozen counters a batch, one hash in 32 queries, a look at each query that is
//           more than a plain read: build/release/src/planner/profiler_bench.
// Source    paper 000, section III-A: a profile by counters alone.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/counter.h"
#include "pipeline/batch.h"
#include "planner/profile.h"

namespace weft::planner {

// What was counted; sums of several are what was counted in all.
struct WorkloadCounts {
  uint64_t batches = 0;
  uint64_t groups = 0;   // of batches
  uint64_t queries = 0;  // about a key, that were carried out
  uint64_t deletes = 0;
  uint64_t stores = 0;  // all that change something and are no delete
  uint64_t misses = 0;  // of the reads, which are all other queries
  uint64_t key_bytes = 0;
  uint64_t values = 0;  // found by reads, or stored, of known size
  uint64_t value_bytes = 0;
  // How far groups differ: the sum over them of x^2 / y, where x of the group's y are counted, in
  // units of 1 / kSquareScale. Deletes and stores, of queries; bytes of keys; bytes of values.
  uint64_t change_squares = 0, key_squares = 0, value_squares = 0;
  // Among keys taken in one window: pairs of them, those of one key, and likewise triples.
  uint64_t pairs = 0, equal_pairs = 0, triples = 0, equal_triples = 0;

  static constexpr double kSquareScale = 1024;

  uint64_t reads() const { return queries - deletes - stores; }
  void Add(const WorkloadCounts& other);
  void Subtract(const WorkloadCounts& other);
  // What came until now counts half from now on.
  void Halve();
};

class alignas(64) Profiler {
 public:
  static constexpr uint32_t kSampled = 32;  // queries for each key that is taken, in the mean
  static constexpr uint32_t kHashesKept = 512;
  static constexpr uint32_t kGroupQueries = 1024;  // then what was counted is shown

  // After the batch's last stage, before it is cleared.
  void Note(const pipeline::Batch& batch);
  // For who has no batches: what one would have counted, without squares, pairs and triples.
  void Add(const WorkloadCounts& batch);
  void Take(uint64_t hash) {
    // Relaxed: whoever is too early finds an older one.
    const uint64_t number = taken_.value();
    hashes_[number % kHashesKept].store(static_cast<uint32_t>(hash), std::memory_order_relaxed);
    taken_.Add(1);
  }

  // That are shown; the writer's.
  uint64_t queries() const { return own_.queries; }
  // All of the groups so far, without pairs and triples. False: one is just being added.
  bool Read(WorkloadCounts* counts) const;
  uint64_t taken() const { return taken_.value(); }
  // REQUIRES: number < taken(), and one of the last kHashesKept
  uint32_t hash(uint64_t number) const {
    return hashes_[number % kHashesKept].load(std::memory_order_relaxed);
  }

 private:
  static constexpr size_t kShown = 12;  // the first fields

  void Show();

  // Odd while the counts are being written.
  std::atomic<uint32_t> version_{0};
  std::array<std::atomic<uint64_t>, kShown> shown_{};
  base::Counter taken_;
  std::array<std::atomic<uint32_t>, kHashesKept> hashes_{};
  // Owned by the worker.
  alignas(64) WorkloadCounts own_;
  WorkloadCounts group_;
  uint32_t next_ = 0;  // query that is taken, counted from the next batch's first
  uint64_t random_ = 1;
};

// Counts equal ones; the four of pairs and triples.
void CountEqual(std::span<const uint32_t> hashes, WorkloadCounts* counts);

// Takes windows over several profilers.
class WindowReader {
 public:
  static constexpr uint32_t kHashesMax = 1024;  // of a window: more tell hardly more

  // These must outlive it.
  explicit WindowReader(std::vector<const Profiler*> profilers);

  // What was counted since the last window. False, and the window goes on: it is fewer than
  // `queries_min` queries, or somebody is just counting.
  bool Next(uint64_t queries_min, WorkloadCounts* window);
  // Queries of a profiler when the window began.
  uint64_t begin_queries(size_t profiler) const { return begins_[profiler].counts.queries; }

 private:
  struct Mark {
    WorkloadCounts counts;
    uint64_t taken = 0;
  };

  void CountEqualOf(WorkloadCounts* window);

  const std::vector<const Profiler*> profilers_;
  std::vector<Mark> begins_;
  std::vector<Mark> ends_;        // scratch
  std::vector<uint32_t> hashes_;  // scratch
};

// Shares, sizes and what chance may have to do with them; the rest as in `known`, and so is what
// cannot be said, as the hits of reads where there was none.
Profile ProfileOf(const WorkloadCounts& counts, const Profile& known);

// Whether the workload is another one: some share or mean differs by more than a tenth of itself,
// and by more than five standard deviations of what chance does. `from` has seen more of it.
bool IsAnother(const WorkloadCounts& from, const WorkloadCounts& to);

}  // namespace weft::planner
