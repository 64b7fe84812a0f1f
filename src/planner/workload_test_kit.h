// planner/workload_test_kit.h: random queries of a workload, as a profiler counts them.
#pragma once

#include <cstdint>
#include <random>

#include "base/zipf.h"
#include "planner/profiler.h"

namespace weft::planner {

// Uniform in [0, 1]. In builds that are not optimised std::uniform_real_distribution takes several
// times as long, for logarithms of its generator's range.
inline double Unit(std::mt19937_64* random) { return static_cast<double>((*random)()) * 0x1p-64; }

// What a batch of `queries` counts.
inline WorkloadCounts Draw(const Profile& truth, uint32_t queries, std::mt19937_64* random) {
  WorkloadCounts counts;
  counts.batches = 1;
  counts.queries = queries;
  counts.key_bytes = static_cast<uint64_t>(truth.key_bytes) * queries;
  for (uint32_t i = 0; i < queries; i++) {
    const double draw = Unit(random);
    const bool reads = draw < truth.get_share;
    const bool deletes = !reads && draw < truth.get_share + truth.delete_share;
    const bool misses = reads && Unit(random) >= truth.hit_share;
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
        profiler->Take(truth_.zipf == 0 ? random_() % kKeys : zipf.Rank(Unit(&random_)));
    }
  }

 private:
  const Profile truth_;
  std::mt19937_64 random_;
};

}  // namespace weft::planner
