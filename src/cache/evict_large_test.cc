// Eviction of objects of several segments each, which are asked for about as by Zipf's law.
//
// Threads   one.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

struct Played {
  double miss_ratio;  // of the second half
  double payload;     // values' share of the memory
  CacheStats stats;
};

// Of six times as many keys as the memory could hold values. What is missing is stored.
Played Play(uint64_t mib, size_t value_bytes) {
  CacheOptions options;
  options.memory_bytes = mib << 20;
  options.append_lanes = 1;
  const auto store = OpenStore(options);
  Client client(store.get());
  std::mt19937_64 random(TestSeed());
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto bytes = static_cast<double>(mib << 20);
  const double keys = 6 * bytes / static_cast<double>(value_bytes);
  const std::string value(value_bytes, 'v');
  constexpr uint64_t kRequests = 20'000;
  uint64_t missed = 0;
  for (uint64_t i = 0; i < kRequests; i++) {
    const std::string key = Key(static_cast<uint64_t>(std::pow(keys, uniform(random))));
    if (client.Value(key) != "(none)") continue;
    EXPECT_EQ(client.Set(key, value), Outcome::kStored);
    missed += i >= kRequests / 2 ? 1 : 0;
  }
  const CacheStats stats = store->Stats();
  const double held = static_cast<double>(stats.items) * static_cast<double>(value_bytes);
  return {static_cast<double>(missed) / (kRequests / 2), held / bytes, stats};
}

// Objects that lie alone leave up to half of their segments empty.
TEST(EvictionOfLargeOnes, TheyShareSegmentsAlsoInASmallMemory) {
  EXPECT_GT(Play(3, 20'000).payload, 0.85);
  EXPECT_GT(Play(4, 20'000).payload, 0.85);
  EXPECT_GT(Play(6, 40'000).payload, 0.85);
}

// Eleven segments each: they lie alone, and most of what is asked for is in use.
TEST(EvictionOfLargeOnes, WhatLiesAloneAndIsUsedStays) {
  EXPECT_LT(Play(8, 140'000).miss_ratio, 0.386);
}

// The reserve is small beside a victim of several objects: what others have emptied is needed.
TEST(EvictionOfLargeOnes, WhatIsUsedIsCarriedIntoWhatWasEmptied) {
  const Played played = Play(7, 20'000);
  EXPECT_GT(played.stats.carried * 100, played.stats.evictions * 35);
}

// Where sizes differ, the small ones would otherwise drive out what holds most of the bytes.
TEST(EvictionOfLargeOnes, WhatWasReadTwiceStaysAtThreeTimesTheMean) {
  CacheOptions options;
  options.memory_bytes = 8u << 20;
  options.append_lanes = 1;
  const auto store = OpenStore(options);
  Client client(store.get());
  const std::string large(3000, 'l'), small(900, 's');
  constexpr uint64_t kLarge = 200, kSmallBeside = 12;
  uint64_t next = kLarge;
  for (uint64_t i = 0; i < kLarge; i++) {
    ASSERT_EQ(client.Set(Key(i), large), Outcome::kStored);
    for (uint64_t j = 0; j < kSmallBeside; j++) client.Set(Key(next++), small);
  }
  for (int read = 0; read < 2; read++)
    for (uint64_t i = 0; i < kLarge; i++) EXPECT_EQ(client.Value(Key(i)), large);
  for (uint64_t i = 0; i < 8000; i++) client.Set(Key(next++), small);
  uint64_t there = 0;
  for (uint64_t i = 0; i < kLarge; i++) there += client.Value(Key(i)) == large ? 1 : 0;
  EXPECT_GE(there, kLarge * 9 / 10);
}

}  // namespace
}  // namespace weft::cache
