// bench/drive/recorder.h: what one thread of a load has seen: latencies by kind of operation, what
// became of them, and its part of the time series.
//
// Only what falls into the run's window, [begin, end), counts: in a closed loop what ended in it,
// in an open loop what was due in it, however late it ended.
//
// Units     nanoseconds; instants are base::NowNs.
// Threads   one owner; merged when the threads have ended.
// Cost      a comparison an operation; two increments for neighbours that took as long, as those of
//           one answer do.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/histogram.h"
#include "bench/drive/slice_board.h"
#include "bench/workload/operation.h"

namespace weft::bench {

struct OutcomeCounts {
  uint64_t done = 0;
  uint64_t missing = 0;  // of these, by right: missing_by_right
  uint64_t missing_by_right = 0;
  uint64_t refused = 0;

  uint64_t Total() const { return done + missing + refused; }
  void Merge(const OutcomeCounts& other);
};

class Recorder {
 public:
  // end_ns UINT64_MAX: until it is over. `board` must outlive it.
  Recorder(uint64_t begin_ns, uint64_t end_ns, double slice_s, SliceBoard* board);

  bool Counts(uint64_t at_ns) const { return at_ns >= begin_ns_ && at_ns < end_ns_; }
  // `at_ns` decides whether it counts, and in which slice.
  void Add(OperationKind kind, uint64_t at_ns, uint64_t latency_ns, uint64_t records) {
    // What ends late counts in the slice that is under way: those before are handed over.
    if (at_ns >= slice_end_ns_) ReachedNs(at_ns);
    if (kind != alike_kind_ || latency_ns != alike_ns_) {
      RecordAlike();
      alike_kind_ = kind;
      alike_ns_ = latency_ns;
    }
    alike_++;
    records_ += records;
    last_end_ns_ = std::max(last_end_ns_, at_ns + latency_ns);
  }
  void AddOutcome(OutcomeKind outcome, bool by_right) {
    outcomes_.done += outcome == OutcomeKind::kDone;
    outcomes_.missing += outcome == OutcomeKind::kMissing;
    outcomes_.missing_by_right += outcome == OutcomeKind::kMissing && by_right;
    outcomes_.refused += outcome == OutcomeKind::kRefused;  // kWrong ends the run
  }
  // How late the client began what was due and could have been begun.
  void AddLag(uint64_t lag_ns) { lag_ns_.Record(lag_ns); }
  // Time also passes without operations.
  void ReachedNs(uint64_t now_ns);
  // Nothing more comes; it is `now_ns`.
  void End(uint64_t now_ns);

  // Once End was called.
  const std::array<base::Histogram, kOperationKinds>& by_kind() const { return by_kind_; }
  const base::Histogram& lag_ns() const { return lag_ns_; }
  const OutcomeCounts& outcomes() const { return outcomes_; }
  uint64_t records() const { return records_; }
  // When the last operation that counts ended; 0: there was none.
  uint64_t last_end_ns() const { return last_end_ns_; }

 private:
  void RecordAlike();

  const uint64_t begin_ns_;
  const uint64_t end_ns_;
  const uint64_t slice_ns_;
  SliceBoard& board_;
  std::array<base::Histogram, kOperationKinds> by_kind_;
  base::Histogram lag_ns_;
  SliceLatency slice_;
  // Operations that were added last, all alike, and are in no histogram yet.
  OperationKind alike_kind_ = OperationKind::kRead;
  uint64_t alike_ns_ = 0;
  uint64_t alike_ = 0;
  uint64_t slice_number_ = 0;
  uint64_t slice_end_ns_;
  OutcomeCounts outcomes_;
  uint64_t records_ = 0;
  uint64_t last_end_ns_ = 0;
};

}  // namespace weft::bench
