// sim/prefetch/oracle_pacu.h: a unit of imposed accuracy, at no cost of time. It chooses the right
// slot with a given probability, otherwise one of the bucket's other valid slots, all alike. If
// there is no other, it chooses the object of another bucket.
//
// It learns the right slot from kKey. If the key is not in the bucket, nothing is right. Its draws
// depend on the seed, the controller, the core, and the number of the core's earlier keys. They
// don't depend on when anything happens, so runs of different timing draw the same.
//
// Threads   one owner.
// Source    the simulator's specification, section 3.5, "Accuracy control".
#pragma once

#include <cstdint>
#include <vector>

#include "sim/prefetch/key_matcher.h"
#include "sim/prefetch/pacu.h"

namespace weft::sim {

class OraclePacu final : public Pacu {
 public:
  // The table must outlive it.
  // REQUIRES: 0 <= accuracy <= 1, pending_max > 0
  OraclePacu(double accuracy, int pending_max, uint64_t seed, int controller,
             const TableImage* table, UnitCounts* counts);

  void OnBucket(const BucketRead& read, std::vector<Choice>* choices) override;
  void OnKey(const Record& record, uint64_t bucket, int core, Time now,
             std::vector<Choice>* choices) override;

 private:
  enum class Purpose : uint64_t { kIsRight, kSlot, kBucket };

  Choice Decide(const BucketRead& read, const BucketKey& key, Time now) const;
  // An object of another bucket; none if there is none.
  void AddStranger(const BucketKey& key, Choice* choice) const;
  // All 64-bit numbers are equally likely.
  uint64_t Draw(const BucketKey& key, Purpose purpose) const;
  static uint64_t Below(uint64_t n, uint64_t drawn);

  const double accuracy_;
  const uint64_t seed_;
  const int controller_;
  const TableImage* const table_;
  KeyMatcher matcher_;
  std::vector<uint64_t> keys_;  // of each core so far
};

}  // namespace weft::sim
