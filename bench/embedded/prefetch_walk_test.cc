// Every way of prefetching finds every value, in tables with any number of objects a bucket.

#include "bench/embedded/prefetch_walk.h"

#include <gtest/gtest.h>

#include "task/search.h"

namespace weft::bench {
namespace {

constexpr uint64_t kBytes = 2u << 20;
constexpr size_t kLookups = 3000;

TEST(PrefetchTable, EachBucketHasAsManyAsAskedForAndSlotsKnowTheirLines) {
  PrefetchTable table({128, 1024}, kBytes, 1);
  for (const uint32_t per_bucket : {1u, 3u, 8u}) {
    table.Index(per_bucket, 2);
    ASSERT_EQ(table.table().bucket_count * per_bucket, table.objects());
    for (uint64_t bucket = 0; bucket < table.table().bucket_count; ++bucket) {
      for (uint32_t slot = 0; slot < kBucketSlots; ++slot) {
        const uint64_t word = table.table().buckets[bucket].slots[slot];
        ASSERT_EQ(word != 0, slot < per_bucket);
        if (word == 0) continue;
        const uint64_t begin = task::SlotLocation(word) * 8;
        const uint64_t end =
            begin + task::StoredBytes(task::ObjectAt(table.log(), task::SlotLocation(word)));
        const uint64_t lines = (end - 1) / 64 - begin / 64 + 1;
        ASSERT_EQ(LinesOfSlot(word), std::min<uint64_t>(lines, kSlotLinesMax));
      }
    }
  }
}

TEST(PrefetchLookups, NameAnotherSlotOfTheBucket) {
  PrefetchTable table({128}, kBytes, 1);
  table.Index(4, 2);
  const PrefetchLookups lookups(table, kLookups, 3);
  for (size_t i = 0; i < kLookups; ++i) {
    ASSERT_LT(lookups.other_slot[i], 4);
    ASSERT_NE(lookups.other_slot[i], table.SlotOf(lookups.id[i]));
    ASSERT_LT(lookups.percent[i], 100);
  }
}

TEST(RunWalk, EveryWayGivesEveryValue) {
  PrefetchTable table({128, 256, 1024}, kBytes, 1);
  for (const uint32_t per_bucket : {1u, 4u, 8u}) {
    table.Index(per_bucket, 2);
    PrefetchLookups lookups(table, kLookups, 3);
    for (size_t way = 0; way < kPrefetchWays; ++way) {
      for (const uint32_t batch : {1u, 7u, 32u}) {
        EXPECT_TRUE(
            GivesRightValues(static_cast<PrefetchWay>(way), table, lookups, kLookups, batch))
            << kPrefetchWayNames[way] << " " << per_bucket << " " << batch;
      }
    }
    // It is the values that are looked at.
    std::swap(lookups.id[5], lookups.id[6]);
    EXPECT_FALSE(GivesRightValues(PrefetchWay::kMean, table, lookups, kLookups, 32));
  }
}

}  // namespace
}  // namespace weft::bench
