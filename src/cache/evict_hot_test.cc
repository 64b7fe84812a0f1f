// What eviction leaves of what is used: segments all of which are hot, loops, keys that come back.
//
// Threads   one.
#include <gtest/gtest.h>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

class EvictionOfTheHot : public testing::Test {
 protected:
  static CacheOptions Options() {
    CacheOptions options;
    options.memory_bytes = 8 << 20;
    options.append_lanes = 1;
    return options;
  }
  // Whether it was there; otherwise it is stored.
  bool Ask(const std::string& key, size_t bytes = 900) {
    if (client_.Value(key) != "(none)") return true;
    EXPECT_EQ(client_.Set(key, std::string(bytes, 'v')), Outcome::kStored);
    return false;
  }

  const std::unique_ptr<Store> store_ = OpenStore(Options());
  Client client_{store_.get()};
};

TEST_F(EvictionOfTheHot, SegmentsAllOfWhichIsReadAreNotDroppedWhole) {
  constexpr uint64_t kHot = 7500;  // of 900 bytes: 7 of 8 MiB
  for (uint64_t i = 0; i < kHot; i++) Ask(Key(i));
  for (uint64_t i = 0; i < 2 * kHot; i++) ASSERT_TRUE(Ask(Key(i % kHot)));
  for (uint64_t i = 0; i < 1500; i++) Ask("new" + std::to_string(i));
  uint64_t left = 0;
  for (uint64_t i = 0; i < kHot; i++) left += client_.Value(Key(i)) != "(none)";
  EXPECT_GT(store_->Stats().evictions, 100u);
  EXPECT_GT(left * 100, kHot * 85);
}

// The first victim is met when memory has just been filled, and ghosts are given theirs.
TEST_F(EvictionOfTheHot, WhatIsReadWhileMemoryFillsIsThereAfterwards) {
  constexpr uint64_t kHot = 50;
  for (uint64_t i = 0; i < kHot; i++) Ask("hot" + std::to_string(i), 10);
  for (uint64_t i = 0; i < 40'000; i++) {
    EXPECT_EQ(client_.Set(Key(i), std::string(300, 'v')), Outcome::kStored);
    client_.Get("hot" + std::to_string(i % kHot));
  }
  EXPECT_GT(store_->Stats().evictions, 10'000u);
  for (uint64_t i = 0; i < kHot; i++) EXPECT_TRUE(Ask("hot" + std::to_string(i))) << i;
}

TEST_F(EvictionOfTheHot, ALoopThatIsLargerThanTheMemoryHits) {
  constexpr uint64_t kKeys = 10000;  // some 8,500 fit
  uint64_t hits = 0;
  for (uint64_t i = 0; i < 20 * kKeys; i++) {
    const bool hit = Ask(Key(i % kKeys));
    hits += i >= 10 * kKeys && hit;
  }
  EXPECT_GT(hits * 100, 10 * kKeys * 15);  // with LRU none does
}

TEST_F(EvictionOfTheHot, WhatIsStoredAgainSoonStaysLongerThanWhatIsNew) {
  for (uint64_t i = 0; i < 10000; i++) Ask(Key(i));
  uint64_t again = 0;
  for (uint64_t i = 0; i < 500; i++) again += !Ask(Key(i));  // dropped unread
  ASSERT_GT(again, 400u);
  for (uint64_t i = 10000; i < 17000; i++) Ask(Key(i));
  uint64_t left = 0;
  for (uint64_t i = 0; i < 500; i++) left += client_.Value(Key(i)) != "(none)";
  EXPECT_GT(left, 400u);
  SessionCounters counters;
  store_->SumCounters(&counters);
  // What went first did so before the log had given up the ghosts' memory.
  EXPECT_GE(counters.ghosts_stored.value(), again * 6 / 10);
}

TEST_F(EvictionOfTheHot, WhatIsWrittenAnewStaysWhereItWas) {
  for (uint64_t i = 0; i < 10000; i++) Ask(Key(i));
  for (uint64_t i = 0; i < 200; i++) Ask(Key(i));  // in main now
  for (uint64_t i = 0; i < 200; i++) {
    ASSERT_EQ(client_.Set(Key(i), std::string(900, 'w')), Outcome::kStored);
    ASSERT_EQ(client_.Touch(Key(i), kNeverExpires), Outcome::kTouched);
  }
  for (uint64_t i = 10000; i < 17000; i++) Ask(Key(i));
  uint64_t left = 0;
  for (uint64_t i = 0; i < 200; i++) left += client_.Value(Key(i)) == std::string(900, 'w');
  EXPECT_GT(left, 150u);
}

// One object in two segments and many in one are the same memory.
TEST_F(EvictionOfTheHot, LargeOnesStayAsSmallOnesDo) {
  uint64_t lost = 0, asked = 0;
  for (uint64_t i = 0; i < 4000; i++) {
    Ask("cold" + std::to_string(i), 20000);
    const bool hit = Ask("hot" + std::to_string(i % 50), 20000);
    asked += i > 500;
    lost += i > 500 && !hit;
  }
  EXPECT_LT(lost * 100, asked);
}

}  // namespace
}  // namespace weft::cache
