// processor/mirror/copy_buckets.h: copies buckets of an index that others are changing, wherever
// they lie in it, to where a mirror's memory wants them.
//
// Each word is copied whole. Words of one bucket may be of different moments: those that change
// meanwhile are announced for a later call (cache/change_rings.h).
//
// Cost      on a table that no cache holds, some nanoseconds a bucket: they are asked for ahead.
// Threads   any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "task/bucket.h"

namespace weft::processor {

// As many misses as a core has under way, and some on their way to be.
inline constexpr size_t kBucketsAhead = 24;

// Bucket numbers[i] of `table` goes to *to(i), a task::Bucket.
template <typename To>
void CopyBuckets(const task::Bucket* table, std::span<const uint64_t> numbers, To to) {
  for (size_t i = 0; i < numbers.size(); i++) {
    if (i + kBucketsAhead < numbers.size()) task::Prefetch(&table[numbers[i + kBucketsAhead]]);
    const task::Bucket& from = table[numbers[i]];
    task::Bucket* const copy = to(i);
    for (uint32_t s = 0; s < kBucketSlots; s++)
      copy->slots[s] = task::LoadAcquire64(&from.slots[s]);
  }
}

}  // namespace weft::processor
