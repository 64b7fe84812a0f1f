// bench/drive/slice_board.h: a run's time series: what each slice brought, over all threads.
//
// Each thread has histograms of its current slice, and hands them over when it comes to the next.
// When all have, the board takes the slice's figures and frees its histograms. So a run of hours
// needs no more memory than one of seconds.
//
// Units     latencies nanoseconds in, microseconds out; times seconds since counting began.
// Threads   HandOver from each thread for its own slices, in order; all other calls from any.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/histogram.h"
#include "base/mutex.h"

namespace weft::bench {

struct SliceRow {
  double at_s = 0;
  double seconds = 0;
  uint64_t operations = 0;
  double p50_us = 0;
  double p99_us = 0;
  double max_us = 0;
  std::optional<double> read_p99_us;  // none: none ended in it
  std::optional<double> write_p99_us;
};

// What was seen in one slice.
struct SliceLatency {
  base::Histogram reads_ns;   // scans, too
  base::Histogram writes_ns;  // all others
};

struct EndedSlice {
  SliceRow row;
  base::Histogram latency_ns;
};

class SliceBoard {
 public:
  SliceBoard(int threads, double slice_s) : threads_(threads), slice_s_(slice_s) {}

  // A thread's part of `slice`, which it is past. A thread that had nothing in a slice hands over
  // empty histograms. `slice` counts up from 0 for each thread, without gaps.
  void HandOver(uint64_t slice, const SliceLatency& seen) WEFT_EXCLUDES(mutex_);
  // The slices that all threads are past.
  std::vector<SliceRow> Rows() const WEFT_EXCLUDES(mutex_);
  // The slices that ended since the last call; the board gives up their histograms.
  std::vector<EndedSlice> TakeEnded() WEFT_EXCLUDES(mutex_);

 private:
  struct Open {
    SliceLatency seen;
    int threads = 0;  // that have handed theirs over
  };

  const int threads_;
  const double slice_s_;
  mutable base::Mutex mutex_;
  std::deque<Open> open_ WEFT_GUARDED_BY(mutex_);  // from slice rows_.size() on
  std::vector<SliceRow> rows_ WEFT_GUARDED_BY(mutex_);
  std::vector<EndedSlice> ended_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace weft::bench
