#include "cache/eviction_watch.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

class Notes final : public EvictionWatch {
 public:
  bool WatchesEvictions() const override { return watches; }
  void Note(const Evicted& evicted) override {
    EXPECT_TRUE(keys.emplace(evicted.key).second) << "twice: " << evicted.key;
    EXPECT_EQ(evicted.value_bytes, 300u);
    EXPECT_LT(evicted.idle_s, 100u);
    const bool ends = (evicted.key.back() - '0') % 2 != 0;
    if (ends) {
      EXPECT_GT(evicted.ttl_s, 900) << evicted.key;
      EXPECT_LE(evicted.ttl_s, 1000) << evicted.key;
    } else {
      EXPECT_EQ(evicted.ttl_s, -1) << evicted.key;
    }
    read += evicted.was_read ? 1 : 0;
  }

  bool watches = true;
  uint64_t read = 0;
  std::set<std::string> keys;
};

// Stores Key(begin) to Key(end), of which each tenth is read once.
void Fill(Client& client, uint64_t begin, uint64_t end) {
  const std::string value(300, 'v');
  for (uint64_t i = begin; i < end; i++) {
    const Expiry expiry = i % 2 == 0 ? kNeverExpires : base::NowSeconds() + 1000;
    ASSERT_EQ(client.Set(Key(i), value, expiry), Outcome::kStored);
    if (i % 10 == 0) client.Value(Key(i));
  }
}

class EvictionWatchTest : public ::testing::TestWithParam<IndexPolicy> {};

TEST_P(EvictionWatchTest, IsToldOfEachLiveObjectThatGoes) {
  CacheOptions options;
  options.memory_bytes = uint64_t{8} << 20;
  options.append_lanes = 1;
  options.index_policy = GetParam();
  const auto store = OpenStore(options);
  Client client(store.get());
  Notes notes;
  client.session().set_eviction_watch(&notes);
  Fill(client, 0, 60'000);
  EXPECT_GT(notes.keys.size(), 30'000u);
  EXPECT_EQ(notes.keys.size(), store->Stats().evictions);
  EXPECT_GT(notes.read, 100u);
  for (const std::string& key : notes.keys) EXPECT_EQ(client.Value(key), "(none)") << key;
  const size_t before = notes.keys.size();
  notes.watches = false;
  Fill(client, 60'000, 80'000);
  EXPECT_EQ(notes.keys.size(), before);
  EXPECT_GT(store->Stats().evictions, before);
  // A session beside it, as a batch on a device has, tells the same one.
  EXPECT_EQ(store->NewSession(&client.session())->eviction_watch(), &notes);
  EXPECT_EQ(store->NewSession()->eviction_watch(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Policies, EvictionWatchTest,
                         ::testing::Values(IndexPolicy::kCuckoo, IndexPolicy::kSetAssociative));

}  // namespace
}  // namespace weft::cache
