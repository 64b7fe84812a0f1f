// bench/pipeline/interval.h: periodical scheduling: how many queries a batch takes, so that their
// mean latency stays within the interval.
//
// After every kNotes batches the size follows the mean of these, at most doubled or halved, aiming
// at kAim of the interval. A batch that the system held up counts for little: at most kHeldUp times
// the median, or a single one would halve the size. The bound is on the mean over queries, which is
// longer: held-up batches add to it, and larger batches have more of the queries. The aim is
// lowered by what they add in the long run (some kLongRun rounds), down to kAim / kMostAdded.
// Beyond that no size of batches would bring the mean into the interval.
//
// Step: on a device most of a small batch's latency is also that of a larger one. A size in
// proportion to the latency would take tens of rounds to grow. So past changes of size and of
// latency, both in logarithms, say what the next one will do (elasticity, kLeastElastic to 1). Near
// the aim elasticity is not used: it would answer chance with four times as much.
//
// A part of the interval for each stage, as in paper 000, makes sense if each has its own threads.
// Here a worker runs all that are on the CPU. A stage on a device has a part of its time that no
// smaller batch shortens: such a bound would shrink batches to nothing while latency is far from
// the interval (docs/design/0008-any-processor.md).
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
  static constexpr double kTelling = 0.1;  // smallest change of size that tells; also what is far
  static constexpr uint32_t kStep = 64;  // sizes are multiples of it: kSetQueries of a device's job

  // Begins with the multiple of kStep up to `queries_first`, kStep at least.
  // REQUIRES: interval_us > 0, queries_max >= kStep and a multiple of it
  IntervalController(double interval_us, uint32_t queries_max, uint32_t queries_first = kStep);

  // Queries for the next batch.
  uint32_t size() const { return size_; }
  // A batch of `queries` is done. Sizes other than size() are left out: a batch that was under way
  // while the size changed says little of the new one.
  void Note(uint32_t queries, double latency_us);

 private:
  // The share of the interval that the mean of kNotes batches takes, where held-up ones count for
  // little. Counts them for Added.
  double FilledByNotes();
  // The long-run mean over queries, over that of FilledByNotes; 1 to kMostAdded.
  double Added() const;

  // Constant after construction.
  const double interval_us_;
  const uint32_t queries_max_;

  double wanted_;  // queries; size_ is the multiple of kStep up to it
  uint32_t size_;
  double told_size_ = 0, told_filled_ = 0;  // of an earlier round, since which size has changed
  double elasticity_ = 1;
  // Sums over rounds, in which later ones weigh more: weights, sizes, and latencies over the
  // interval, by query, and by batch where held-up ones count for little.
  double long_rounds_ = 0, long_queries_ = 0, long_filled_queries_ = 0, long_filled_ = 0;
  uint32_t noted_ = 0;
  std::array<double, kNotes> latencies_us_{};
};

}  // namespace weft::bench
