// bench/pipeline/interval.h: periodical scheduling: how many queries a batch takes, so that no
// stage takes longer than its part of the interval and a query's mean latency stays within it.
//
// After every kNotes batches the size follows the median of what was seen, at most doubled or
// halved, aiming at kAim of the limits: single batches that the system held up count for little.
//
// Units     microseconds; queries.
// Threads   one.
// Source    paper 000, sections III-C and V: the interval is the bound of latency, each stage gets
//           an equal part of it, and the batch grows until the slowest stage fills its part.
#pragma once

#include <array>
#include <cstdint>

namespace weft::bench {

class IntervalController {
 public:
  static constexpr uint32_t kNotes = 8;
  static constexpr double kAim = 0.9;
  static constexpr uint32_t kStep = 64;  // sizes are multiples of it: kSetQueries of a device's job

  // REQUIRES: interval_us > 0, stages > 0, queries_max >= kStep and a multiple of it
  IntervalController(double interval_us, uint32_t stages, uint32_t queries_max);

  // Queries for the next batch.
  uint32_t size() const { return size_; }
  // A batch of `queries` is done: its longest stage and its latency. Sizes other than size() are
  // left out: what was under way while the size changed says little of the new one.
  void Note(uint32_t queries, double longest_stage_us, double latency_us);

 private:
  // Constant after construction.
  const double interval_us_;
  const double stage_us_;
  const uint32_t queries_max_;

  double wanted_ = kStep;  // queries; size_ is the multiple of kStep up to it
  uint32_t size_ = kStep;
  uint32_t noted_ = 0;
  std::array<double, kNotes> filled_{};  // share of the tighter limit that each batch took
};

}  // namespace weft::bench
