// bench/workload/key_probability_test_kit.h: how likely each record is, exactly, to check draws
// against it.
//
// Threads   pure.
// Cost      a power a record; for scrambled-zipf one for each of its first 2^22 ranks. The rest of
//           its ranks is spread over all records by their shares of hashes: off by 0.1 % of a
//           record's probability with a thousand records, by 2 % with a million.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bench/workload/key_chooser.h"

namespace weft::bench {

inline constexpr uint64_t kRanksOneByOne = 1u << 22;

inline double ZipfWeight(uint64_t rank, double theta) {
  return std::pow(static_cast<double>(rank + 1), -theta);
}

inline std::vector<double> ScrambledProbabilities(const KeyChooser& chooser, uint64_t records) {
  const KeyDistribution& keys = chooser.keys();
  const uint64_t listed = std::min(keys.ranks, kRanksOneByOne);
  const double sum = base::ZipfSum(keys.ranks, keys.theta);
  const double rest = (sum - base::ZipfSum(listed, keys.theta)) / sum;
  const uint64_t start = chooser.start();
  const uint64_t doubled = std::bit_ceil((records - 1) / start + 1);
  std::vector<double> shares(records);
  // Of the words that lead to its home, each of as many doublings gets one part. Whose doubling is
  // not there yet leaves its part to the one before.
  for (uint64_t word = 0; word < doubled; ++word)
    for (uint64_t home = 0; home < start; ++home) {
      const uint64_t record = home + start * word;
      const uint64_t is = record < records ? record : record - start * (doubled / 2);
      shares[is] += rest / static_cast<double>(start * doubled);
    }
  for (uint64_t rank = 0; rank < listed; ++rank)
    shares[chooser.Scrambled(rank, records)] += ZipfWeight(rank, keys.theta) / sum;
  return shares;
}

inline std::vector<double> HotspotProbabilities(const KeyChooser& chooser, uint64_t records) {
  const uint64_t hot = chooser.hot_records();
  const double on_hot = records == hot ? 1 : chooser.keys().hot_operations;
  std::vector<double> shares(records);
  for (uint64_t record = 0; record < records; ++record)
    shares[record] = record < hot ? on_hot / static_cast<double>(hot)
                                  : (1 - on_hot) / static_cast<double>(records - hot);
  return shares;
}

inline std::vector<double> ExponentialProbabilities(const KeyDistribution& keys, uint64_t records) {
  const auto count = static_cast<double>(records);
  const double slope = -std::log(1 - keys.percentile / 100) / (count * keys.fraction);
  std::vector<double> shares(records);
  for (uint64_t record = 0; record < records; ++record)
    shares[record] = std::exp(-slope * static_cast<double>(records - 1 - record)) *
                     (1 - std::exp(-slope)) / (1 - std::exp(-slope * count));
  return shares;
}

// By record. Sequential: as if uniform. REQUIRES: records >= chooser.start()
inline std::vector<double> KeyProbabilities(const KeyChooser& chooser, uint64_t records) {
  const KeyDistribution& keys = chooser.keys();
  switch (keys.law) {
    case KeyLaw::kScrambledZipf: return ScrambledProbabilities(chooser, records);
    case KeyLaw::kHotspot: return HotspotProbabilities(chooser, records);
    case KeyLaw::kExponential: return ExponentialProbabilities(keys, records);
    case KeyLaw::kSequential:
    case KeyLaw::kUniform: return std::vector<double>(records, 1 / static_cast<double>(records));
    default: break;
  }
  const double sum = base::ZipfSum(records, keys.theta);
  std::vector<double> shares(records);
  for (uint64_t rank = 0; rank < records; ++rank) {
    uint64_t record = rank;
    if (keys.law == KeyLaw::kPermutedZipf) record = chooser.Permuted(rank);
    if (keys.law == KeyLaw::kLatest) record = records - 1 - rank;
    shares[record] += ZipfWeight(rank, keys.theta) / sum;
  }
  return shares;
}

}  // namespace weft::bench
