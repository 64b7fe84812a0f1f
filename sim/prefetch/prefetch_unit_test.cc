// What all units have in common: what triggers, what is left out, and what is counted.

#include "sim/prefetch/prefetch_unit.h"

#include <gtest/gtest.h>

#include "sim/prefetch/prefetch_test_kit.h"
#include "sim/prefetch/range_registers.h"

namespace weft::sim {
namespace {

TEST(PrefetchUnit, OnlyBucketsTrigger) {
  UnitDriver driver({.pacu = "exhausted", .exhausted_max = 1});
  const uint64_t first = driver.shape.table_base / 64;
  const uint64_t limit = driver.shape.table_limit / 64;
  for (const uint64_t line :
       {first - 1, limit, limit + 15, driver.shape.log_base / 64, limit + 99}) {
    driver.ReadLine(line, 10);
  }
  EXPECT_EQ(driver.counts().triggers, 0);
  EXPECT_EQ(driver.counts().overflow_reads, 2);
  EXPECT_EQ(driver.unit().NextEvent(), kNever);
  driver.ReadLine(first, 20);
  driver.ReadLine(limit - 1, 30);
  EXPECT_EQ(driver.counts().triggers, 2);
  auto expected = driver.Whole(0, 0, 20);
  for (const auto& each : driver.Whole(63, 0, 30)) expected.push_back(each);
  EXPECT_EQ(driver.TakeAsked(), expected);
}

TEST(PrefetchUnit, WhatIsOutsideOfTheLogIsNotAskedFor) {
  UnitDriver driver({.pacu = "exhausted", .pscu = "static:1024", .size_mode = "raw"});
  driver.table.At(3, 0).addr = driver.shape.log_base - 1;
  driver.table.At(3, 1).addr = driver.shape.log_limit;
  for (int slot = 2; slot < 8; ++slot) driver.table.At(3, slot) = {};
  driver.ReadBucket(3, 10);
  EXPECT_TRUE(driver.TakeAsked().empty());
  EXPECT_EQ(driver.counts().objects_outside_log, 2);
  EXPECT_EQ(driver.counts().triggers_nothing, 1);
  EXPECT_EQ(driver.counts().triggers_asked, 0);

  // The log's last object; 16 lines would go past its end.
  driver.table.At(3, 2) = {.addr = driver.shape.log_limit - 180, .bytes = 180, .tag = 1};
  driver.ReadBucket(3, 20);
  EXPECT_EQ(driver.TakeAsked().size(), 3u);
  EXPECT_EQ(driver.counts().triggers_asked, 1);
}

TEST(LogRange, AddsItsOffsetToPointers) {
  StoreShape shape = SmallShape();
  shape.log_base = 1 << 20;
  shape.log_limit = 2 << 20;
  const LogRange log(shape, uint64_t{7} << 20);
  EXPECT_FALSE(log.Contains((1 << 20) - 1));
  EXPECT_TRUE(log.Contains(1 << 20));
  EXPECT_FALSE(log.Contains(2 << 20));
  EXPECT_EQ(log.Lines((1 << 20) + 64, 3), (LineSpan{(8 << 20) / 64 + 1, 3}));
  EXPECT_EQ(log.Lines((2 << 20) - 65, 9), (LineSpan{(9 << 20) / 64 - 2, 2}));
}

TEST(PrefetchUnit, AHitSaysWhetherTheAddressWasRight) {
  UnitDriver driver({.pacu = "exhausted", .exhausted_max = 2}, SmallShape(), 3);
  const auto look_up = [&](int slot) {
    driver.ReadBucket(5, 0);
    driver.Hit(5, slot, 1);
  };
  look_up(1);
  look_up(2);
  look_up(kNoSlot);
  driver.Hit(5, 0, 2);  // of a bucket that was in the cache
  driver.Hit(6, 0, 2);  // never read
  driver.ReadBucket(7, 3, 1);
  driver.Hit(7, 0, 4, 0);  // another core's
  EXPECT_EQ(driver.counts().addresses_right, 1);
  EXPECT_EQ(driver.counts().addresses_wrong, 1);
  EXPECT_EQ(driver.counts().addresses_absent, 1);
  EXPECT_EQ(driver.counts().address_accuracy(), 0.5);
  driver.table.At(8, 0) = driver.table.At(8, 1) = driver.table.At(8, 2) = {};
  driver.ReadBucket(8, 5);
  driver.table.At(8, 0) = driver.table.At(9, 0);
  driver.Hit(8, 0, 6);  // put there meanwhile
  EXPECT_EQ(driver.counts().addresses_none, 1);
}

TEST(PrefetchUnit, AnAuditWaitsForAFewOfACoresHitsOnly) {
  UnitDriver driver({.pacu = "exhausted"}, SmallShape(128));
  for (uint64_t bucket = 0; bucket < 65; ++bucket) driver.ReadBucket(bucket, 0);
  EXPECT_EQ(driver.counts().addresses_unjudged, 1);
  driver.ReadBucket(64, 1);  // again
  EXPECT_EQ(driver.counts().addresses_unjudged, 2);
  for (uint64_t bucket = 0; bucket < 65; ++bucket) driver.Hit(bucket, 3, 2);
  EXPECT_EQ(driver.counts().addresses_right, 64);
}

TEST(PrefetchUnit, CountsBeginWhenTheWarmupIsOver) {
  UnitDriver driver({.pacu = "exhausted"});
  driver.ReadBucket(1, 0);
  driver.Hit(1, 1, 1);
  driver.unit().OnWarmupEnd();
  EXPECT_EQ(driver.counts(), UnitCounts{});
  driver.ReadBucket(2, 2);
  EXPECT_EQ(driver.counts().triggers, 1);
}

TEST(UnitCounts, AddSubtractAndGoToJson) {
  UnitCounts counts{.triggers = 5, .addresses_right = 3, .addresses_wrong = 1, .lines_asked = 7};
  UnitCounts sum = counts;
  sum += counts;
  EXPECT_EQ(sum.triggers, 10);
  EXPECT_EQ(sum.lines_asked, 14);
  sum -= counts;
  EXPECT_EQ(sum, counts);
  const auto json = ToJson(counts);
  EXPECT_EQ(json.at("triggers"), 5);
  EXPECT_EQ(json.at("lines_asked"), 7);
  EXPECT_EQ(json.at("address_accuracy"), 0.75);
  EXPECT_EQ(json.at("hit_accuracy"), 0);
}

}  // namespace
}  // namespace weft::sim
