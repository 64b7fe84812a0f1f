// The embedded API (include/weft/cache.h): options, groups of calls, threads that come and go.
#include "weft/cache.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <new>
#include <thread>

#include "cache/cache_test_kit.h"

namespace weft {
namespace {

using cache::Rounds;
using cache::TestSeed;

std::unique_ptr<Cache> Open(CacheOptions options = {}) {
  auto opened = Cache::Open(options);
  WEFT_CHECK(opened);
  return std::move(opened.value());
}

TEST(Embedded, OptionsThatMakeNoSenseAreRefused) {
  for (const auto& change : std::initializer_list<void (*)(CacheOptions&)>{
           [](CacheOptions& o) { o.memory_bytes = 1 << 19; },
           [](CacheOptions& o) { o.object_bytes_max = 100; },
           [](CacheOptions& o) { o.object_bytes_max = 2u << 30; },
           [](CacheOptions& o) { o.object_bytes_max = 33 << 20; },
           [](CacheOptions& o) { o.hash_bits = 0; }, [](CacheOptions& o) { o.hash_bits = 65; },
           [](CacheOptions& o) { o.expected_items = 100'000'000; }}) {
    CacheOptions options;
    change(options);
    const auto opened = Cache::Open(options);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code(), Code::kInvalidArgument);
    EXPECT_FALSE(opened.error().message().empty());
  }
}

TEST(Embedded, EveryCallAnswersAsTheHeaderSays) {
  const auto cache = Open();
  std::string value;
  ItemInfo info;
  uint64_t number = 0;
  EXPECT_EQ(cache->Get("k", &value), Outcome::kMiss);
  EXPECT_EQ(cache->Set("k", "v", 100, 7), Outcome::kStored);
  EXPECT_EQ(cache->Get("k", &value, &info), Outcome::kHit);
  EXPECT_EQ(value, "v");
  EXPECT_EQ(info.client_flags, 7u);
  EXPECT_GE(info.ttl_s, 98);
  EXPECT_EQ(cache->CompareAndSwap("k", "w", info.cas + 1), Outcome::kExists);
  EXPECT_EQ(cache->CompareAndSwap("k", "w", info.cas), Outcome::kStored);
  EXPECT_EQ(cache->CompareAndSwap("absent", "w", 1), Outcome::kMiss);
  EXPECT_EQ(cache->Add("k", "x"), Outcome::kNotStored);
  EXPECT_EQ(cache->Replace("absent", "x"), Outcome::kNotStored);
  EXPECT_EQ(cache->Append("k", ">"), Outcome::kStored);
  EXPECT_EQ(cache->Prepend("k", "<"), Outcome::kStored);
  EXPECT_EQ(cache->Get("k", &value), Outcome::kHit);
  EXPECT_EQ(value, "<w>");
  EXPECT_EQ(cache->Increment("k", 1, &number), Outcome::kNotNumeric);
  EXPECT_EQ(cache->Set("n", "5"), Outcome::kStored);
  EXPECT_EQ(cache->Increment("n", 4, &number), Outcome::kNumber);
  EXPECT_EQ(number, 9u);
  EXPECT_EQ(cache->Decrement("n", 10, nullptr), Outcome::kNumber);
  EXPECT_EQ(cache->Decrement("absent", 10, &number), Outcome::kMiss);
  EXPECT_EQ(cache->Touch("k", 50), Outcome::kTouched);
  EXPECT_EQ(cache->Touch("absent", 50), Outcome::kMiss);
  EXPECT_EQ(cache->Delete("k"), Outcome::kDeleted);
  EXPECT_EQ(cache->Delete("k"), Outcome::kMiss);
  EXPECT_EQ(cache->Set("", "v"), Outcome::kBadKey);
  EXPECT_EQ(cache->Set(std::string(251, 'k'), "v"), Outcome::kBadKey);
  EXPECT_EQ(cache->Set("k", std::string(1 << 20, 'v')), Outcome::kTooLarge);
  cache->Clear();
  EXPECT_EQ(cache->Get("n", &value), Outcome::kMiss);
}

TEST(Embedded, LongestTimeToLiveIsNotInThePast) {
  const auto cache = Open();
  std::string value;
  ItemInfo info;
  for (const uint32_t ttl_s : {UINT32_MAX, UINT32_MAX - 1, 4'000'000'000u, 1u << 31}) {
    ASSERT_EQ(cache->Set("k", "v", ttl_s), Outcome::kStored);
    ASSERT_EQ(cache->Get("k", &value, &info), Outcome::kHit) << ttl_s;
    EXPECT_GT(info.ttl_s, 1'000'000'000) << ttl_s;
    ASSERT_EQ(cache->Touch("k", ttl_s), Outcome::kTouched);
    ASSERT_EQ(cache->Get("k", &value), Outcome::kHit) << ttl_s;
  }
}

TEST(Embedded, MultiGetAndMultiSetEqualSingleCalls) {
  std::mt19937_64 random(TestSeed());
  for (uint32_t round = 0; round < Rounds(60); round++) {
    CacheOptions options;
    options.memory_bytes = 8 << 20;
    options.hash_bits = round % 3 == 0 ? 10 : 64;
    options.prefetch = round % 2 == 0;
    options.index_policy = round % 5 == 0 ? IndexPolicy::kSetAssociative : IndexPolicy::kCuckoo;
    const auto one = Open(options), many = Open(options);
    for (uint32_t step = 0; step < 20; step++) {
      const size_t count = random() % 100;
      std::vector<std::string> keys(count), values(count);
      std::vector<Cache::Pair> pairs(count);
      for (size_t i = 0; i < count; i++) {
        keys[i] = random() % 50 == 0 ? "" : "k" + std::to_string(random() % 200);
        if (random() % 50 == 0) keys[i] = std::string(251, 'k');
        values[i] = std::string(random() % 40 == 0 ? (1 << 20) : random() % 200,
                                static_cast<char>('a' + random() % 26));
        pairs[i] = {keys[i], values[i]};
      }
      many->MultiSet(pairs);
      for (size_t i = 0; i < count; i++)
        ASSERT_EQ(pairs[i].outcome, one->Set(keys[i], values[i])) << keys[i];

      std::vector<Cache::Lookup> lookups(count);
      std::vector<std::string> rooms(count);
      for (size_t i = 0; i < count; i++) {
        rooms[i].assign(random() % 300 + 1, '#');
        lookups[i].key = keys[i];
        lookups[i].value = rooms[i].data();
        lookups[i].capacity = static_cast<uint32_t>(rooms[i].size()) - 1;
      }
      many->MultiGet(lookups);
      for (size_t i = 0; i < count; i++) {
        std::string value;
        ASSERT_EQ(lookups[i].outcome, one->Get(keys[i], &value)) << keys[i];
        if (lookups[i].outcome != Outcome::kHit) continue;
        ASSERT_EQ(lookups[i].value_bytes, value.size());
        const size_t copied = std::min<size_t>(value.size(), lookups[i].capacity);
        ASSERT_EQ(rooms[i].substr(0, copied), value.substr(0, copied));
        ASSERT_EQ(rooms[i].find_first_not_of('#', copied), std::string::npos) << "past its room";
      }
    }
  }
}

TEST(Embedded, ValuesOfEveryLengthAreCopiedExactly) {
  const auto cache = Open();
  for (uint32_t bytes = 0; bytes < 400; bytes++) {
    std::string value(bytes, ' ');
    for (uint32_t i = 0; i < bytes; i++) value[i] = static_cast<char>('!' + (i * 7 + bytes) % 90);
    cache->Set("k", value);
    std::string room(bytes + 2, '#');
    Cache::Lookup lookup;
    lookup.key = "k";
    lookup.value = room.data() + 1;
    lookup.capacity = bytes;
    cache->MultiGet({&lookup, 1});
    ASSERT_EQ(room, "#" + value + "#");
  }
}

// MultiView shows what Get has, and of what is absent or no key nothing.
TEST(Embedded, MultiViewShowsWhatGetHas) {
  std::mt19937_64 random(TestSeed());
  const auto cache = Open();
  for (uint32_t i = 0; i < 200; i++)
    cache->Set("k" + std::to_string(i),
               std::string(random() % 2000, static_cast<char>('a' + i % 26)), 0, i % 3);
  for (const size_t count : {0u, 1u, 32u, 33u, 100u}) {
    std::vector<std::string> keys(count);
    std::vector<Cache::View> views(count);
    for (size_t i = 0; i < count; i++) {
      keys[i] = "k" + std::to_string(random() % 300);
      if (random() % 20 == 0) keys[i] = random() % 2 == 0 ? "" : std::string(251, 'k');
      views[i].key = keys[i];
    }
    size_t seen = 0;
    std::vector<std::string> values;
    cache->MultiView(views, [&](std::span<const Cache::View> group) {
      ASSERT_LE(group.size(), 32u);
      ASSERT_EQ(&group.front(), &views[seen]) << "in their order";
      seen += group.size();
      for (const Cache::View& view : group) values.emplace_back(view.value);
    });
    ASSERT_EQ(seen, count);
    for (size_t i = 0; i < count; i++) {
      std::string value;
      ASSERT_EQ(views[i].outcome, cache->Get(keys[i], &value)) << keys[i];
      ASSERT_EQ(values[i], views[i].outcome == Outcome::kHit ? value : "") << keys[i];
      ASSERT_TRUE(views[i].value.empty()) << "it may be gone by now";
    }
  }
}

// Others replace, delete and evict all that is viewed, several times over.
TEST(Embedded, WhatIsViewedStandsWhateverOthersDo) {
  CacheOptions options;
  options.memory_bytes = 8 << 20;
  const auto cache = Open(options);
  const auto fill = [&](char letter) {
    for (uint32_t i = 0; i < 20'000; i++)
      cache->Set("k" + std::to_string(i), std::string(900, letter));
  };
  std::atomic<bool> ending{false};
  std::thread others([&] {
    for (char letter = 'b'; !ending; letter = letter == 'z' ? 'b' : static_cast<char>(letter + 1)) {
      fill(letter);
      cache->Delete("viewed0");
      cache->Clear();
    }
  });
  std::vector<std::string> keys;
  for (uint32_t i = 0; i < 16; i++) keys.push_back("viewed" + std::to_string(i));
  uint64_t hits = 0;
  for (uint32_t round = 0; round < 50 || (hits == 0 && round < 10'000); round++) {
    for (const std::string& key : keys) cache->Set(key, std::string(900, 'a'));
    std::vector<Cache::View> views;
    for (const std::string& key : keys) views.push_back({key});
    cache->MultiView(views, [&](std::span<const Cache::View> group) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      for (const Cache::View& view : group) {
        if (view.outcome != Outcome::kHit) continue;
        hits++;
        EXPECT_EQ(view.value, std::string(900, 'a'));
      }
    });
  }
  ending = true;
  others.join();
  EXPECT_GT(hits, 0u);
}

TEST(EmbeddedDeathTest, AUseOfViewsThatCallsTheCacheIsAnError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // other tests' threads may be there
  const auto cache = Open();
  cache->Set("k", "v");
  Cache::View view{.key = "k"};
  const auto call = [&] { cache->MultiView({&view, 1}, [&](auto) { cache->Set("k", "w"); }); };
  EXPECT_DEATH(call(), "inside");
}

TEST(Embedded, ThreadsOutliveCaches) {
  std::atomic<int> phase{0};
  std::unique_ptr<Cache> cache = Open();
  std::vector<std::thread> threads;
  std::atomic<int> done{0};
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      std::string value;
      for (int turn = 0; turn < 3; turn++) {
        while (phase.load() != 2 * turn) std::this_thread::yield();
        EXPECT_EQ(cache->Set("k", "v"), Outcome::kStored);
        EXPECT_EQ(cache->Get("k", &value), Outcome::kHit);
        done++;
      }
    });
  }
  for (int turn = 0; turn < 3; turn++) {
    while (done.load() != 4 * (turn + 1)) std::this_thread::yield();
    phase = 2 * turn + 1;
    cache = Open();  // the threads that used the old one live on
    phase = 2 * turn + 2;
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Embedded, SessionsOfThreadsThatEndedAreUsedAgain) {
  const auto cache = Open();
  for (int i = 0; i < 1500; i++) {  // more than there can be at once
    std::thread([&] {
      ASSERT_EQ(cache->Set("k" + std::to_string(i), "v"), Outcome::kStored);
    }).join();
  }
  EXPECT_EQ(cache->Stats().items, 1500u);
}

TEST(Embedded, ClearDropsEverythingStoredBefore) {
  const auto cache = Open();
  for (int i = 0; i < 1000; i++) cache->Set("k" + std::to_string(i), "v");
  cache->Clear();
  std::string value;
  for (int i = 0; i < 1000; i++)
    ASSERT_EQ(cache->Get("k" + std::to_string(i), &value), Outcome::kMiss);
  EXPECT_EQ(cache->Set("k1", "w"), Outcome::kStored);
  EXPECT_EQ(cache->Get("k1", &value), Outcome::kHit);
}

#ifndef WEFT_SANITIZED  // whose own memory has no such limit
// In a process of its own: how far it came without what is promised.
int ReadWithoutMemory() {
  ::mallopt(M_ARENA_MAX, 1);  // the others have addresses in reserve
  CacheOptions options;
  options.memory_bytes = 256 << 20;
  options.object_bytes_max = 32 << 20;
  const auto cache = Open(options);
  const std::string large(20 << 20, 'v');
  if (cache->Set("large", large) != Outcome::kStored) return 1;
  int result = 2;
  std::thread([&] {
    std::string value;
    (void)cache->Get("none", &value);  // so that the thread has its session
    const rlimit none_left{0, RLIM_INFINITY};
    const rlimit no_limit{RLIM_INFINITY, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_AS, &none_left) != 0) return;
    try {
      (void)cache->Get("large", &value);
    } catch (const std::bad_alloc&) {
      result = 3;
    }
    (void)::setrlimit(RLIMIT_AS, &no_limit);
    // While this thread is still there, others store several times what the memory holds.
    std::thread([&] {
      int stored = 0;
      for (int i = 0; i < 50; i++)
        stored += cache->Set("k" + std::to_string(i), large) == Outcome::kStored ? 1 : 0;
      if (result == 3 && stored == 50) result = 0;
    }).join();
  }).join();
  return result;
}

TEST(Embedded, AReaderThatFindsNoMemoryHoldsNobodyUp) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // not forked from this process
  EXPECT_EXIT(::_exit(ReadWithoutMemory()), ::testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace weft
