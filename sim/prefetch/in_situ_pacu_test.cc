#include "sim/prefetch/in_situ_pacu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seed_test_kit.h"
#include "sim/prefetch/prefetch_test_kit.h"

namespace weft::sim {
namespace {

using testing::ElementsAre;

TEST(InSituPacu, TakesItsTimeAfterTheLaterOfKeyAndBucket) {
  for (const int64_t latency_ns : {0, 10, 100}) {
    UnitDriver driver({.pacu = "insitu", .insitu_ns = latency_ns});
    driver.Key(4, 5, 100 * kNs);
    driver.ReadBucket(4, 150 * kNs);
    EXPECT_EQ(driver.TakeAsked(), driver.Whole(4, 5, (150 + latency_ns) * kNs));
    EXPECT_EQ(driver.counts().triggers_waited, 0);
    driver.ReadBucket(4, 300 * kNs);
    driver.Key(4, 7, 333 * kNs);
    EXPECT_EQ(driver.TakeAsked(), driver.Whole(4, 7, (333 + latency_ns) * kNs));
    EXPECT_EQ(driver.counts().triggers_waited, 1);
    EXPECT_EQ(driver.counts().triggers_asked, 2);
    EXPECT_EQ(driver.counts().keys, 2);
  }
}

TEST(InSituPacu, WithoutAKeyItAsksForNothing) {
  UnitDriver driver({.pacu = "insitu"});
  driver.ReadBucket(4, 0);
  driver.Key(5, 1, 1);     // another bucket's
  driver.Key(4, 1, 1, 1);  // another core's
  EXPECT_TRUE(driver.TakeAsked().empty());
  driver.Key(4, 2, 5 * kNs);
  EXPECT_EQ(driver.TakeSlots(4), std::vector<int>{2});
}

TEST(InSituPacu, CoresThatReadABucketEachHaveTheirKey) {
  UnitDriver driver({.pacu = "insitu"});
  driver.Key(4, 1, 0, 0);
  driver.Key(4, 2, 0, 1);
  driver.ReadBucket(4, 10, 1);
  EXPECT_EQ(driver.TakeSlots(4), std::vector<int>{2});
  driver.ReadBucket(4, 20, 0);
  EXPECT_EQ(driver.TakeSlots(4), std::vector<int>{1});
}

TEST(InSituPacu, ALaterKeyForABucketReplacesTheEarlier) {
  UnitDriver driver({.pacu = "insitu"});
  driver.Key(4, 1, 0);  // the bucket was in the cache
  driver.Key(4, 2, 1);
  driver.ReadBucket(4, 10);
  EXPECT_EQ(driver.TakeSlots(4), std::vector<int>{2});
  EXPECT_EQ(driver.counts().keys_displaced, 1);
}

TEST(InSituPacu, AKeyThatIsNotThereAsksForNothing) {
  UnitDriver driver({.pacu = "insitu"});
  driver.Mark(KeyMark(driver.shape, 4, 999, kNoSlot), 0);
  driver.ReadBucket(4, 10);
  EXPECT_TRUE(driver.TakeAsked().empty());
  EXPECT_EQ(driver.counts().triggers_nothing, 1);
  // In the overflow bucket: the chain's tag means nothing.
  driver.table.At(4, 7).is_chain = true;
  driver.Mark(KeyMark(driver.shape, 4, 107, kNoSlot), 20 * kNs);
  driver.ReadBucket(4, 30 * kNs);
  EXPECT_TRUE(driver.TakeAsked().empty());
  EXPECT_EQ(driver.counts().triggers_nothing, 2);
  EXPECT_EQ(driver.counts().tag_collisions, 0);
}

TEST(InSituPacu, ATagCollisionFetchesTheWrongEntry) {
  UnitDriver driver({.pacu = "insitu"});
  driver.table.At(4, 2).tag = 106;
  driver.Key(4, 6, 0);
  driver.ReadBucket(4, 10);
  driver.Hit(4, 6, 100 * kNs);
  EXPECT_EQ(driver.TakeSlots(4), std::vector<int>{2});
  EXPECT_EQ(driver.counts().tag_collisions, 1);
  EXPECT_EQ(driver.counts().addresses_wrong, 1);
  // The same tag behind the right entry does no harm.
  driver.Key(4, 2, 200 * kNs);
  driver.Mark(KeyMark(driver.shape, 4, 106, 2), 200 * kNs);
  driver.ReadBucket(4, 210 * kNs);
  EXPECT_EQ(driver.TakeSlots(4), std::vector<int>{2});
  EXPECT_EQ(driver.counts().tag_collisions, 1);
}

TEST(InSituPacu, CollisionsAreAsFrequentAsTagsMakeThem) {
  const uint64_t seed = TestSeed();
  std::mt19937_64 random(base::TestSeed(seed));
  UnitDriver driver({.pacu = "insitu", .insitu_ns = 0}, SmallShape(1024));
  for (uint64_t bucket = 0; bucket < 1024; ++bucket) {
    for (int slot = 0; slot < 8; ++slot) {
      driver.table.At(bucket, slot).tag = static_cast<uint16_t>(random() % 256);
    }
  }
  int64_t expected = 0;
  for (uint64_t bucket = 0; bucket < 1024; ++bucket) {
    const uint16_t tag = driver.table.At(bucket, 7).tag;
    bool collides = false;
    for (int slot = 0; slot < 7; ++slot) collides |= driver.table.At(bucket, slot).tag == tag;
    expected += collides;
    driver.Mark(KeyMark(driver.shape, bucket, tag, 7), static_cast<Time>(bucket));
    driver.ReadBucket(bucket, static_cast<Time>(bucket));
  }
  EXPECT_EQ(driver.counts().tag_collisions, expected);
  // 1 - (255/256)^7 of 1024 is 27.7, with a deviation of 5.2.
  EXPECT_NEAR(static_cast<double>(expected), 27.7, 5 * 5.2);
}

TEST(InSituPacu, FourBucketsAtOnceThenInOrder) {
  UnitDriver driver({.pacu = "insitu"});
  for (int core = 0; core < 6; ++core) {
    driver.Key(static_cast<uint64_t>(core), core, 0, core);
  }
  for (int core = 0; core < 6; ++core) {
    driver.ReadBucket(static_cast<uint64_t>(core), (100 + core) * kNs, core);
  }
  std::vector<UnitDriver::When> expected;
  // The fifth waits for the first, which ends at 110; the sixth for the second.
  constexpr std::array<Time, 6> kTimes = {110, 111, 112, 113, 120, 121};
  for (int core = 0; core < 6; ++core) {
    const auto bucket = static_cast<uint64_t>(core);
    for (const auto& each : driver.Whole(bucket, core, kTimes[bucket] * kNs)) {
      expected.push_back(each);
    }
  }
  EXPECT_EQ(driver.TakeAsked(), expected);
  EXPECT_EQ(driver.counts().triggers_queued, 2);
  EXPECT_EQ(driver.counts().queued_ps, (110 - 104 + 111 - 105) * kNs);

  UnitDriver one({.pacu = "insitu", .pacu_units = 1});
  for (int core = 0; core < 3; ++core) one.Key(1, core, 0, core);
  for (int core = 0; core < 3; ++core) one.ReadBucket(1, 0, core);
  const auto asked = one.TakeAsked();
  ASSERT_EQ(asked.size(), 12u);
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(asked[i].at, static_cast<Time>(i / 4 + 1) * 10 * kNs);
}

TEST(InSituPacu, AFullPendingBufferGivesUpTheOldest) {
  for (const int pending : {16, 3}) {
    UnitDriver driver({.pacu = "insitu", .pending_max = pending});
    const auto count = static_cast<uint64_t>(pending) + 2;
    for (uint64_t bucket = 0; bucket < count; ++bucket) {
      driver.ReadBucket(bucket, static_cast<Time>(bucket));
    }
    EXPECT_EQ(driver.counts().triggers_displaced, 2);
    for (uint64_t bucket = 0; bucket < count; ++bucket) driver.Key(bucket, 1, 1000 * kNs);
    std::vector<uint64_t> lines;
    for (const auto& each : driver.TakeAsked()) lines.push_back(each.line);
    ASSERT_EQ(lines.size(), static_cast<size_t>(pending) * 4);
    EXPECT_EQ(lines.front(), FirstLineOf(driver.shape, 2, 1));
    EXPECT_EQ(driver.counts().triggers, driver.counts().triggers_displaced +
                                            driver.counts().triggers_asked +
                                            driver.counts().triggers_nothing);
    // A displaced trigger chose nothing.
    driver.Hit(0, 1, 2000 * kNs);
    EXPECT_EQ(driver.counts().addresses_none, 1);
  }
}

TEST(InSituPacu, AFullKeyBufferGivesUpTheOldest) {
  UnitDriver driver({.pacu = "insitu"}, SmallShape(128));
  for (uint64_t bucket = 0; bucket <= KeyMatcher::kKeysMax; ++bucket) driver.Key(bucket, 1, 0);
  EXPECT_EQ(driver.counts().keys_displaced, 1);
  driver.ReadBucket(0, 10);
  EXPECT_TRUE(driver.TakeAsked().empty());
  driver.ReadBucket(1, 20 * kNs);
  EXPECT_EQ(driver.TakeSlots(1), std::vector<int>{1});
}

TEST(InSituPacu, LooksIntoTheBucketThatWasRead) {
  UnitDriver driver({.pacu = "insitu"});
  driver.ReadBucket(4, 0);
  const auto before = driver.Whole(4, 3, 30 * kNs);
  driver.table.At(4, 3).addr += 512;  // moved meanwhile
  driver.Key(4, 3, 20 * kNs);
  EXPECT_EQ(driver.TakeAsked(), before);
}

}  // namespace
}  // namespace weft::sim
