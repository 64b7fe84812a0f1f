// bench/drive/rate_search.h: the highest rate at which something holds, by halving the gap between
// one at which it does and one at which it does not.
//
// If it holds at a rate, it is taken to hold at all lower ones. Where answers contradict that (a
// busy moment), the lowest rate that failed counts: the result is never above a rate that was
// refuted.
//
// Units     requests a second.
// Threads   one owner.
// Cost      log2(log(highest / lowest) / log(1 + tolerance)) answers.
#pragma once

#include <limits>
#include <optional>

namespace weft::bench {

class RateSearch {
 public:
  // Searches between 0 and `top`, which nothing exceeds. Rates closer to each other than
  // `tolerance` (0.02: 2 %) are the same. REQUIRES: top > 0, 0 < tolerance < 1
  RateSearch(double top, double tolerance) : top_(top), tolerance_(tolerance) {}

  // What to try now; none: the search is over.
  std::optional<double> Next() const;
  void Told(double rate, bool holds);
  // The highest rate known to hold; none: none did.
  std::optional<double> Highest() const;

 private:
  static constexpr double kLeast = 1.0 / 512;  // of the top: below it nothing is looked for

  double top_;
  double tolerance_;
  double holds_ = 0;  // 0: none
  double fails_ = std::numeric_limits<double>::infinity();
};

}  // namespace weft::bench
