// Eviction where several threads need room at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

std::string ValueOfKey(uint64_t key, size_t bytes) {
  std::string value = Key(key) + "|";
  if (bytes > value.size()) value.resize(bytes, static_cast<char>('a' + key % 26));
  return value;
}

TEST(EvictionByThreads, WhoeverFillsATinyStoreIsNeverRefused) {
  for (const uint64_t mib : {2, 4}) {
    CacheOptions options;
    options.memory_bytes = mib << 20;
    const auto store = OpenStore(options);
    std::atomic<uint64_t> refused{0}, wrong{0}, memory_max{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
      threads.emplace_back([&, t] {
        Client client(store.get());
        std::mt19937_64 random(TestSeed() * 16 + t);
        for (uint64_t i = 0; i < Rounds(5000); i++) {
          const uint64_t bytes = random() % (random() % 50 == 0 ? 100000 : 2000);
          const uint64_t key = random() % 3000;
          if (client.Set(Key(key), ValueOfKey(key, bytes)) != Outcome::kStored) refused++;
          const uint64_t other = random() % 3000;
          const std::string value = client.Value(Key(other));
          if (value != "(none)" && value != ValueOfKey(other, value.size())) wrong++;
          if (t == 0) memory_max = std::max(memory_max.load(), store->Stats().memory_bytes);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(refused.load(), 0u) << mib;
    EXPECT_EQ(wrong.load(), 0u) << mib;
    EXPECT_LE(memory_max.load(), mib << 20);
  }
}

// As a device that hangs holds what is freed for good. If each store that finds no room waited for
// its second, this would not end.
TEST(EvictionByThreads, ABatchThatNeverEndsHoldsUpOneStoreAndNotEach) {
  CacheOptions options;
  options.memory_bytes = 8 << 20;
  const auto store = OpenStore(options);
  Client client(store.get());
  Client stuck(store.get());
  stuck.session().Begin();
  const std::string value(1000, 'v');
  int refused = 0;
  for (uint64_t i = 0; i < 20'000; i++) {
    refused += client.Set(Key(i), value) == Outcome::kNoMemory ? 1 : 0;
    if (refused == 2000) break;
  }
  EXPECT_EQ(refused, 2000);
  stuck.session().End();
  for (uint64_t i = 0; i < 20'000; i++) ASSERT_EQ(client.Set(Key(i), value), Outcome::kStored) << i;
}

}  // namespace
}  // namespace weft::cache
