// bench/workload/key_distribution.h: how popular records are, as a workload's text says it.
//
//     sequential                one after another, over and over
//     uniform                   each as often
//     zipf 0.99                 Zipf's law with this theta, the oldest record the most popular
//     permuted-zipf 0.99        the same law, popular records anywhere; later inserts the rarest
//     scrambled-zipf 0.99       YCSB's: ranks of 10^10 by Zipf's law, hashed onto the records;
//                               several share a record, and the head is lighter than Zipf's over
//                               as many: 3.8 % for the first instead of 6.5 % of a million
//     scrambled-zipf 0.99 of N  with N ranks instead of 10^10
//     latest 0.99               zipf, the newest record the most popular
//     hotspot 0.2 0.8           on the first 0.2 of the records 0.8 of the operations, both uniform
//     exponential 95 0.857      95 % of the operations on the newest 0.857 of the records, thinning
//                               out exponentially
//
// Threads   a value.
// Errors    kInvalidArgument from Parse, with what is wrong.
// Source    B. Cooper et al., Benchmarking Cloud Serving Systems with YCSB, SoCC'10, section 4.1,
//           and YCSB's core workloads, which have those of these names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weft/status.h"

namespace weft::bench {

enum class KeyLaw : uint8_t {
  kSequential,
  kUniform,
  kZipf,
  kPermutedZipf,
  kScrambledZipf,
  kLatest,
  kHotspot,
  kExponential
};

struct KeyDistribution {
  KeyLaw law = KeyLaw::kUniform;
  double theta = 0.99;              // the four of Zipf
  uint64_t ranks = 10'000'000'000;  // scrambled-zipf
  double hot_records = 0.2;         // hotspot: shares
  double hot_operations = 0.8;
  double percentile = 95;  // exponential
  double fraction = 0.8571428571;

  static Result<KeyDistribution> Parse(std::string_view text);
  std::string ToText() const;
};

}  // namespace weft::bench
