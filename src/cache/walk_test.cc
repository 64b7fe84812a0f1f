#include "cache/walk.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

// How often a walk sees each key.
std::map<std::string, int> KeysOf(Store& store) {
  std::map<std::string, int> keys;
  const std::unique_ptr<Session> session = store.NewSession();
  Walk walk;
  Walk::Step step;
  for (;;) {
    const InBatch batch(*session);  // others may change everything between two steps
    if (!walk.Next(*session, &step)) break;
    for (uint32_t i = 0; i < step.count; ++i) {
      const task::Object* const object = step.seen[i].object;
      keys[std::string(reinterpret_cast<const char*>(task::KeyOf(object)),
                       task::KeyBytes(object->shape))]++;
    }
  }
  EXPECT_TRUE(walk.is_over());
  return keys;
}

TEST(Walk, SeesEachKeyOnce) {
  for (const IndexPolicy policy : {IndexPolicy::kCuckoo, IndexPolicy::kSetAssociative}) {
    CacheOptions options;
    options.memory_bytes = uint64_t{32} << 20;
    options.index_policy = policy;
    const auto store = OpenStore(options);
    Client client(store.get());
    for (const int count : {0, 1, 7, 5000}) {
      for (int i = 0; i < count; ++i)
        ASSERT_EQ(client.Set("key" + std::to_string(i), "v"), Outcome::kStored);
      const auto keys = KeysOf(*store);
      EXPECT_EQ(keys.size(), static_cast<size_t>(count));
      for (const auto& [key, times] : keys) EXPECT_EQ(times, 1) << key;
    }
  }
}

TEST(Walk, PassesOverWhatIsGone) {
  const auto store = OpenStore();
  Client client(store.get());
  for (int i = 0; i < 100; ++i) client.Set("key" + std::to_string(i), "v");
  for (int i = 0; i < 100; i += 2) client.Delete("key" + std::to_string(i));
  auto keys = KeysOf(*store);
  EXPECT_EQ(keys.size(), 50u);
  EXPECT_EQ(keys.count("key2"), 0u);
  client.Flush();
  EXPECT_TRUE(KeysOf(*store).empty());
}

// The table grows several times meanwhile. What is there is seen at most a few times, and nothing
// else is.
TEST(Walk, GoesOnWhileTheTableGrows) {
  CacheOptions options;
  options.memory_bytes = uint64_t{256} << 20;
  const auto store = OpenStore(options);
  Client client(store.get());
  for (int i = 0; i < 20'000; ++i) client.Set("old" + std::to_string(i), "v");
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    Client other(store.get());
    for (int i = 0; !stop && i < 1'000'000; ++i) other.Set("new" + std::to_string(i), "v");
  });
  for (int round = 0; round < 5; ++round) {
    size_t old = 0;
    for (const auto& [key, times] : KeysOf(*store)) {
      ASSERT_TRUE(key.starts_with("old") || key.starts_with("new")) << key;
      EXPECT_LE(times, 4) << key;
      old += key.starts_with("old") ? 1 : 0;
    }
    EXPECT_LE(old, 20'000u);
  }
  stop = true;
  writer.join();
  // Once nothing moves any more, all are seen again.
  size_t old = 0;
  for (const auto& [key, times] : KeysOf(*store)) old += key.starts_with("old") ? 1 : 0;
  EXPECT_EQ(old, 20'000u);
}

}  // namespace
}  // namespace weft::cache
