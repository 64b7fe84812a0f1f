#include "bench/drive/rate_search.h"

#include <algorithm>
#include <cmath>

namespace weft::bench {

std::optional<double> RateSearch::Next() const {
  if (holds_ >= top_) return std::nullopt;
  if (std::isinf(fails_)) return top_;
  if (holds_ > 0)
    return fails_ / holds_ <= 1 + tolerance_ ? std::nullopt
                                             : std::optional(std::sqrt(fails_ * holds_));
  return fails_ / 2 < top_ * kLeast ? std::nullopt : std::optional(fails_ / 2);
}

void RateSearch::Told(double rate, bool holds) {
  if (!holds) {
    fails_ = std::min(fails_, rate);
    // Nothing is known to hold below: what held was above, or is refuted now.
    if (holds_ >= fails_) holds_ = 0;
  } else if (rate < fails_) {
    holds_ = std::max(holds_, rate);
  }
}

std::optional<double> RateSearch::Highest() const {
  return holds_ > 0 ? std::optional(holds_) : std::nullopt;
}

}  // namespace weft::bench
