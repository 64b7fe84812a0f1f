#include "sim/prefetch/hit_table_pacu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/prefetch/prefetch_test_kit.h"

namespace weft::sim {
namespace {

using testing::ElementsAre;

TEST(HitTable, ThreeBitsABucket) {
  // A 2 GB index: 12 MB.
  EXPECT_EQ(HitTable((uint64_t{2} << 30) / 64, 8).bytes(), uint64_t{12} << 20);
  EXPECT_EQ(HitTable(1, 8).bytes(), 1u);
  EXPECT_EQ(HitTable(3, 8).bytes(), 2u);
  EXPECT_EQ(HitTable(8, 8).bytes(), 3u);
  EXPECT_EQ(HitTable(9, 7).bytes(), 4u);
  EXPECT_EQ(HitTable(16, 4).bytes(), 4u);
  EXPECT_EQ(HitTable(16, 1).bytes(), 0u);
}

TEST(HitTable, RemembersLikeAnArray) {
  std::mt19937_64 random(TestSeed());
  for (const int slots : {1, 2, 3, 5, 8}) {
    constexpr uint64_t kBuckets = 1001;
    HitTable table(kBuckets, slots);
    std::vector<int> model(kBuckets, 0);
    for (int step = 0; step < 20'000; ++step) {
      const uint64_t bucket = random() % kBuckets;
      ASSERT_EQ(table.Predict(bucket), model[bucket]);
      model[bucket] = static_cast<int>(random() % static_cast<uint64_t>(slots));
      table.Learn(bucket, model[bucket]);
      const uint64_t other = random() % kBuckets;
      ASSERT_EQ(table.Predict(other), model[other]);
    }
  }
}

TEST(HitTablePacu, PredictsTheLastHitAndSlot0AtFirst) {
  UnitDriver driver({.pacu = "hittable"});
  EXPECT_EQ(driver.made.hit_table_bytes, 64u * 3 / 8);
  driver.ReadBucket(4, 0);
  EXPECT_EQ(driver.TakeSlots(4), std::vector<int>{0});
  driver.Hit(4, 5, 1);
  driver.Hit(5, 7, 1);
  driver.ReadBucket(4, 2);
  EXPECT_EQ(driver.TakeSlots(4), std::vector<int>{5});
  driver.ReadBucket(5, 3);
  EXPECT_EQ(driver.TakeSlots(5), std::vector<int>{7});
  driver.ReadBucket(6, 4);
  EXPECT_EQ(driver.TakeSlots(6), std::vector<int>{0});
}

TEST(HitTablePacu, ALookupThatFoundNothingTeachesNothing) {
  UnitDriver driver({.pacu = "hittable"});
  driver.Hit(4, 5, 0);
  driver.Hit(4, kNoSlot, 1);
  driver.ReadBucket(4, 2);
  EXPECT_EQ(driver.TakeSlots(4), std::vector<int>{5});
  EXPECT_EQ(driver.counts().hits, 1);
  driver.Hit(4, kNoSlot, 3);
  EXPECT_EQ(driver.counts().addresses_absent, 1);
}

TEST(HitTablePacu, EmptyAndChainedSlotsAskForNothing) {
  UnitDriver driver({.pacu = "hittable"}, SmallShape(), 4);
  driver.Hit(4, 6, 0);
  driver.Hit(5, 3, 0);
  driver.table.At(5, 3).is_chain = true;
  driver.ReadBucket(4, 1);
  driver.ReadBucket(5, 1);
  EXPECT_TRUE(driver.TakeAsked().empty());
  EXPECT_EQ(driver.counts().triggers_nothing, 2);
}

TEST(HitTablePacu, ItsLatencyHidesBehindTheBucketsRead) {
  const auto asked_at = [](int64_t latency_ns, Time shortest_read) {
    UnitDriver driver(
        {.pacu = "hittable", .hit_table_ns = latency_ns, .shortest_read_ps = shortest_read});
    driver.ReadBucket(4, 1000);
    return driver.TakeAsked().at(0).at;
  };
  EXPECT_EQ(asked_at(10, 22'500), 1000);
  EXPECT_EQ(asked_at(22, 22'500), 1000);
  EXPECT_EQ(asked_at(60, 22'500), 1000 + 37'500);
  EXPECT_EQ(asked_at(10, 0), 11'000);
}

TEST(HitTablePacu, BucketsThatItDoesNotKnowAreHitInSlot0) {
  UnitDriver driver({.pacu = "hittable", .hit_table_buckets = 10});
  EXPECT_EQ(driver.made.hit_table_bytes, 4u);
  for (const uint64_t bucket : {0u, 3u, 9u, 10u, 63u}) driver.Hit(bucket, 5, 0);
  driver.ReadBucket(9, 1);
  EXPECT_EQ(driver.TakeSlots(9), std::vector<int>{5});
  driver.ReadBucket(10, 2);
  EXPECT_EQ(driver.TakeSlots(10), std::vector<int>{0});
  driver.ReadBucket(63, 3);
  EXPECT_EQ(driver.TakeSlots(63), std::vector<int>{0});
}

TEST(HitTablePacu, IsJudgedPerLookupAndPerTrigger) {
  UnitDriver driver({.pacu = "hittable"});
  driver.Hit(4, 0, 0);  // as it is at first
  driver.Hit(4, 2, 1);
  driver.Hit(4, 2, 2);
  driver.ReadBucket(4, 3);
  driver.Hit(4, 2, 4, 1);  // another core changes nothing of what was predicted
  driver.Hit(4, 3, 5, 1);
  driver.Hit(4, 2, 6);
  EXPECT_EQ(driver.counts().hits, 6);
  EXPECT_EQ(driver.counts().hits_predicted, 3);
  EXPECT_EQ(driver.counts().hit_accuracy(), 0.5);
  EXPECT_EQ(driver.counts().addresses_right, 1);
}

TEST(HitTablePacu, ControllersShareTheTable) {
  UnitDriver driver({.pacu = "hittable"}, SmallShape(), 8, 1, 2);
  EXPECT_EQ(driver.made.hit_table_bytes, 64u * 3 / 8);  // of both together
  driver.made.units.at(1)->OnMark(HitMark(4, 6), 0, 0);
  driver.ReadBucket(4, 1);
  EXPECT_EQ(driver.TakeSlots(4), std::vector<int>{6});
}

}  // namespace
}  // namespace weft::sim
