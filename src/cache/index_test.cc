#include "cache/index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "base/hash.h"
#include "cache/cache_test_kit.h"
#include "cache/entry.h"

namespace weft::cache {
namespace {

class Growth : public testing::TestWithParam<IndexPolicy> {
 protected:
  CacheOptions Options() const {
    CacheOptions options;
    options.memory_bytes = 64 << 20;
    options.index_policy = GetParam();
    return options;
  }
};

TEST_P(Growth, KeepsEveryKeyAndEndsSteady) {
  const auto store = OpenStore(Options());
  Client client(store.get());
  const uint64_t buckets = store->Stats().index_buckets;
  const uint64_t keys = std::min(Rounds(200000), 600000u);
  for (uint64_t i = 0; i < keys; i++) ASSERT_EQ(client.Set(Key(i), Key(i)), Outcome::kStored);
  for (int i = 0; i < 100000 && store->index().growing(); i++) client.Get("x");
  EXPECT_FALSE(store->index().growing());
  EXPECT_EQ(store->index().table_bytes(), store->index().bucket_count() * 64);
  if (keys > buckets * 8) {
    EXPECT_GT(store->Stats().index_buckets, buckets);
  }
  const CacheStats stats = store->Stats();
  uint64_t present = 0;
  for (uint64_t i = 0; i < keys; i++) {
    const std::string value = client.Value(Key(i));
    if (value == "(none)") continue;
    ASSERT_EQ(value, Key(i));
    present++;
  }
  EXPECT_EQ(present, stats.items);
  // The cuckoo table keeps what it accepted; of the other the entries of full sets may go.
  EXPECT_EQ(present + stats.evictions, keys);
  if (GetParam() == IndexPolicy::kCuckoo) {
    EXPECT_EQ(present, keys);
  }
  EXPECT_GT(present, keys * 9 / 10);
}

TEST_P(Growth, NeverMissesAKeyWhileThreadsWriteAndRead) {
  const auto store = OpenStore(Options());
  constexpr uint64_t kAnchors = 500;
  constexpr int kThreads = 4;
  {
    Client client(store.get());
    for (uint64_t i = 0; i < kAnchors; i++) {
      client.Set("anchor" + std::to_string(i), "v");
      for (int j = 0; j < 3; j++) client.Get("anchor" + std::to_string(i));
    }
  }
  const uint64_t keys = std::min(Rounds(60000), 150000u);
  std::atomic<uint64_t> missed{0}, wrong{0}, refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      Client client(store.get());
      std::mt19937_64 random(TestSeed() * 16 + t);
      for (uint64_t i = 0; i < keys; i++) {
        const std::string key = "t" + std::to_string(t) + Key(i);
        refused += client.Set(key, key) != Outcome::kStored;
        const std::string anchor = "anchor" + std::to_string(random() % kAnchors);
        if (t % 2 == 0) refused += client.Set(anchor, "v") != Outcome::kStored;
        const std::string value = client.Value(anchor);
        if (value == "(none)")
          missed++;
        else if (value != "v")
          wrong++;
        const std::string own = "t" + std::to_string(t) + Key(random() % (i + 1));
        const std::string mine = client.Value(own);
        if (mine == "(none)")
          missed++;
        else if (mine != own)
          wrong++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_EQ(refused.load(), 0u);
  if (GetParam() == IndexPolicy::kCuckoo) {
    EXPECT_EQ(missed.load(), 0u);
    EXPECT_EQ(store->Stats().evictions, 0u);
    EXPECT_EQ(store->Stats().items, kAnchors + kThreads * keys);
  } else {
    // A full set may have dropped some, which is counted: more while a growth stands still.
    EXPECT_GT(store->Stats().items, kThreads * keys / 10);
    EXPECT_EQ(store->Stats().items + store->Stats().evictions, kAnchors + kThreads * keys);
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, Growth,
                         testing::Values(IndexPolicy::kCuckoo, IndexPolicy::kSetAssociative),
                         [](const auto& test) {
                           return test.param == IndexPolicy::kCuckoo ? "Cuckoo" : "SetAssociative";
                         });

// Sessions that stand still hold growth in the phase they saw.
TEST(GrowthPhases, AreEnteredOnlyWhenEveryEarlierBatchHasEnded) {
  const auto store = OpenStore();
  Client a(store.get()), b(store.get());
  a.Set("k", "v");
  Index& index = store->index();
  const auto step = [&] {
    b.session().Begin();
    index.Step(b.session().log(), 1 << 20, [](uint64_t) { FAIL(); });
    b.session().End();
  };
  a.session().Begin();  // steady
  ASSERT_TRUE(index.StartGrowth().ok());
  EXPECT_EQ(index.StartGrowth().code(), Code::kRetryLater);
  step();
  EXPECT_EQ(index.current().insert_newer, 0u);
  a.session().End();
  a.session().Begin();  // prepare
  EXPECT_NE(a.session().index().newer.buckets, nullptr);
  step();
  EXPECT_EQ(index.current().insert_newer, 1u);
  step();
  step();
  // `a` may still insert into the older table, so nothing is drained from it yet.
  EXPECT_NE(index.current().newer.buckets, nullptr);
  EXPECT_EQ(index.current().insert_newer, 1u);
  a.session().End();
  a.session().Begin();  // drain
  step();
  step();
  EXPECT_EQ(index.current().newer.buckets, nullptr);
  step();
  EXPECT_TRUE(index.growing());  // `a` still looks into the older table
  a.session().End();
  step();
  EXPECT_FALSE(index.growing());
  EXPECT_EQ(a.Value("k"), "v");
}

// What the batch has found before the flush is noted by its place in them.
TEST(GrowthPhases, AFlushLeavesABatchTheTablesThatItHasSeen) {
  const auto store = OpenStore();
  Client a(store.get()), b(store.get());
  Index& index = store->index();
  ASSERT_TRUE(index.StartGrowth().ok());
  const auto step = [&] {
    b.session().Begin();
    index.Step(b.session().log(), 1 << 20, [](uint64_t) {});
    b.session().End();
  };
  while (index.current().insert_newer == 0) step();
  a.session().Begin();
  const task::Bucket* const newer = a.session().index().newer.buckets;
  ASSERT_NE(newer, nullptr);
  for (int i = 0; i < 10 && index.current().newer.buckets != nullptr; i++) step();
  ASSERT_EQ(index.current().newer.buckets, nullptr) << "it is the older one by now";
  store->Flush(a.session(), 0);
  EXPECT_EQ(a.session().index().newer.buckets, newer);
  EXPECT_EQ(a.session().log().flush_floor, store->log().flush_floor());
  a.session().End();
}

TEST(GrowthPhases, TwoInsertsOfOneKeyInDifferentTablesFindEachOther) {
  const auto store = OpenStore();
  Client a(store.get()), b(store.get());
  Index& index = store->index();
  ASSERT_TRUE(index.StartGrowth().ok());
  a.session().Begin();  // prepare: inserts into the older table
  b.session().Begin();
  index.Step(b.session().log(), 1, [](uint64_t) {});
  b.session().End();
  b.session().Begin();  // drain: inserts into the newer one
  ASSERT_EQ(a.session().index().insert_newer, 0u);
  ASSERT_EQ(b.session().index().insert_newer, 1u);
  Command add = Client::Of(Verb::kStore, "k");
  add.hash = store->HashOf("k");
  add.store_mode = StoreMode::kAdd;
  EXPECT_EQ(store->Execute(a.session(), add).outcome, Outcome::kStored);
  EXPECT_EQ(store->Execute(b.session(), add).outcome, Outcome::kNotStored);
  add.key = "l";
  add.hash = store->HashOf("l");
  EXPECT_EQ(store->Execute(b.session(), add).outcome, Outcome::kStored);
  EXPECT_EQ(store->Execute(a.session(), add).outcome, Outcome::kNotStored);
  a.session().End();
  b.session().End();
  EXPECT_EQ(store->Stats().items, 2u);
}

TEST(GrowthByFlood, OfEqualHashesDoesNotTakeTheMemory) {
  CacheOptions options;
  options.evict = false;
  options.hash_bits = 2;
  const auto store = OpenStore(options);
  Client client(store.get());
  std::set<std::string> stored;
  uint32_t refused = 0;
  for (uint64_t i = 0; i < 300; i++) {
    const Outcome outcome = client.Set(Key(i), Key(i));
    if (outcome == Outcome::kStored)
      stored.insert(Key(i));
    else
      refused += outcome == Outcome::kNoMemory;
  }
  EXPECT_EQ(stored.size() + refused, 300u);
  EXPECT_GE(stored.size(), 32u);
  for (const std::string& key : stored) EXPECT_EQ(client.Value(key), key);
  EXPECT_EQ(store->Stats().evictions, 0u);
  EXPECT_LT(store->index().table_bytes(), 2u << 20);
}

// Where the first word of a key is that of XXH3's own secret, the second one counts for nothing.
TEST(GrowthByFlood, NobodyCanForeseeWhichKeysHaveOneHash) {
  CacheOptions options;
  options.memory_bytes = 16 << 20;
  options.huge_pages = false;
  const auto store = std::move(Store::Open(options).value());
  const auto other = std::move(Store::Open(options).value());
  Client client(store.get());
  const uint64_t buckets = store->Stats().index_buckets;
  for (uint64_t i = 0; i < buckets * 6; i++) ASSERT_EQ(client.Set(Key(i), "v"), Outcome::kStored);
  const std::string first(reinterpret_cast<const char*>(XXH3_kSecret), 8);
  std::set<uint64_t> hashes;
  for (uint64_t i = 0; i < 34; i++) {
    const std::string key = first + std::to_string(10'000'000 + i) + std::string(16, 'z');
    EXPECT_EQ(client.Set(key, "v"), Outcome::kStored);
    EXPECT_NE(store->HashOf(key), other->HashOf(key)) << "each store has its own secret";
    hashes.insert(store->HashOf(key));
  }
  EXPECT_EQ(hashes.size(), 34u);
  EXPECT_EQ(store->Stats().index_buckets, buckets);
  EXPECT_EQ(store->Stats().evictions, 0u);
}

// Keys of few hashes: their names by hash.
class KeysByHash {
 public:
  KeysByHash(const Store& store, uint64_t keys) {
    for (uint64_t i = 0; i < keys; i++) keys_[store.HashOf(Key(i))].push_back(Key(i));
  }
  const std::vector<std::string>& first() const { return keys_.begin()->second; }
  // `count` keys of each hash but the first.
  std::vector<std::string> OthersOf(size_t count) const {
    std::vector<std::string> others;
    for (auto each = std::next(keys_.begin()); each != keys_.end(); ++each)
      for (size_t i = 0; i < std::min(count, each->second.size()); i++)
        others.push_back(each->second[i]);
    return others;
  }

 private:
  std::map<uint64_t, std::vector<std::string>> keys_;
};

// The store's count of items lacks the last of a batch until it ends.
TEST(Growth, ABatchThatFillsTheFirstTableLosesNothing) {
  CacheOptions options;
  options.memory_bytes = 8 << 20;
  const auto store = OpenStore(options);
  const auto session = store->NewSession();
  constexpr int kKeys = 4000;
  ASSERT_GT(kKeys, store->Stats().index_buckets * kBucketSlots);
  session->Begin();
  for (int i = 0; i < kKeys; i++) {
    const std::string key = Key(i);
    Command set = Client::Of(Verb::kStore, key);
    set.hash = store->HashOf(key);
    set.value = "v";
    ASSERT_EQ(ExecuteWithRoom(*session, set).outcome, Outcome::kStored);
  }
  session->End();
  EXPECT_EQ(store->Stats().evictions, 0u);
  EXPECT_EQ(store->Stats().items, kKeys);
}

// Whatever the memory: by a fixed share it would be, for some, by as much too large as it grows.
TEST(Growth, LeavesTheTableOfAFullMemoryNoLargerThanItsEntriesNeed) {
  for (uint64_t mib = 8; mib < 12; mib++) {
    CacheOptions options;
    options.memory_bytes = mib << 20;
    const auto store = OpenStore(options);
    Client client(store.get());
    for (uint64_t i = 0; i < 200'000; i++)
      ASSERT_EQ(client.Set(Key(i), std::string(56, 'v')), Outcome::kStored);
    const CacheStats stats = store->Stats();
    EXPECT_GT(stats.evictions, 0u);
    const auto slots = static_cast<double>(stats.index_buckets * kBucketSlots);
    EXPECT_GT(static_cast<double>(stats.items), 0.69 * slots) << mib << " MiB";
  }
}

class GrowthForOnePair : public testing::TestWithParam<bool> {
 protected:
  GrowthForOnePair() {
    CacheOptions options;
    options.memory_bytes = 4 << 20;
    options.hash_bits = 8;
    options.expected_items = 1530;  // 256 buckets
    options.evict = GetParam();
    store_ = OpenStore(options);
  }

  std::unique_ptr<Store> store_;
};

// Two in five slots are in use: a larger table would be of no use to them, whatever one pair of
// buckets has to hold.
TEST_P(GrowthForOnePair, IsNoneWhileOtherPairsHaveRoom) {
  Client client(store_.get());
  const KeysByHash keys(*store_, 40'000);
  const uint64_t buckets = store_->Stats().index_buckets;
  const std::vector<std::string> others = keys.OthersOf(3);
  ASSERT_GT(others.size(), buckets * kBucketSlots / 3);
  for (const std::string& key : others) ASSERT_EQ(client.Set(key, key), Outcome::kStored);
  std::vector<std::string> stored, refused;
  for (size_t i = 0; i < 60; i++) {
    const std::string& key = keys.first()[i];
    (client.Set(key, key) == Outcome::kStored ? stored : refused).push_back(key);
  }
  EXPECT_EQ(store_->Stats().index_buckets, buckets);
  EXPECT_FALSE(store_->index_growing());
  const CacheStats stats = store_->Stats();
  EXPECT_EQ(stats.items + stats.evictions, others.size() + stored.size());
  if (GetParam()) {
    EXPECT_TRUE(refused.empty());
    EXPECT_EQ(client.Value(stored.back()), stored.back());
    EXPECT_LT(stats.evictions, 60u);
    return;
  }
  EXPECT_EQ(stats.evictions, 0u);
  for (const std::string& key : others) EXPECT_EQ(client.Value(key), key);
  for (const std::string& key : stored) EXPECT_EQ(client.Value(key), key);
  // Not for good.
  ASSERT_FALSE(refused.empty());
  EXPECT_EQ(client.Delete(stored.front()), Outcome::kDeleted);
  EXPECT_EQ(client.Set(refused.front(), "v"), Outcome::kStored);
}

TEST_P(GrowthForOnePair, WhoseObjectsHaveEndedTakesNewOnes) {
  Client client(store_.get());
  const KeysByHash keys(*store_, 40'000);
  const Expiry past = base::NowSeconds() - 1;
  // Its segment stays, for this one lives on.
  ASSERT_EQ(client.Set(keys.OthersOf(1).front(), "v", past + 100), Outcome::kStored);
  for (size_t i = 0; i < 16; i++)
    ASSERT_EQ(client.Set(keys.first()[i], "old", past), Outcome::kStored);
  for (size_t i = 16; i < 32; i++)
    EXPECT_EQ(client.Set(keys.first()[i], "new"), Outcome::kStored) << i;
  for (size_t i = 16; i < 32; i++) EXPECT_EQ(client.Value(keys.first()[i]), "new") << i;
  EXPECT_EQ(store_->Stats().evictions, 0u);
  EXPECT_EQ(store_->Stats().items, 17u);
}

INSTANTIATE_TEST_SUITE_P(Eviction, GrowthForOnePair, testing::Bool(),
                         [](const auto& test) { return test.param ? "Evicts" : "Refuses"; });

// Twenty-two keys of one hash: ten came in while the index grew, and took the room that twelve in
// the older table would have needed.
TEST(GrowthWithoutEviction, DropsNothing) {
  CacheOptions options;
  options.evict = false;
  options.hash_bits = 4;
  const auto store = OpenStore(options);
  Client client(store.get());
  const KeysByHash by_hash(*store, 2000);
  const std::vector<std::string>& keys = by_hash.first();
  for (size_t i = 0; i < 12; i++) ASSERT_EQ(client.Set(keys[i], keys[i]), Outcome::kStored);
  Index& index = store->index();
  Session& session = client.session();
  const auto step = [&] {
    session.Begin();
    index.Step(session.log(), 1 << 20, [](uint64_t) { FAIL() << "an entry was dropped"; });
    session.End();
  };
  ASSERT_TRUE(index.StartGrowth().ok());
  while (index.current().insert_newer == 0) step();
  for (size_t i = 12; i < 22; i++) {
    Command set = Client::Of(Verb::kStore, keys[i]);
    set.hash = store->HashOf(keys[i]);
    set.value = keys[i];
    session.Begin();
    EXPECT_EQ(store->Execute(session, set).outcome, Outcome::kStored) << i;
    session.End();
  }
  for (int i = 0; i < 10; i++) step();
  EXPECT_TRUE(index.growing());
  EXPECT_TRUE(index.waits_for_room());
  for (size_t i = 0; i < 22; i++) EXPECT_EQ(client.Value(keys[i]), keys[i]) << i;
  EXPECT_EQ(store->Stats().evictions, 0u);
  EXPECT_EQ(store->Stats().items, 22u);
  const std::string another = by_hash.OthersOf(1).front();  // whose buckets are not full
  EXPECT_EQ(client.Set(another, "v"), Outcome::kStored);
  // When there is room again, growth ends.
  for (size_t i = 0; i < 8; i++) EXPECT_EQ(client.Delete(keys[i]), Outcome::kDeleted);
  for (int i = 0; i < 10; i++) step();
  EXPECT_FALSE(index.growing());
  EXPECT_FALSE(index.waits_for_room());
  for (size_t i = 8; i < 22; i++) EXPECT_EQ(client.Value(keys[i]), keys[i]) << i;
  EXPECT_EQ(client.Value(another), "v");
}

}  // namespace
}  // namespace weft::cache
