// base/zipf_sampler.h: ranks that follow Zipf's law exactly, over a number of ranks that
// may change at any time.
//
// Rank k (from 0) has probability (k + 1)^-theta / ZipfSum(n, theta). base/zipf.h does not do: from
// rank 2 on it follows a continuous approximation, which a chi-square test refuses at a million
// draws (zipf_sampler_test.cc shows it). Its theta is below 1, and each new number of ranks costs
// it a sum over all of them.
//
// Threads   one owner; const calls from any.
// Cost      a draw: a logarithm and an exponential, hardly ever more. Resize: as much.
// Source    W. Hörmann and G. Derflinger, Rejection-inversion to generate variates from monotone
//           discrete distributions, ACM TOMACS 6 (1996), section 3, with H(x) = (x^(1-theta) - 1) /
//           (1-theta), which goes on through theta = 1.
#pragma once

#include <cstdint>

#include "base/random.h"

namespace weft::base {

inline constexpr uint64_t kZipfRanksMax = uint64_t{1} << 40;
inline constexpr double kZipfThetaMin = 0.01;
inline constexpr double kZipfThetaMax = 10;

class ZipfSampler {
 public:
  // REQUIRES (both): 1 <= ranks <= kZipfRanksMax, theta within the limits above
  ZipfSampler(double theta, uint64_t ranks);
  void Resize(uint64_t ranks);

  // Below ranks().
  uint64_t Rank(Random& random) const;

  uint64_t ranks() const { return ranks_; }
  double theta() const { return theta_; }

 private:
  double H(double x) const;  // integral of x^-theta from 1 on
  double InverseOfH(double y) const;

  double theta_;
  double less_;      // 1 - theta
  double per_less_;  // 1 / (1 - theta); 0 where theta is 1
  double first_;     // H(1.5) - 1: where the first rank's stretch begins
  double sure_;      // a number this little above its draw is taken without a closer look
  uint64_t ranks_ = 0;
  double stretch_ = 0;  // from first_ to H(ranks + 0.5)
};

// The sum of k^-theta, k from 1 to n: exact to about 1e-13 of itself, at once for any n.
double ZipfSum(uint64_t n, double theta);

}  // namespace weft::base
