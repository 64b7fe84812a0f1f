#include "base/zipf_sampler.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace weft::base {

ZipfSampler::ZipfSampler(double theta, uint64_t ranks)
    : theta_(theta), less_(1 - theta), per_less_(theta == 1 ? 0 : 1 / less_) {
  WEFT_CHECK(theta >= kZipfThetaMin && theta <= kZipfThetaMax);
  first_ = H(1.5) - 1;
  sure_ = 2 - InverseOfH(H(2.5) - std::pow(2, -theta));
  Resize(ranks);
}

void ZipfSampler::Resize(uint64_t ranks) {
  WEFT_CHECK(ranks >= 1 && ranks <= kZipfRanksMax);
  if (ranks == ranks_) return;
  ranks_ = ranks;
  stretch_ = H(static_cast<double>(ranks) + 0.5) - first_;
}

double ZipfSampler::H(double x) const {
  const double log = std::log(x);
  return less_ == 0 ? log : std::expm1(less_ * log) * per_less_;
}

double ZipfSampler::InverseOfH(double y) const {
  if (less_ == 0) return std::exp(y);
  // Rounding may lead below the pole.
  return std::exp(std::log1p(std::max(less_ * y, -1.0)) * per_less_);
}

uint64_t ZipfSampler::Rank(Random& random) const {
  for (;;) {
    const double y = first_ + random.Unit() * stretch_;
    const double x = InverseOfH(y);
    const double number = std::clamp(std::floor(x + 0.5), 1.0, static_cast<double>(ranks_));
    if (number - x <= sure_ || y >= H(number + 0.5) - std::pow(number, -theta_))
      return static_cast<uint64_t>(number) - 1;
  }
}

double ZipfSum(uint64_t n, double theta) {
  // Euler and Maclaurin: the first terms one by one, the rest as an integral with corrections.
  constexpr uint64_t kOneByOne = 1000;
  double sum = 0;
  const uint64_t begin = std::min(n, kOneByOne);
  for (uint64_t k = begin; k >= 1; --k) sum += std::pow(static_cast<double>(k), -theta);
  if (n == begin) return sum;
  const auto a = static_cast<double>(begin);
  const auto b = static_cast<double>(n);
  const double less = 1 - theta;
  const double log = std::log(b / a);
  const double integral = less == 0 ? log : std::pow(a, less) * std::expm1(less * log) / less;
  const double of_a = std::pow(a, -theta);
  const double of_b = std::pow(b, -theta);
  return sum + integral + (of_b - of_a) / 2 + theta * (of_a / a - of_b / b) / 12;
}

}  // namespace weft::base
