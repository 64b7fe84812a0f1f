#include "weft/block_cache.h"

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "table/file_test_kit.h"

namespace weft {
namespace {

std::vector<std::pair<std::string, int>>& Dropped() {
  static std::vector<std::pair<std::string, int>> dropped;
  return dropped;
}

void* ToValue(int number) {
  return new int(number);  // freed by Drop
}
void Drop(std::string_view key, void* value) {
  auto* number = static_cast<int*>(value);
  Dropped().emplace_back(std::string(key), *number);
  delete number;
}

class LruBlockCache : public testing::Test {
 protected:
  LruBlockCache() { Dropped().clear(); }

  void Insert(const std::string& key, int number, size_t charge = 1) {
    cache_->Release(InsertHeld(key, number, charge));
  }
  BlockCache::Handle* InsertHeld(const std::string& key, int number, size_t charge = 1) {
    return cache_->Insert(key, ToValue(number), charge, &Drop);
  }
  // The number under the key, or -1.
  int Find(const std::string& key) {
    BlockCache::Handle* held = cache_->Lookup(key);
    if (held == nullptr) return -1;
    const int number = *static_cast<int*>(cache_->Value(held));
    cache_->Release(held);
    return number;
  }

  static constexpr size_t kCapacity = 1600;
  std::shared_ptr<BlockCache> cache_ = NewLruBlockCache(kCapacity);
};

TEST_F(LruBlockCache, FindsWhatWasInsertedAndTheLaterOfTwo) {
  EXPECT_EQ(Find("a"), -1);
  Insert("a", 1);
  EXPECT_EQ(Find("a"), 1);
  EXPECT_EQ(Find(""), -1);
  Insert("", 7);
  EXPECT_EQ(Find(""), 7);
  Insert("a", 2);
  EXPECT_EQ(Find("a"), 2);
  ASSERT_EQ(Dropped().size(), 1u);
  EXPECT_EQ(Dropped()[0], std::make_pair(std::string("a"), 1));
  EXPECT_EQ(cache_->TotalCharge(), 2u);
}

TEST_F(LruBlockCache, EraseTakesAnEntryOutAndHoldersKeepIt) {
  cache_->Erase("a");
  Insert("a", 1);
  BlockCache::Handle* held = cache_->Lookup("a");
  cache_->Erase("a");
  EXPECT_EQ(Find("a"), -1);
  EXPECT_TRUE(Dropped().empty());
  EXPECT_EQ(cache_->TotalCharge(), 1u) << "counts until it is released";
  EXPECT_EQ(*static_cast<int*>(cache_->Value(held)), 1);
  cache_->Release(held);
  EXPECT_EQ(Dropped().size(), 1u);
  EXPECT_EQ(cache_->TotalCharge(), 0u);
}

TEST_F(LruBlockCache, TheLeastRecentlyUsedGoesFirst) {
  Insert("used", 1);
  Insert("idle", 2);
  BlockCache::Handle* held = InsertHeld("held", 3);
  for (int i = 0; i < 4000; ++i) {
    Insert("fill" + std::to_string(i), i);
    ASSERT_EQ(Find("used"), 1);
    ASSERT_EQ(Find("fill" + std::to_string(i)), i);
    ASSERT_LE(cache_->TotalCharge(), kCapacity + 16);
  }
  EXPECT_EQ(Find("idle"), -1);
  EXPECT_EQ(Find("held"), 3);
  cache_->Release(held);
}

TEST_F(LruBlockCache, EntriesInUseStayThoughThereIsNoRoom) {
  std::vector<BlockCache::Handle*> held;
  for (int i = 0; i < 3000; ++i) held.push_back(InsertHeld("k" + std::to_string(i), i));
  EXPECT_EQ(cache_->TotalCharge(), 3000u);
  for (int i = 0; i < 3000; ++i) EXPECT_EQ(Find("k" + std::to_string(i)), i);
  EXPECT_TRUE(Dropped().empty());
  for (BlockCache::Handle* handle : held) cache_->Release(handle);
  EXPECT_LE(cache_->TotalCharge(), kCapacity);
  EXPECT_GE(Dropped().size(), 1400u);
}

TEST_F(LruBlockCache, HeavyEntriesPushOutMoreThanLightOnes) {
  for (int i = 0; i < 1000; ++i) Insert("k" + std::to_string(i), i, i % 2 == 0 ? 1 : 20);
  EXPECT_LE(cache_->TotalCharge(), kCapacity);
  Insert("larger than all", 1, 10 * kCapacity);
  EXPECT_EQ(Find("larger than all"), -1);
  EXPECT_LE(cache_->TotalCharge(), kCapacity);
}

TEST_F(LruBlockCache, PruneDropsWhatNobodyHolds) {
  Insert("a", 1);
  Insert("b", 2);
  BlockCache::Handle* held = cache_->Lookup("b");
  cache_->Prune();
  EXPECT_EQ(Find("a"), -1);
  EXPECT_EQ(Find("b"), 2);
  EXPECT_EQ(cache_->TotalCharge(), 1u);
  cache_->Release(held);
}

TEST_F(LruBlockCache, WithoutCapacityAnEntryLivesAsLongAsItsHandle) {
  cache_ = NewLruBlockCache(0);
  BlockCache::Handle* held = InsertHeld("a", 1);
  EXPECT_EQ(Find("a"), -1);
  EXPECT_EQ(*static_cast<int*>(cache_->Value(held)), 1);
  cache_->Release(held);
  EXPECT_EQ(Dropped().size(), 1u);
  EXPECT_EQ(cache_->TotalCharge(), 0u);
}

TEST_F(LruBlockCache, GivesEveryCallerAnotherId) {
  const uint64_t first = cache_->NewId();
  EXPECT_NE(first, cache_->NewId());
}

TEST_F(LruBlockCache, DropsAllWhenItGoes) {
  for (int i = 0; i < 100; ++i) Insert("k" + std::to_string(i), i);
  cache_.reset();
  EXPECT_EQ(Dropped().size(), 100u);
}

TEST_F(LruBlockCache, KeepsItsPromisesWhenManyThreadsUseIt) {
  const auto free_value = [](std::string_view, void* value) { delete static_cast<int*>(value); };
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(table::TestSeed() * 100 + t);
      for (int i = 0; i < 20'000; ++i) {
        const int number = static_cast<int>(random() % 500);
        const std::string key = std::to_string(number);
        BlockCache::Handle* held = cache_->Lookup(key);
        if (held == nullptr) held = cache_->Insert(key, ToValue(number), 10, free_value);
        ASSERT_EQ(*static_cast<int*>(cache_->Value(held)), number);
        if (random() % 16 == 0) cache_->Erase(key);
        if (random() % 1024 == 0) cache_->Prune();
        cache_->Release(held);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache_->TotalCharge(), kCapacity);
}

}  // namespace
}  // namespace weft
