// bench/pipeline/interval.h: periodical scheduling: how many queries a batch takes, so that their
// mean latency stays within the interval.
//
// After every kNotes batches the size follows the mean of what was seen, at most doubled or halved,
// aiming at kAim of the interval. Single batches that the system held up count for little there:
// none counts for more than kHeldUp times the median, or one would halve the size. What is to be
// kept is the mean of queries, which is longer: by what those batches add, and as larger batches
// have more of the queries. By how much, in the long run (some kLongRun rounds), the aim is lower,
// down to kAim / kMostAdded. Beyond that no size of batches would bring the mean into the interval.
//
// How much: on a device most of a small batch's latency is that of a larger one, too, so a size in
// proportion to the latency would take tens of rounds to grow. What changes of size have done to
// the latency, both in logarithms, tells what the next one will do (elasticity, kLeastElastic to
// 1). Near the aim it is not asked: that would be to answer chance with four times as much.
//
// A part of the interval for each stage, as in paper 000, makes sense where each has threads of its
// own. Here a worker runs all that are on the CPU, and a stage on a device has a part of its time
// that no smaller batch shortens: such a bound would shrink batches to nothing where latency is far
// from the interval (docs/design/0008-any-processor.md).
//
// Units     microseconds; queries.
// Threads   one.
// Source    paper 000, sections III-C and V.
#pragma once

#include <array>
#include <cstdint>

namespace weft::bench {

class IntervalController {
 public:
  static constexpr uint32_t kNotes = 8;
  static constexpr double kAim = 0.9;
  static constexpr double kHeldUp = 3;
  static constexpr double kLongRun = 32;  // rounds of kNotes batches
  static constexpr double kMostAdded = 1.5;
  static constexpr double kOnTheWay = 1.5;  // by so much a size grows that is far too small
  static constexpr double kLeastElastic = 0.25;
  static constexpr double kTelling = 0.1;  // a change of size that tells, and what is far
  static constexpr uint32_t kStep = 64;  // sizes are multiples of it: kSetQueries of a device's job

  // Begins with the multiple of kStep up to `queries_first`, kStep at least.
  // REQUIRES: interval_us > 0, queries_max >= kStep and a multiple of it
  IntervalController(double interval_us, uint32_t queries_max, uint32_t queries_first = kStep);

  // Queries for the next batch.
  uint32_t size() const { return size_; }
  // A batch of `queries` is done. Sizes other than size() are left out: what was under way while
  // the size changed says little of the new one.
  void Note(uint32_t queries, double latency_us);

 private:
  // Of the interval, the mean of kNotes batches where those held up count for little. Counts them
  // for Added.
  double FilledByNotes();
  // The mean of queries, in the long run, over that of FilledByNotes; 1 to kMostAdded.
  double Added() const;

  // Constant after construction.
  const double interval_us_;
  const uint32_t queries_max_;

  double wanted_;  // queries; size_ is the multiple of kStep up to it
  uint32_t size_;
  double told_size_ = 0, told_filled_ = 0;  // a round before, from which size has changed
  double elasticity_ = 1;
  // Of rounds in the long run, the later the more: their weights, their sizes, their latencies over
  // the interval by query, and by batch where those held up count for little.
  double long_rounds_ = 0, long_queries_ = 0, long_filled_queries_ = 0, long_filled_ = 0;
  uint32_t noted_ = 0;
  std::array<double, kNotes> latencies_us_{};
};

}  // namespace weft::bench
