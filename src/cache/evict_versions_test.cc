// Versions of objects that eviction moves.
//
// Threads   one.
#include <gtest/gtest.h>

#include <map>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

std::unique_ptr<Store> OpenSmallStore() {
  CacheOptions options;
  options.memory_bytes = 4 << 20;
  return OpenStore(options);
}

TEST(EvictionVersions, OneThatWasShownOutlivesMoves) {
  const auto store = OpenSmallStore();
  Client client(store.get());
  std::map<std::string, uint64_t> versions;
  for (uint64_t i = 0; i < 50; i++) {
    client.Set("seen" + std::to_string(i), "value");
    versions["seen" + std::to_string(i)] = client.Gets("seen" + std::to_string(i)).reply.cas;
  }
  for (uint64_t i = 0; i < 40000; i++) {
    client.Set(Key(i), std::string(300, 'x'));
    client.Get("seen" + std::to_string(i % 50));
  }
  EXPECT_GE(store->Stats().carried, 40u);
  uint32_t left = 0;
  for (const auto& [key, version] : versions) {
    const Answer answer = client.Gets(key);
    if (answer.reply.outcome != Outcome::kHit) continue;
    left++;
    EXPECT_EQ(answer.reply.cas, version) << key;
    EXPECT_EQ(client.Cas(key, "next", version), Outcome::kStored);
  }
  EXPECT_GT(left, 40u);
}

// What is carried may go to a segment that was opened long ago, as those of rare times to live
// were.
TEST(EvictionVersions, ACarriedOneIsAboveTheLastThatWasShownOfItsKey) {
  const auto store = OpenSmallStore();
  Client client(store.get());
  const uint32_t end = base::NowSeconds() + 1'000'000;
  const std::string value(1000, 'x');
  uint64_t filled = 0;
  const auto churn = [&] {
    for (int i = 0; i < 6000; i++) client.Set(Key(filled++), value);
  };
  churn();
  uint32_t carried = 0;
  for (int round = 0; round < 8; round++) {
    const std::string key = "key" + std::to_string(round);
    client.Set(key, "old", end);
    const uint64_t shown = client.Gets(key).reply.cas;
    client.Set(key, "new", end);
    for (int i = 0; i < 40; i++) client.Set("beside" + std::to_string(40 * round + i), value, end);
    for (int i = 0; i < 40; i++) client.Get(key);
    churn();
    const Answer answer = client.Gets(key);
    if (answer.reply.outcome != Outcome::kHit) continue;
    carried++;
    EXPECT_EQ(answer.value, "new");
    EXPECT_GT(answer.reply.cas, shown) << round;
  }
  EXPECT_GT(carried, 4u);
}

}  // namespace
}  // namespace weft::cache
