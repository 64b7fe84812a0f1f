#include "sim/cache/l1_cache.h"

#include <gtest/gtest.h>

namespace weft::sim {
namespace {

using Outcome = L1Cache::Outcome;

// One set.
constexpr CacheShape kTiny = {.kilobytes = 1, .ways = 16, .mshrs = 2};

Waiter Load(uint64_t token = 0) { return {.token = token}; }
Waiter Store(uint64_t token = 0) { return {.access = Access::kStore, .token = token}; }

void Bring(L1Cache& cache, uint64_t line, Mesi state) {
  ASSERT_EQ(cache.Start(line, state == Mesi::kModified ? Store() : Load()), Outcome::kMiss);
  cache.Granted(line, state);
  cache.Fill(line);
}

TEST(L1Cache, KeepsWhatCame) {
  L1Cache cache(kTiny);
  EXPECT_EQ(cache.Start(7, Load(1)), Outcome::kMiss);
  EXPECT_EQ(cache.Start(7, Load(2)), Outcome::kJoined);
  EXPECT_EQ(cache.under_way(), 1);
  cache.Granted(7, Mesi::kExclusive);
  const L1Cache::Filled& filled = cache.Fill(7);
  ASSERT_EQ(filled.waiters.size(), 2u);
  EXPECT_EQ(filled.waiters[0].token, 1u);
  EXPECT_EQ(filled.waiters[1].token, 2u);
  EXPECT_FALSE(filled.has_victim);
  EXPECT_EQ(cache.under_way(), 0);
  EXPECT_EQ(cache.Start(7, Load()), Outcome::kHit);
}

TEST(L1Cache, HasAsManyMissesAsMshrs) {
  L1Cache cache(kTiny);
  EXPECT_EQ(cache.Start(1, Load()), Outcome::kMiss);
  EXPECT_EQ(cache.Start(2, Load()), Outcome::kMiss);
  EXPECT_EQ(cache.Start(3, Load()), Outcome::kFull);
  EXPECT_EQ(cache.Start(2, Load()), Outcome::kJoined);
  cache.Granted(1, Mesi::kShared);
  cache.Fill(1);
  EXPECT_EQ(cache.Start(3, Load()), Outcome::kMiss);
}

TEST(L1Cache, TheLeastRecentlyUsedLineLeaves) {
  L1Cache cache({.kilobytes = 1, .ways = 2, .mshrs = 2});  // 8 sets
  Bring(cache, 0, Mesi::kModified);
  Bring(cache, 8, Mesi::kExclusive);
  EXPECT_EQ(cache.Start(0, Load()), Outcome::kHit);
  ASSERT_EQ(cache.Start(16, Load()), Outcome::kMiss);
  cache.Granted(16, Mesi::kExclusive);
  L1Cache::Filled filled = cache.Fill(16);
  EXPECT_TRUE(filled.has_victim);
  EXPECT_EQ(filled.victim, 8u);
  EXPECT_FALSE(filled.is_victim_modified);
  ASSERT_EQ(cache.Start(24, Load()), Outcome::kMiss);
  cache.Granted(24, Mesi::kExclusive);
  filled = cache.Fill(24);
  EXPECT_EQ(filled.victim, 0u);
  EXPECT_TRUE(filled.is_victim_modified);
}

TEST(L1Cache, AStoreOwnsItsLine) {
  L1Cache cache(kTiny);
  Bring(cache, 1, Mesi::kShared);
  Bring(cache, 2, Mesi::kExclusive);
  EXPECT_EQ(cache.Start(2, Store()), Outcome::kHit);
  EXPECT_TRUE(cache.Downgrade(2));  // it was modified
  EXPECT_EQ(cache.Start(1, Store()), Outcome::kMiss);
  EXPECT_EQ(cache.Start(1, Load()), Outcome::kHit);  // it may still be read
  cache.Granted(1, Mesi::kModified);
  EXPECT_FALSE(cache.Fill(1).retries_stores);
  EXPECT_TRUE(cache.Invalidate(1));
  EXPECT_FALSE(cache.Has(1));
}

TEST(L1Cache, AStoreThatJoinedAReadOwnsOrTriesAgain) {
  for (const Mesi state : {Mesi::kShared, Mesi::kExclusive}) {
    L1Cache cache(kTiny);
    ASSERT_EQ(cache.Start(1, Load()), Outcome::kMiss);
    ASSERT_EQ(cache.Start(1, Store()), Outcome::kJoined);
    cache.Granted(1, state);
    EXPECT_EQ(cache.Fill(1).retries_stores, state == Mesi::kShared);
    EXPECT_EQ(cache.Invalidate(1), state == Mesi::kExclusive);
  }
}

TEST(L1Cache, WhatIsTakenAwayOnItsWayIsNotKept) {
  L1Cache cache(kTiny);
  ASSERT_EQ(cache.Start(1, Store()), Outcome::kMiss);
  EXPECT_FALSE(cache.Invalidate(1));  // not granted: not what is taken away
  cache.Granted(1, Mesi::kModified);
  EXPECT_TRUE(cache.Invalidate(1));
  EXPECT_FALSE(cache.Invalidate(1));  // once
  const L1Cache::Filled& filled = cache.Fill(1);
  EXPECT_EQ(filled.waiters.size(), 1u);
  EXPECT_FALSE(filled.retries_stores);
  EXPECT_FALSE(cache.Has(1));
}

TEST(L1Cache, ALineThatIsGrantedAnewDoesntLeaveTheDirectory) {
  L1Cache cache({.kilobytes = 1, .ways = 1, .mshrs = 2});  // 16 sets
  Bring(cache, 1, Mesi::kShared);
  ASSERT_EQ(cache.Start(1, Store()), Outcome::kMiss);
  cache.Granted(1, Mesi::kModified);
  ASSERT_EQ(cache.Start(17, Load()), Outcome::kMiss);
  cache.Granted(17, Mesi::kExclusive);
  EXPECT_FALSE(cache.Fill(17).has_victim);
  const L1Cache::Filled& filled = cache.Fill(1);
  EXPECT_EQ(filled.victim, 17u);
  EXPECT_TRUE(cache.Has(1));
}

TEST(CacheShape, RefusesSizesThatItCannotHave) {
  EXPECT_TRUE(Validate(CacheShape{.kilobytes = 16, .ways = 4, .mshrs = 16}, 1, "L1").ok());
  EXPECT_FALSE(Validate(CacheShape{.kilobytes = 16, .ways = 3, .mshrs = 16}, 1, "L1").ok());
  EXPECT_FALSE(Validate(CacheShape{.kilobytes = 0, .ways = 4, .mshrs = 16}, 1, "L1").ok());
  EXPECT_FALSE(Validate(CacheShape{.kilobytes = 16, .ways = 4, .mshrs = 0}, 1, "L1").ok());
  const Status status = Validate(CacheShape{.kilobytes = 4096, .ways = 16, .mshrs = 32}, 3, "L2");
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "L2: 4096 KB of 16 ways in 3 banks: the sets of a bank are not a power of two");
}

}  // namespace
}  // namespace weft::sim
