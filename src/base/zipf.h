// base/zipf.h: ranks that follow Zipf's law within a bound, as the YCSB workloads draw their keys.
//
// Rank k (from 0) has probability 1 / (k + 1)^theta / zeta(n, theta). Scramble spreads the popular
// ranks over the key space, so that neighbours in rank are strangers in memory.
//
// Threads   immutable after construction: share one among threads, each with its own randomness.
// Cost      construction sums n powers once (10 M: about 0.3 s); a draw is one power.
// Source    J. Gray et al., "Quickly Generating Billion-Record Synthetic Databases", SIGMOD'94.
//           Ranks 0 and 1 are exact, the rest follow a continuous approximation. YCSB scrambles
//           draws from a fixed 10^10 ranks; we draw from the n there are, so that theta means what
//           it says for any n.
#pragma once

#include <cstdint>

namespace weft::base {

class Zipf {
 public:
  // REQUIRES: n >= 2, 0 < theta < 1
  Zipf(uint64_t n, double theta);

  // The rank, below n, for a uniform `unit` in [0, 1). Monotonic: larger units, rarer ranks.
  uint64_t Rank(double unit) const;
  // Rank's place among the n keys: a fixed hash of the rank, so two ranks may share a key.
  uint64_t Scramble(uint64_t rank) const;

  uint64_t n() const { return n_; }
  double theta() const { return theta_; }
  // Probability that the law gives to `rank`.
  double Probability(uint64_t rank) const;

 private:
  // Constant after construction
  uint64_t n_;
  double theta_;
  double zeta_n_;
  double alpha_;
  double eta_;
  double second_;  // 1 + 0.5^theta: where rank 1 ends
};

}  // namespace weft::base
