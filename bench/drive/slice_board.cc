#include "bench/drive/slice_board.h"

#include <utility>

#include "base/check.h"
#include "bench/harness/samples.h"

namespace weft::bench {

void SliceBoard::HandOver(uint64_t slice, const SliceLatency& seen) {
  base::MutexLock lock(&mutex_);
  WEFT_CHECK(slice >= rows_.size());
  while (open_.size() <= slice - rows_.size()) open_.emplace_back();
  Open& open = open_[slice - rows_.size()];
  open.seen.reads_ns.Merge(seen.reads_ns);
  open.seen.writes_ns.Merge(seen.writes_ns);
  open.threads++;
  while (!open_.empty() && open_.front().threads == threads_) {
    auto& [all, writes] = open_.front().seen;
    std::optional<double> read_p99_us, write_p99_us;
    if (all.count() != 0) read_p99_us = PercentileUs(all, 99);
    if (writes.count() != 0) write_p99_us = PercentileUs(writes, 99);
    all.Merge(writes);
    rows_.push_back({.at_s = static_cast<double>(rows_.size()) * slice_s_,
                     .seconds = slice_s_,
                     .operations = all.count(),
                     .p50_us = PercentileUs(all, 50),
                     .p99_us = PercentileUs(all, 99),
                     .max_us = static_cast<double>(all.max()) * 1e-3,
                     .read_p99_us = read_p99_us,
                     .write_p99_us = write_p99_us});
    ended_.push_back({.row = rows_.back(), .latency_ns = std::move(all)});
    open_.pop_front();
  }
}

std::vector<SliceRow> SliceBoard::Rows() const {
  base::MutexLock lock(&mutex_);
  return rows_;
}

std::vector<EndedSlice> SliceBoard::TakeEnded() {
  base::MutexLock lock(&mutex_);
  return std::exchange(ended_, {});
}

}  // namespace weft::bench
