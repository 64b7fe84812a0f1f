#include "task/bucket.h"

#include <gtest/gtest.h>

#include "task/index.h"
#include "task/table_test_kit.h"

namespace weft::task {
namespace {

u64 MatchByLoop(const Bucket& bucket, u64 tag) {
  u64 matches = 0;
  for (u32 i = 0; i < kBucketSlots; i++)
    if (bucket.slots[i] >> 48 == tag) matches |= u64{1} << (8 * i + 7);
  return matches;
}

TEST(Bucket, MatchTagsAgreesWithALoop) {
  std::mt19937_64 random(TestSeed());
  alignas(64) Bucket bucket;
  uint64_t matched = 0;
  for (uint32_t round = 0; round < Rounds(200000); round++) {
    // Few tags, so that none, one and several match; tags that share a byte with the wanted one.
    const u64 tags[] = {1, 0x0101, 0xff01, 0x8000, 0xffff, random() & 0xffff};
    for (u64& slot : bucket.slots)
      slot = random() % 4 == 0 ? kSlotEmpty
                               : MakeSlot(tags[random() % 6], 0, 0, random() & kLocationMask) |
                                     (random() & kStateMask);
    const u64 tag = tags[random() % 6] | u64{round % 2 == 0};
    if (tag == 0) continue;
    ASSERT_EQ(MatchTags(&bucket, tag), MatchByLoop(bucket, tag));
    matched += static_cast<uint64_t>(__builtin_popcountll(MatchByLoop(bucket, tag)));
  }
  EXPECT_GT(matched, uint64_t{Rounds(200000)} / 4);
}

TEST(Bucket, TagInTheLocationDoesNotMatch) {
  alignas(64) Bucket bucket = {};
  bucket.slots[3] = MakeSlot(1, 0, 0, 0xabcdabcd);
  EXPECT_EQ(MatchTags(&bucket, 0xabcd), 0u);
  EXPECT_EQ(MatchTags(&bucket, 1), u64{0x80} << 24);
}

TEST(Bucket, EmptySlotsMatchNoTagOfAHash) {
  alignas(64) Bucket bucket = {};
  for (u64 high = 0; high < 65536; high++) ASSERT_EQ(MatchTags(&bucket, TagOfHash(high << 48)), 0u);
}

TEST(Bucket, MatchesAreWalkedLowestFirst) {
  u64 matches = u64{0x80} << 8 | u64{0x80} << 40 | u64{0x80} << 56;
  EXPECT_EQ(FirstMatch(matches), 1u);
  matches = WithoutFirstMatch(matches);
  EXPECT_EQ(FirstMatch(matches), 5u);
  matches = WithoutFirstMatch(matches);
  EXPECT_EQ(FirstMatch(matches), 7u);
  EXPECT_EQ(WithoutFirstMatch(matches), 0u);
}

TEST(Index, FirstBucketIsWithinTheTableAndReachesAllOfIt) {
  std::mt19937_64 random(TestSeed());
  for (u64 count = 1; count <= 64; count++) {
    std::vector<bool> reached(count, false);
    for (uint32_t i = 0; i < 4000; i++) {
      const u64 bucket = FirstBucket(random(), count);
      ASSERT_LT(bucket, count);
      reached[bucket] = true;
    }
    EXPECT_EQ(std::count(reached.begin(), reached.end(), false), 0) << count;
  }
  for (const u64 count : {u64{3} << 20, u64{1} << 33}) {
    EXPECT_LT(FirstBucket(~u64{0}, count), count);
    EXPECT_EQ(FirstBucket(0, count), 0u);
  }
}

TEST(Index, FirstBucketDoesNotDependOnTheTag) {
  std::mt19937_64 random(TestSeed());
  for (uint32_t i = 0; i < 1000; i++) {
    const u64 low = random();
    ASSERT_EQ(FirstBucket(HashOf(1, low), 1000003), FirstBucket(HashOf(0xfffe, low), 1000003));
  }
}

TEST(Index, OtherBucketOfCuckooIsItsOwnInverseForAnyCount) {
  std::mt19937_64 random(TestSeed());
  for (uint32_t i = 0; i < Rounds(100000); i++) {
    const u64 count = i < 1000 ? i + 1 : random() % (u64{1} << 36) + 1;
    const u64 bucket = random() % count, tag = random() % 65535 + 1;
    const u64 other = OtherBucket(kPolicyCuckoo, bucket, tag, count);
    ASSERT_LT(other, count);
    ASSERT_EQ(OtherBucket(kPolicyCuckoo, other, tag, count), bucket);
  }
}

TEST(Index, OtherBucketOfSetAssociativeIsTheNeighbour) {
  for (const u64 count : {2u, 4u, 6u, 1002u}) {
    for (u64 bucket = 0; bucket < count; bucket++) {
      const u64 other = OtherBucket(kPolicySetAssociative, bucket, 77, count);
      ASSERT_LT(other, count);
      ASSERT_EQ(other / 2, bucket / 2);
      ASSERT_NE(other, bucket);
      ASSERT_EQ(OtherBucket(kPolicySetAssociative, other, 77, count), bucket);
    }
  }
}

TEST(Index, OtherBucketsOfOneBucketAreSpreadOverTheTable) {
  constexpr u64 kCount = 64;
  std::vector<uint32_t> hits(kCount, 0);
  for (u64 tag = 1; tag < 65536; tag++) hits[OtherBucket(kPolicyCuckoo, 5, tag, kCount)]++;
  for (const uint32_t n : hits) {
    EXPECT_GT(n, 65536 / kCount / 2);
    EXPECT_LT(n, 65536 / kCount * 2);
  }
}

}  // namespace
}  // namespace weft::task
