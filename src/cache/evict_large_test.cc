// Eviction of objects of several segments each, which are asked for about as by Zipf's law.
//
// Threads   one.
#include <gtest/gtest.h>

#include <cmath>
#include <list>
#include <random>
#include <unordered_map>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

// A cache of so many objects that drops what was used least recently.
class Lru {
 public:
  explicit Lru(size_t objects) : objects_(objects) {}
  // False: it missed, and holds it now.
  bool Use(const std::string& key) {
    const auto at = places_.find(key);
    if (at != places_.end()) {
      order_.splice(order_.begin(), order_, at->second);
      return true;
    }
    order_.push_front(key);
    places_[key] = order_.begin();
    if (order_.size() > objects_) {
      places_.erase(order_.back());
      order_.pop_back();
    }
    return false;
  }

 private:
  const size_t objects_;
  std::list<std::string> order_;
  std::unordered_map<std::string, std::list<std::string>::iterator> places_;
};

struct Played {
  double miss_ratio;      // of the second half
  double lru_miss_ratio;  // of an Lru for 92 % of the memory
  double payload;         // values' share of the memory
  CacheStats stats;
};

// Of six times as many keys as the memory could hold values. What is missing is stored.
Played Play(uint64_t mib, size_t value_bytes, uint64_t seed = TestSeed()) {
  CacheOptions options;
  options.memory_bytes = mib << 20;
  options.append_lanes = 1;
  const auto store = OpenStore(options);
  Client client(store.get());
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto bytes = static_cast<double>(mib << 20);
  const double keys = 6 * bytes / static_cast<double>(value_bytes);
  const std::string value(value_bytes, 'v');
  Lru lru(static_cast<size_t>(0.92 * bytes) / value_bytes);
  constexpr uint64_t kRequests = 20'000;
  uint64_t missed = 0, lru_missed = 0;
  for (uint64_t i = 0; i < kRequests; i++) {
    const std::string key = Key(static_cast<uint64_t>(std::pow(keys, uniform(random))));
    const bool counts = i >= kRequests / 2;
    lru_missed += !lru.Use(key) && counts ? 1 : 0;
    Command read = Client::Of(Verb::kRead, key);
    read.want_value = false;
    if (client.Run(read).reply.outcome == Outcome::kHit) continue;
    EXPECT_EQ(client.Set(key, value), Outcome::kStored);
    missed += counts ? 1 : 0;
  }
  constexpr double kCounted = static_cast<double>(kRequests) / 2;
  const CacheStats stats = store->Stats();
  const double held = static_cast<double>(stats.items) * static_cast<double>(value_bytes);
  return {static_cast<double>(missed) / kCounted, static_cast<double>(lru_missed) / kCounted,
          held / bytes, stats};
}

// Objects that lie alone leave up to half of their segments empty.
TEST(EvictionOfLargeOnes, TheyShareSegmentsAlsoInASmallMemory) {
  EXPECT_GT(Play(3, 20'000).payload, 0.85);
  EXPECT_GT(Play(4, 20'000).payload, 0.85);
  EXPECT_GT(Play(6, 40'000).payload, 0.85);
}

// Eleven segments each: they lie alone, and most of what is asked for is in use.
TEST(EvictionOfLargeOnes, WhatLiesAloneAndIsUsedStays) {
  constexpr uint64_t kPlays = 12;
  double gained = 0;
  for (uint64_t i = 0; i < kPlays; i++) {
    const Played played = Play(8, 140'000, kPlays * TestSeed() + i);
    gained += (played.lru_miss_ratio - played.miss_ratio) / kPlays;
  }
  EXPECT_GT(gained, 0.051);  // 0.057 in the mean; without an account of its own 0.045
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
