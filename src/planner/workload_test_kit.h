// planner/workload_test_kit.h: random queries of a workload, as a profiler counts them.
#pragma once

#include <cstdint>
#include <random>

#include "base/zipf.h"
#include "planner/profiler.h"

namespace weft::planner {

// What a batch of `queries` counts.
inline WorkloadCounts Draw(const Profile& truth, uint32_t queries, std::mt19937_64* random) {
  std::uniform_real_distribution<double> unit(0, 1);
  WorkloadCounts counts;
  counts.batches = 1;
  counts.queries = queries;
  counts.key_bytes = static_cast<uint64_t>(truth.key_bytes) * queries;
  for (uint32_t i = 0; i < queries; i++) {
    const double draw = unit(*random);
    const bool reads = draw < truth.get_share;
    const bool deletes = !reads && draw < truth.get_share + truth.delete_share;
    const bool misses = reads && unit(*random) >= truth.hit_share;
    counts.deletes += deletes;
    counts.stores += !reads && !deletes;
    counts.misses += misses;
    if (misses || deletes) continue;
    counts.values++;
    counts.value_bytes += static_cast<uint64_t>(truth.value_bytes);
  }
  return counts;
}

// Queries to a million keys.
class RandomQueries {
 public:
  static constexpr uint64_t kKeys = 1'000'000;

  // REQUIRES: truth.zipf is 0 or 0.99
  RandomQueries(const Profile& truth, uint64_t seed) : truth_(truth), random_(seed) {}

  void Count(uint32_t groups, Profiler* profiler) {
    static const base::Zipf zipf(kKeys, 0.99);
    for (; groups > 0; groups--) {
      profiler->Add(Draw(truth_, Profiler::kGroupQueries, &random_));
      for (uint32_t i = 0; i < Profiler::kGroupQueries / Profiler::kSampled; i++)
        profiler->Take(truth_.zipf == 0 ? random_() % kKeys : zipf.Rank(unit_(random_)));
    }
  }

 private:
  const Profile truth_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> unit_{0, 1};
};

}  // namespace weft::planner
