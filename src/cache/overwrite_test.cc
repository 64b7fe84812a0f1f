#include "cache/overwrite.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/random.h"
#include "cache/cache_test_kit.h"
#include "cache/entry.h"
#include "weft/cache.h"

namespace weft::cache {
namespace {

TEST(BareSet, AsksForNothing) {
  const auto is_bare = [](auto change) {
    Command command = Client::Of(Verb::kStore, "k");
    change(command);
    return IsBareSet(command);
  };
  EXPECT_TRUE(is_bare([](Command&) {}));
  EXPECT_TRUE(is_bare([](Command& c) { c.binary_key = true; }));
  EXPECT_TRUE(is_bare([](Command& c) { c.clears_when_full = true; }));
  EXPECT_FALSE(is_bare([](Command& c) { c.verb = Verb::kRead; }));
  EXPECT_FALSE(is_bare([](Command& c) { c.store_mode = StoreMode::kReplace; }));
  EXPECT_FALSE(is_bare([](Command& c) { c.compare_cas = true; }));
  EXPECT_FALSE(is_bare([](Command& c) { c.explicit_cas = true; }));
  EXPECT_FALSE(is_bare([](Command& c) { c.want_cas = true; }));
  EXPECT_FALSE(is_bare([](Command& c) { c.client_flags = 1; }));
  EXPECT_FALSE(is_bare([](Command& c) { c.expiry = 1; }));
}

class OverwriteTest : public testing::Test {
 protected:
  static constexpr uint64_t kKeys = 200;

  OverwriteTest() {
    for (uint64_t round = 0; round < 5; round++)
      for (uint64_t i = 0; i < kKeys; i++) client_.Set(Key(1000 + i), "value0");
  }
  // Stores it over the key's entry in a batch of its own. Returns its location, or 0.
  uint64_t Try(std::string_view key, std::string_view value, bool binary = false) {
    Command command = Client::Of(Verb::kStore, key);
    command.value = value;
    command.binary_key = binary;
    command.hash = store_->HashOf(key);
    const InBatch batch(session_);
    const task::Found found = Find(key);
    return Overwrite(session_, command, found.slot, found.word);
  }
  task::Found Find(std::string_view key) {
    return task::Find(session_.index(), session_.log(), TaskKey(key, store_->HashOf(key)));
  }
  uint64_t Live() const { return store_->log().live_bytes(); }

  const std::unique_ptr<Store> store_ = OpenFillingStore();
  Client client_{store_.get()};
  Session& session_ = client_.session();
};

TEST_F(OverwriteTest, FillsAHoleAndLeavesAnother) {
  const uint64_t live = Live(), holes = session_.hole_units(), items = store_->ItemCount();
  ASSERT_GT(holes, 0u);
  const uint64_t next = session_.holes().NextLocation(3, Generation::kYoung);
  EXPECT_EQ(Try(Key(1007), "value1"), next);
  EXPECT_EQ(session_.counters().overwritten.value(), 1u);
  EXPECT_EQ(client_.Value(Key(1007)), "value1");
  EXPECT_EQ(Live(), live);
  EXPECT_EQ(session_.hole_units(), holes);
  EXPECT_EQ(store_->ItemCount(), items);
  EXPECT_NE(Try(Key(1008), "value2", true), 0u);
  const Answer answer = client_.Get(Key(1008));
  EXPECT_EQ(answer.value, "value2");
  EXPECT_TRUE(answer.reply.binary_key);
  EXPECT_FALSE(client_.Get(Key(1007)).reply.binary_key);
}

TEST_F(OverwriteTest, AnObjectOfAnotherSizeLeavesItsOwnHole) {
  const uint64_t holes = session_.hole_units();
  ASSERT_EQ(client_.Set(Key(1003), std::string(100, 'x')), Outcome::kStored);
  EXPECT_EQ(session_.hole_units(), holes + 3);
  EXPECT_NE(Try(Key(1003), "value1"), 0u);
  EXPECT_EQ(session_.hole_units(), holes + (8 + 7 + 100 + 7) / 8);
  EXPECT_EQ(client_.Value(Key(1003)), "value1");
}

TEST_F(OverwriteTest, WithoutAHoleNothingIsDone) {
  const uint64_t live = Live();
  EXPECT_EQ(Try(Key(1007), std::string(100, 'x')), 0u) << "none of that size";
  EXPECT_EQ(Try(Key(1007), std::string(2000, 'x')), 0u) << "none are so large";
  session_.GiveUpHoles();
  EXPECT_EQ(Try(Key(1007), "value1"), 0u);
  EXPECT_LT(Live(), live);
  EXPECT_EQ(client_.Value(Key(1007)), "value0");
}

TEST_F(OverwriteTest, AVersionThatWasShownIsNotReplacedHere) {
  client_.Gets(Key(1007));
  EXPECT_EQ(Try(Key(1007), "value1"), 0u);
  ASSERT_EQ(client_.Set(Key(1007), "value1"), Outcome::kStored);
  EXPECT_EQ(Try(Key(1007), "value2"), 0u) << "its key's versions must rise";
  EXPECT_NE(Try(Key(1008), "value2"), 0u);
}

// Somebody was faster: the hole's place counts as dead, and the other value stays.
TEST_F(OverwriteTest, AnEntryThatChangedIsLeft) {
  const uint64_t holes = session_.hole_units(), live = Live();
  session_.Begin();
  const task::Found found = Find(Key(1007));
  {
    Client other(store_.get());
    ASSERT_EQ(other.Set(Key(1007), "value9"), Outcome::kStored);
  }
  Command command = Client::Of(Verb::kStore, "");
  const std::string key = Key(1007);
  command.key = key;
  command.value = "value1";
  EXPECT_EQ(Overwrite(session_, command, found.slot, found.word), 0u);
  session_.End();
  EXPECT_EQ(client_.Value(key), "value9");
  EXPECT_EQ(session_.counters().retries.value(), 1u);
  EXPECT_EQ(session_.hole_units(), holes - 3);
  EXPECT_EQ(Live(), live - 24) << "the other's hole was given up with its session";
}

TEST_F(OverwriteTest, NothingIsDoneWhileAFlushIsCarriedOut) {
  session_.Begin();
  const task::Found found = Find(Key(1007));
  ASSERT_NE(found.slot, nullptr);
  {
    Client other(store_.get());
    other.Flush();
  }
  const std::string key = Key(1007);
  Command command = Client::Of(Verb::kStore, key);
  command.value = "value1";
  EXPECT_EQ(Overwrite(session_, command, found.slot, found.word), 0u);
  session_.RefreshLog();
  EXPECT_EQ(Overwrite(session_, command, found.slot, found.word), 0u);
  session_.End();
  EXPECT_EQ(client_.Value(key), "(none)");
}

// Each thread stores many of its own keys at once, some twice, and reads them and those of others,
// some with their versions. Every value is its key's, and of the thread's own the last.
TEST(OverwriteByMany, ThreadsReadTheirOwnValues) {
  CacheOptions options;
  options.memory_bytes = 16 << 20;
  options.hash_seed = TestSeed() + 1;
  const auto cache = std::move(Cache::Open(options).value());
  constexpr uint64_t kThreads = 4, kKeysEach = 2000, kMany = 40;
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      base::Random random(TestSeed() * 16 + t);
      std::vector<uint64_t> stored(kKeysEach);
      for (uint64_t n = 1; n <= Rounds(3000); n++) {
        std::vector<std::string> keys(kMany), values(kMany);
        std::vector<Cache::Pair> pairs(kMany);
        for (uint64_t i = 0; i < kMany; i++) {
          const uint64_t key = random.Below(kKeysEach);
          keys[i] = Key(key * kThreads + t);
          values[i] = keys[i] + "=" + std::to_string(stored[key] = n * kMany + i);
          values[i].resize(random.Below(20) == 0 ? 80 : 48, '.');
          pairs[i] = {keys[i], values[i]};
        }
        cache->MultiSet(pairs);
        for (const Cache::Pair& pair : pairs) wrong += pair.outcome != Outcome::kStored;
        for (uint64_t i = 0; i < kMany; i++) {
          const uint64_t key = random.Below(kKeysEach);
          const uint64_t owner = random.Below(4) == 0 ? random.Below(kThreads) : t;
          const std::string name = Key(key * kThreads + owner);
          std::string value;
          ItemInfo info;
          const Outcome outcome =
              random.Below(50) == 0 ? cache->Get(name, &value, &info) : cache->Get(name, &value);
          if (outcome != Outcome::kHit) {
            wrong += owner == t && stored[key] != 0;
            continue;
          }
          const std::string begin = name + "=" + std::to_string(stored[key]) + ".";
          const std::string expected = owner == t ? begin : name + "=";
          wrong += value.compare(0, expected.size(), expected) != 0;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_EQ(cache->Stats().evictions, 0u);
}

}  // namespace
}  // namespace weft::cache
