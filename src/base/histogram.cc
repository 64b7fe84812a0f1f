#include "base/histogram.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace weft::base {

uint64_t Histogram::CellEnd(size_t cell) {
  if (cell < 2 * kHalf) return cell;
  const size_t shift = cell / kHalf - 1;
  const uint64_t top = cell - shift * kHalf;
  return ((top + 1) << shift) - 1;
}

void Histogram::Merge(const Histogram& other) {
  if (other.count_ == 0) return;
  if (cells_.empty()) cells_.resize(kCells);
  const size_t last = CellOf(other.max_);
  for (size_t i = CellOf(other.min_); i <= last; ++i) cells_[i] += other.cells_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

void Histogram::Reset() {
  if (count_ == 0) return;
  const auto cell = [this](size_t i) { return cells_.begin() + static_cast<ptrdiff_t>(i); };
  std::fill(cell(CellOf(min_)), cell(CellOf(max_) + 1), 0);
  count_ = 0;
  sum_ = 0;
  min_ = UINT64_MAX;
  max_ = 0;
}

uint64_t Histogram::Percentile(double percent) const {
  WEFT_CHECK(percent >= 0 && percent <= 100);
  if (count_ == 0) return 0;
  // 99.9 % of 1,000 is 999, though in binary fractions it comes out a hair above.
  const double share = percent / 100 * static_cast<double>(count_);
  const auto wanted = static_cast<uint64_t>(std::ceil(share * (1 - 1e-12)));
  uint64_t seen = 0;
  const size_t last = CellOf(max_);
  for (size_t i = CellOf(min_); i <= last; ++i) {
    seen += cells_[i];
    if (seen >= std::max<uint64_t>(wanted, 1)) return std::min(CellEnd(i), max_);
  }
  return max_;
}

}  // namespace weft::base
