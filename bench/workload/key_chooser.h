// bench/workload/key_chooser.h: which of the records that are there an operation is about.
//
// Each draw is given their number anew, as inserts go on, and is always of those. Which records are
// the popular ones does not change as records are added, except for `latest` and `exponential`,
// which follow the newest:
//
//     permuted-zipf    ranks up to the number of records at the start are permuted among those; a
//                      record that is added later has its own number as its rank
//     scrambled-zipf   a rank's hash names one of the records at the start, and of later ones
//                      those that would share its ranks as the records double, double again, ...
//                      (linear hashing): each new record takes over half of one old record's ranks.
//                      YCSB hashes onto as many as it expects in the end, and draws again
//     hotspot          the hot records are of those at the start
//
// Threads   one each, which brings its Random.
// Cost      uniform: a multiplication. Zipf: zipf_sampler.h, and another logarithm after each
//           growth. Others: a logarithm.
// Source    linear hashing: W. Litwin, VLDB'80.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "base/zipf_sampler.h"
#include "bench/workload/key_distribution.h"

namespace weft::bench {

class KeyChooser {
 public:
  // `start`: how many records there are at first. If several threads go through the records in
  // sequence, each takes those of its own number.
  // REQUIRES: 1 <= start <= kRecordsMax, thread < threads
  KeyChooser(const KeyDistribution& keys, uint64_t start, uint32_t thread = 0,
             uint32_t threads = 1);

  // REQUIRES: records >= start
  uint64_t Next(uint64_t records, base::Random& random);

  // Where a rank's record lies: permuted-zipf and scrambled-zipf. REQUIRES: as above
  uint64_t Permuted(uint64_t rank) const;
  uint64_t Scrambled(uint64_t rank, uint64_t records) const;
  // How many are hot; one at least.
  uint64_t hot_records() const { return hot_; }

  const KeyDistribution& keys() const { return keys_; }
  uint64_t start() const { return start_; }

 private:
  uint64_t NextHot(uint64_t records, base::Random& random) const;
  uint64_t NextExponential(uint64_t records, base::Random& random) const;
  uint64_t RankOf(uint64_t records, base::Random& random) {
    zipf_.Resize(records);
    return zipf_.Rank(random);
  }

  const KeyDistribution keys_;
  const uint64_t start_;
  const uint32_t threads_;
  const uint64_t hot_;
  const int permuted_bits_;  // as many as the records at the start need
  base::ZipfSampler zipf_;
  uint64_t sequence_;
};

}  // namespace weft::bench
