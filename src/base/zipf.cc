#include "base/zipf.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace weft::base {
namespace {

double Zeta(uint64_t n, double theta) {
  double sum = 0;
  for (uint64_t i = n; i >= 1; --i) sum += std::pow(static_cast<double>(i), -theta);
  return sum;
}

// FNV-1a over the eight bytes of `value`: the hash that YCSB scrambles with.
uint64_t Fnv64(uint64_t value) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int i = 0; i < 8; ++i) {
    hash = (hash ^ (value & 0xff)) * 0x100000001b3u;
    value >>= 8;
  }
  return hash;
}

}  // namespace

Zipf::Zipf(uint64_t n, double theta) : n_(n), theta_(theta) {
  WEFT_CHECK(n >= 2);
  WEFT_CHECK(theta > 0 && theta < 1);
  zeta_n_ = Zeta(n, theta);
  second_ = 1 + std::pow(0.5, theta);
  alpha_ = 1 / (1 - theta);
  // With n = 2 ranks 0 and 1 take all units, and the formula would divide by zero.
  eta_ = n == 2 ? 0
                : (1 - std::pow(2.0 / static_cast<double>(n), 1 - theta)) / (1 - second_ / zeta_n_);
}

uint64_t Zipf::Rank(double unit) const {
  const double mass = unit * zeta_n_;
  if (mass < 1) return 0;
  if (mass < second_ || n_ == 2) return 1;
  const double place = static_cast<double>(n_) * std::pow(eta_ * unit - eta_ + 1, alpha_);
  return std::min(static_cast<uint64_t>(place), n_ - 1);
}

uint64_t Zipf::Scramble(uint64_t rank) const { return Fnv64(rank) % n_; }

double Zipf::Probability(uint64_t rank) const {
  return std::pow(static_cast<double>(rank + 1), -theta_) / zeta_n_;
}

}  // namespace weft::base
