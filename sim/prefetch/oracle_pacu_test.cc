#include "sim/prefetch/oracle_pacu.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/seed_test_kit.h"
#include "sim/prefetch/prefetch_test_kit.h"

namespace weft::sim {
namespace {

PrefetchOptions Oracle(const std::string& accuracy) { return {.pacu = "oracle:" + accuracy}; }

// Looks the slot of bucket 4 up `count` times, `every` apart; how often each slot was chosen.
std::array<int, 8> Chosen(UnitDriver& driver, int slot, int count, Time every = kNs) {
  std::array<int, 8> chosen{};
  for (int i = 0; i < count; ++i) {
    driver.Key(4, slot, i * every);
    driver.ReadBucket(4, i * every);
    for (const int each : driver.TakeSlots(4)) ++chosen[static_cast<size_t>(each)];
  }
  return chosen;
}

TEST(OraclePacu, OfFullAccuracyIsRightAndTakesNoTime) {
  UnitDriver driver(Oracle("1"), SmallShape(), 4);
  EXPECT_EQ(Chosen(driver, 2, 1000), (std::array<int, 8>{0, 0, 1000}));
  driver.Key(5, 1, 2000 * kNs);
  driver.ReadBucket(5, 2001 * kNs);
  EXPECT_EQ(driver.TakeAsked(), driver.Whole(5, 1, 2001 * kNs));
  driver.ReadBucket(5, 2002 * kNs);
  driver.Key(5, 3, 2003 * kNs);
  EXPECT_EQ(driver.TakeAsked(), driver.Whole(5, 3, 2003 * kNs));
}

TEST(OraclePacu, WhereTheKeyIsNotInTheBucketRightIsNothing) {
  UnitDriver driver(Oracle("1"), SmallShape(), 4);
  driver.Key(4, kNoSlot, 0);
  driver.ReadBucket(4, 1);
  driver.Key(4, 5, 2);  // it left before the bucket was read
  driver.ReadBucket(4, 3);
  EXPECT_TRUE(driver.TakeAsked().empty());
  EXPECT_EQ(driver.counts().triggers_nothing, 2);
}

TEST(OraclePacu, OfNoAccuracyChoosesTheOtherSlotsAlike) {
  constexpr int kCount = 30'000;
  UnitDriver driver(Oracle("0"), SmallShape(), 4);
  const auto chosen = Chosen(driver, 2, kCount);
  EXPECT_EQ(chosen[2], 0);
  for (const size_t slot : {0u, 1u, 3u}) {
    const double deviation = std::sqrt(kCount * (1 / 3.0) * (2 / 3.0));
    EXPECT_NEAR(chosen[slot], kCount / 3.0, 4 * deviation) << slot;
  }
}

TEST(OraclePacu, IsAsAccurateAsAskedFor) {
  const uint64_t seed = TestSeed();
  constexpr int kCount = 20'000;
  for (const char* accuracy : {"0.1", "0.5", "0.9"}) {
    UnitDriver driver(Oracle(accuracy), SmallShape(), 4, seed);
    const auto chosen = Chosen(driver, 1, kCount);
    const double p = std::atof(accuracy);
    const double deviation = std::sqrt(kCount * p * (1 - p));
    EXPECT_NEAR(chosen[1], kCount * p, 4 * deviation) << accuracy;
    EXPECT_EQ(chosen[0] + chosen[1] + chosen[2] + chosen[3], kCount);  // always one
  }
}

TEST(OraclePacu, WithoutAnotherSlotChoosesAnotherBucket) {
  UnitDriver driver(Oracle("0"), SmallShape(), 1);
  std::vector<int> chosen(64);
  for (int i = 0; i < 6400; ++i) {
    driver.Key(4, 0, i);
    driver.ReadBucket(4, i);
    const auto asked = driver.TakeAsked();
    ASSERT_EQ(asked.size(), 4u);
    const uint64_t bucket = (asked[0].line * 64 - driver.shape.log_base) / 8192;
    EXPECT_EQ(asked[0].line, FirstLineOf(driver.shape, bucket, 0));
    ++chosen.at(bucket);
  }
  EXPECT_EQ(chosen[4], 0);
  // 6400 / 63 with a deviation of 10.
  for (size_t bucket = 0; bucket < 64; ++bucket) {
    if (bucket == 4) continue;
    EXPECT_NEAR(chosen[bucket], 101.6, 50) << bucket;
  }
  driver.Key(4, 0, 7000);
  driver.ReadBucket(4, 7000);
  driver.Hit(4, 0, 7001);
  EXPECT_EQ(driver.counts().addresses_wrong, 1);
}

TEST(OraclePacu, AsksForNothingWhereThereIsNothingElse) {
  UnitDriver driver(Oracle("0"), SmallShape(), 0);
  driver.table.At(4, 2) = {.addr = AddrOf(driver.shape, 4, 2), .bytes = 180, .tag = 102};
  EXPECT_EQ(Chosen(driver, 2, 20), (std::array<int, 8>{}));
  // One other object, far away.
  driver.table.At(3, 7) = {.addr = AddrOf(driver.shape, 3, 7), .bytes = 180, .tag = 107};
  driver.Key(4, 2, kNs * 100);
  driver.ReadBucket(4, kNs * 100);
  EXPECT_EQ(driver.TakeAsked(), driver.Whole(3, 7, kNs * 100));
}

// What each of a few cores' lookups chose, by core and lookup, for lookups that go on in the order
// in which `random` lets the cores take turns.
std::vector<std::vector<int>> ChoicesOfCores(uint64_t seed, uint64_t order, bool bucket_is_first) {
  UnitDriver driver(Oracle("0.5"), SmallShape(), 8, seed);
  std::mt19937_64 random(base::TestSeed(order));
  std::vector<std::vector<int>> chosen(4);
  Time now = 0;
  while (true) {
    std::vector<int> left;
    for (int core = 0; core < 4; ++core) {
      if (chosen[static_cast<size_t>(core)].size() < 200) left.push_back(core);
    }
    if (left.empty()) return chosen;
    const int core = left[random() % left.size()];
    auto& of_core = chosen[static_cast<size_t>(core)];
    const uint64_t bucket = of_core.size() % 64;
    now += static_cast<Time>(random() % 1000);
    if (bucket_is_first) driver.ReadBucket(bucket, now, core);
    driver.Key(bucket, core, now, core);
    if (!bucket_is_first) driver.ReadBucket(bucket, now + 1, core);
    of_core.push_back(driver.TakeSlots(bucket).at(0));
  }
}

TEST(OraclePacu, DrawsBySeedAndNotByTime) {
  const auto chosen = ChoicesOfCores(1, 1, false);
  EXPECT_EQ(chosen, ChoicesOfCores(1, 1, false));
  EXPECT_EQ(chosen, ChoicesOfCores(1, 2, false));
  EXPECT_EQ(chosen, ChoicesOfCores(1, 3, true));
  EXPECT_NE(chosen, ChoicesOfCores(2, 1, false));
  EXPECT_NE(chosen[0], chosen[1]);
}

TEST(OraclePacu, ControllersDrawApart) {
  UnitDriver driver(Oracle("0.5"), SmallShape(), 8, 1, 2);
  int differences = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<std::vector<AskedLine>> asked(2);
    for (size_t channel = 0; channel < 2; ++channel) {
      driver.made.units.at(channel)->OnMark(KeyMark(driver.shape, 4, 103, 3), 0, i);
      driver.made.units.at(channel)->OnLineRead(driver.shape.table_base / 64 + 4, 0, i);
      driver.made.units.at(channel)->AdvanceTo(i, &asked[channel]);
      ASSERT_EQ(asked[channel].size(), 4u);
    }
    differences += asked[0][0].line != asked[1][0].line;
  }
  EXPECT_GT(differences, 20);
}

}  // namespace
}  // namespace weft::sim
