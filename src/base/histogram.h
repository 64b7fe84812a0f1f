// base/histogram.h: counts of values (nanoseconds, bytes, ...) at three significant digits.
//
// For latencies: constant memory, constant time a value, and histograms of several threads or hosts
// add up without loss. Not for exact order statistics of a few samples: sort those.
//
// Layout    log-linear. Values below 2,048 have a cell each; every further power of two is cut
//           into 1,024 equal cells, so a cell is never wider than 1/1,024 of its values.
// Units     the caller's. Values above kValueMax are counted as kValueMax.
// Threads   one writer; merge the finished histograms of several.
// Cost      a shift and an increment a value; 256 KiB from the first value on. All else goes over
//           the cells between the least value and the greatest, so an empty one costs nothing.
// Source    the idea of HdrHistogram (G. Tene), with one fixed precision.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::base {

class Histogram {
 public:
  static constexpr uint64_t kValueMax = (uint64_t{1} << 41) - 1;

  // REQUIRES: times > 0
  void Record(uint64_t value, uint64_t times = 1) {
    if (value > kValueMax) value = kValueMax;
    if (cells_.empty()) [[unlikely]]
      cells_.resize(kCells);
    cells_[CellOf(value)] += times;
    count_ += times;
    sum_ += static_cast<double>(value) * static_cast<double>(times);
    if (value < min_) min_ = value;
    if (value > max_) max_ = value;
  }
  void Merge(const Histogram& other);
  void Reset();

  uint64_t count() const { return count_; }
  // Exact, and 0 when nothing was recorded.
  uint64_t min() const { return count_ == 0 ? 0 : min_; }
  uint64_t max() const { return max_; }
  double Mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  // Smallest recorded value, rounded up to its cell's end, that at least `percent` of all values
  // do not exceed. 0 when nothing was recorded. REQUIRES: 0 <= percent <= 100
  uint64_t Percentile(double percent) const;
  // Calls visit(value, times) for each cell that was recorded to, upwards; `value` is the cell's
  // end, or max() where that is less.
  template <typename Visit>
  void ForEach(Visit visit) const {
    if (count_ == 0) return;
    const size_t last = CellOf(max_);
    for (size_t i = CellOf(min_); i <= last; ++i) {
      if (cells_[i] != 0) visit(std::min(CellEnd(i), max_), cells_[i]);
    }
  }

 private:
  static constexpr int kLinearBits = 11;                           // 2,048 single cells
  static constexpr size_t kHalf = size_t{1} << (kLinearBits - 1);  // cells a power of two
  static constexpr size_t kCells = kHalf * (41 - kLinearBits + 2);

  static size_t CellOf(uint64_t value) {
    const int shift = std::bit_width(value) - kLinearBits;
    if (shift <= 0) return value;
    return static_cast<size_t>(shift) * kHalf + (value >> shift);
  }
  static uint64_t CellEnd(size_t cell);

  std::vector<uint64_t> cells_;  // none before the first value
  uint64_t count_ = 0;
  double sum_ = 0;
  uint64_t min_ = UINT64_MAX;
  uint64_t max_ = 0;
};

}  // namespace weft::base
