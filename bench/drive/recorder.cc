#include "bench/drive/recorder.h"

#include <algorithm>

namespace weft::bench {

void OutcomeCounts::Merge(const OutcomeCounts& other) {
  done += other.done;
  missing += other.missing;
  missing_by_right += other.missing_by_right;
  refused += other.refused;
}

Recorder::Recorder(uint64_t begin_ns, uint64_t end_ns, double slice_s, SliceBoard* board)
    : begin_ns_(begin_ns),
      end_ns_(end_ns),
      slice_ns_(std::max<uint64_t>(1, static_cast<uint64_t>(slice_s * 1e9))),
      board_(*board),
      slice_end_ns_(begin_ns + slice_ns_) {}

void Recorder::Add(OperationKind kind, uint64_t at_ns, uint64_t latency_ns, uint64_t records) {
  // What ends late counts in the slice that is under way: those before are handed over.
  if (at_ns >= slice_end_ns_) ReachedNs(at_ns);
  by_kind_[static_cast<size_t>(kind)].Record(latency_ns);
  slice_.Record(latency_ns);
  records_ += records;
  last_end_ns_ = std::max(last_end_ns_, at_ns + latency_ns);
}

void Recorder::AddOutcome(OutcomeKind outcome, bool by_right) {
  switch (outcome) {
    case OutcomeKind::kDone: outcomes_.done++; break;
    case OutcomeKind::kMissing:
      outcomes_.missing++;
      outcomes_.missing_by_right += by_right;
      break;
    case OutcomeKind::kRefused: outcomes_.refused++; break;
    case OutcomeKind::kWrong: break;  // ends the run
  }
}

void Recorder::ReachedNs(uint64_t now_ns) {
  while (now_ns >= slice_end_ns_ && slice_end_ns_ <= end_ns_) {
    board_.HandOver(slice_number_++, slice_);
    slice_.Reset();
    slice_end_ns_ += slice_ns_;
  }
}

void Recorder::End(uint64_t now_ns) { ReachedNs(std::min(now_ns, end_ns_)); }

}  // namespace weft::bench
