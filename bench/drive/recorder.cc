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
  if (kind != alike_kind_ || latency_ns != alike_ns_) {
    RecordAlike();
    alike_kind_ = kind;
    alike_ns_ = latency_ns;
  }
  alike_++;
  records_ += records;
  last_end_ns_ = std::max(last_end_ns_, at_ns + latency_ns);
}

void Recorder::RecordAlike() {
  if (alike_ == 0) return;
  by_kind_[static_cast<size_t>(alike_kind_)].Record(alike_ns_, alike_);
  slice_.Record(alike_ns_, alike_);
  alike_ = 0;
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
    RecordAlike();
    board_.HandOver(slice_number_++, slice_);
    slice_.Reset();
    slice_end_ns_ += slice_ns_;
  }
}

void Recorder::End(uint64_t now_ns) {
  ReachedNs(std::min(now_ns, end_ns_));
  RecordAlike();
}

}  // namespace weft::bench
