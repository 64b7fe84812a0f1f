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

void Recorder::RecordAlike() {
  if (alike_ == 0) return;
  by_kind_[static_cast<size_t>(alike_kind_)].Record(alike_ns_, alike_);
  const bool reads = alike_kind_ == OperationKind::kRead || alike_kind_ == OperationKind::kScan;
  (reads ? slice_.reads_ns : slice_.writes_ns).Record(alike_ns_, alike_);
  alike_ = 0;
}

void Recorder::ReachedNs(uint64_t now_ns) {
  while (now_ns >= slice_end_ns_ && slice_end_ns_ <= end_ns_) {
    RecordAlike();
    board_.HandOver(slice_number_++, slice_);
    slice_.reads_ns.Reset();
    slice_.writes_ns.Reset();
    slice_end_ns_ += slice_ns_;
  }
}

void Recorder::End(uint64_t now_ns) {
  ReachedNs(std::min(now_ns, end_ns_));
  RecordAlike();
}

}  // namespace weft::bench
