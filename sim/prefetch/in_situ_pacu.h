// sim/prefetch/in_situ_pacu.h: programmable logic in the controller that reads the bucket as the
// software would: it takes the first entry with the key's tag.
//
// It needs the key, which software sends. If another key's entry has the same tag and stands
// before, that one is fetched, because the software would read it too. A few buckets are looked
// into at once; more wait in order.
//
// Threads   one owner.
// Source    paper 004, section 3.3, after Widx (Kocberber et al., MICRO'13); the simulator's
//           specification, section 1.3.
#pragma once

#include <vector>

#include "sim/prefetch/key_matcher.h"
#include "sim/prefetch/pacu.h"

namespace weft::sim {

struct InSituOptions {
  Time latency = 10 * kPicosecondsPerNanosecond;  // a bucket's
  int units = 4;                                  // buckets at once
  int pending_max = 16;                           // buckets that wait for their key
};

class InSituPacu final : public Pacu {
 public:
  // REQUIRES: options.units > 0, options.pending_max > 0
  InSituPacu(const InSituOptions& options, UnitCounts* counts);

  void OnBucket(const BucketRead& read, std::vector<Choice>* choices) override;
  void OnKey(const Record& record, uint64_t bucket, int core, Time now,
             std::vector<Choice>* choices) override;

 private:
  Choice Decide(const BucketRead& read, const BucketKey& key, Time now);

  const Time latency_;
  UnitCounts* const counts_;
  KeyMatcher matcher_;
  std::vector<Time> free_at_;  // a unit's
  size_t next_unit_ = 0;       // with one latency for all, they become free in turns
};

}  // namespace weft::sim
