#include "bench/workload/record_space.h"

#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/seed_test_kit.h"
#include "bench/workload/record.h"

namespace weft::bench {
namespace {

TEST(RecordSet, KnowsWhatWasAdded) {
  RecordSet set;
  EXPECT_FALSE(set.Has(0));
  EXPECT_EQ(set.FirstNotIn(5), 5u);
  for (const uint64_t record : {uint64_t{5}, uint64_t{6}, uint64_t{7}, kRecordsMax - 1})
    set.Add(record);
  EXPECT_TRUE(set.Has(5) && set.Has(kRecordsMax - 1));
  EXPECT_FALSE(set.Has(4) || set.Has(8) || set.Has(kRecordsMax - 2));
  EXPECT_EQ(set.FirstNotIn(5), 8u);
  EXPECT_EQ(set.FirstNotIn(4), 4u);
  EXPECT_EQ(set.FirstNotIn(kRecordsMax - 1), kRecordsMax);
}

TEST(RecordSet, StretchesGoThroughWordsAndPieces) {
  RecordSet set;
  constexpr uint64_t kEnd = (1u << 20) + 100;
  for (uint64_t record = 60; record < kEnd; ++record) set.Add(record);
  EXPECT_EQ(set.FirstNotIn(60), kEnd);
  EXPECT_EQ(set.FirstNotIn(64), kEnd);
  EXPECT_EQ(set.FirstNotIn(1u << 20), kEnd);
}

TEST(RecordSpace, RecordsAreAcknowledgedInOrder) {
  RecordSpace space(10);
  EXPECT_EQ(space.acknowledged(), 10u);
  const RecordSpace::Range claimed = space.Claim(5, 100);
  EXPECT_EQ(claimed.begin, 10u);
  EXPECT_EQ(claimed.end, 15u);
  space.Settle(11, true);
  space.Settle(12, true);
  EXPECT_EQ(space.acknowledged(), 10u);  // 10 may still be on its way
  space.Settle(10, true);
  EXPECT_EQ(space.acknowledged(), 13u);
  space.Settle(14, true);
  EXPECT_EQ(space.acknowledged(), 13u);
  space.Settle(13, true);
  EXPECT_EQ(space.acknowledged(), 15u);
}

TEST(RecordSpace, ClaimsEndWhereTheyShould) {
  RecordSpace space;
  EXPECT_EQ(space.Claim(8, 10).end, 8u);
  const RecordSpace::Range last = space.Claim(8, 10);
  EXPECT_EQ(last.begin, 8u);
  EXPECT_EQ(last.end, 10u);
  const RecordSpace::Range none = space.Claim(8, 10);
  EXPECT_EQ(none.begin, none.end);
  RecordSpace full(kRecordsMax);
  const RecordSpace::Range beyond = full.Claim(1, kRecordsMax);
  EXPECT_EQ(beyond.begin, beyond.end);
}

TEST(RecordSpace, RefusedAndDeletedRecordsMayBeMissing) {
  RecordSpace space(10);
  EXPECT_FALSE(space.MayBeMissing(3));
  space.MarkDeleted(3);
  space.Claim(2, 100);
  space.Settle(10, false);
  space.Settle(11, true);
  EXPECT_EQ(space.acknowledged(), 12u);  // a refused one holds nobody up
  EXPECT_TRUE(space.MayBeMissing(3) && space.MayBeMissing(10));
  EXPECT_FALSE(space.MayBeMissing(4) || space.MayBeMissing(11));
}

// A reader never sees a record acknowledged that its writer has not settled.
TEST(RecordSpace, ThreadsNeverSeeWhatIsNotSettled) {
  constexpr uint64_t kRecords = 100'000;
  constexpr int kThreads = 4;
  RecordSpace space;
  std::vector<std::atomic<bool>> stored(kRecords);
  std::atomic<uint64_t> wrong{0};
  const auto write = [&](uint64_t seed) {
    base::Random random(base::TestSeed(seed));
    for (;;) {
      const RecordSpace::Range range = space.Claim(1 + random.Below(20), kRecords);
      if (range.begin == range.end) return;
      for (uint64_t record = range.end; record-- > range.begin;) {
        stored[record] = true;
        space.Settle(record, true);
        const uint64_t seen = space.acknowledged();
        if (seen > 0 && !stored[random.Below(seen)]) ++wrong;
        if (seen > 0 && !stored[seen - 1]) ++wrong;
      }
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) threads.emplace_back(write, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(space.acknowledged(), kRecords);
}

TEST(RecordSpace, VersionsAreNobodyElses) {
  RecordSpace space;
  std::set<uint32_t> firsts;
  for (int i = 0; i < 100; ++i) firsts.insert(space.ClaimVersions(16));
  EXPECT_EQ(firsts.size(), 100u);
  EXPECT_EQ(*firsts.rbegin(), 99u * 16);
}

}  // namespace
}  // namespace weft::bench
