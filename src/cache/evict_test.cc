// Eviction, expiry by segment, and the limit of memory.
//
// Threads   one.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <map>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

std::string ValueOf(uint64_t i, size_t bytes) {
  static const std::string letters = [] {
    std::string text;
    while (text.size() < (1 << 20) + 26) text += "abcdefghijklmnopqrstuvwxyz";
    return text;
  }();
  std::string value = Key(i) + "|";
  if (bytes > value.size()) value.append(letters, i % 26, bytes - value.size());
  return value;
}
CacheOptions Small(uint64_t mib) {
  CacheOptions options;
  options.memory_bytes = mib << 20;
  options.append_lanes = 2;  // on each machine the same: with many cores it would have more
  return options;
}

TEST(Eviction, HotObjectsStayAndColdOnesGo) {
  const auto store = OpenStore(Small(8));
  Client client(store.get());
  uint64_t lost = 0, asked = 0;
  for (uint64_t i = 0; i < 100000; i++) {
    ASSERT_EQ(client.Set(Key(i), std::string(500, 'c')), Outcome::kStored);
    for (uint64_t j = 0; j < 2; j++) {
      const std::string hot = "hot" + std::to_string((2 * i + j) % 1000);
      if (client.Value(hot) != "(none)") continue;
      lost += i > 5000;
      client.Set(hot, std::string(500, 'h'));
    }
    asked += 2;
  }
  EXPECT_LT(lost, asked / 200);
  uint64_t cold = 0;
  for (uint64_t i = 0; i < 50000; i++) cold += client.Value(Key(i)) != "(none)";
  EXPECT_LT(cold, 500u);
  EXPECT_GT(store->Stats().evictions, 70000u);
  EXPECT_GT(store->Stats().carried, 500u);
}

// Asks for random keys of two sizes, all equally often, and stores what is missing.
TEST(Eviction, SmallerOnesOfThoseUsedAlikeStay) {
  const auto store = OpenStore(Small(8));
  Client client(store.get());
  std::mt19937_64 random(TestSeed());
  constexpr uint64_t kKeys = 8000;  // 0.5 MB in the even ones, 20 MB in the odd ones
  uint64_t asked[2] = {0, 0}, hits[2] = {0, 0};
  for (uint64_t i = 0; i < 200000; i++) {
    const uint64_t key = random() % kKeys;
    const bool hit = client.Value(Key(key)) != "(none)";
    if (!hit) client.Set(Key(key), std::string(key % 2 == 0 ? 100 : 5000, 'x'));
    if (i < 50000) continue;
    asked[key % 2]++;
    hits[key % 2] += hit;
  }
  EXPECT_GT(hits[0] * 100, asked[0] * 99);
  EXPECT_GT(hits[1] * 100, asked[1] * 15);  // most of what the memory can hold
}

TEST(Eviction, SmallOnesThatNobodyReadsGo) {
  const auto store = OpenStore(Small(8));
  Client client(store.get());
  std::mt19937_64 random(TestSeed());
  constexpr uint64_t kSmall = 400000;  // 40 MB of them
  for (uint64_t i = 0; i < kSmall; i++) {
    client.Set(Key(i), std::string(60, 's'));
    if (i % 20 != 0) continue;
    const std::string large = "large" + std::to_string(random() % 1000);
    if (client.Value(large) == "(none)") client.Set(large, std::string(4000, 'l'));
  }
  uint64_t left = 0;
  for (uint64_t i = 0; i < kSmall / 2; i++) left += client.Value(Key(i)) != "(none)";
  EXPECT_LT(left, kSmall / 1000);
}

TEST(Eviction, HotObjectsStayWhereTheIndexIsAboutToGrow) {
  // Among these sizes are some where a full memory holds just as many objects as make the table
  // crowded: room must be made for the next table, and that room must not be made again for ever.
  for (uint32_t size = 0; size < Rounds(9); size++) {
    const uint64_t bytes = 40 + size * 12 % 108;
    const auto store = OpenStore(Small(8));
    Client client(store.get());
    uint64_t lost = 0, asked = 0;
    for (uint64_t i = 0; i < 300000; i++) {
      ASSERT_EQ(client.Set(Key(i), std::string(bytes, 'c')), Outcome::kStored);
      const std::string hot = "hot" + std::to_string(i % 2000);
      asked++;
      if (client.Value(hot) != "(none)") continue;
      lost += i > 5000;
      client.Set(hot, std::string(bytes, 'h'));
    }
    EXPECT_LT(lost, asked / 50) << bytes;
    EXPECT_GT(store->Stats().carried, 1000u) << bytes;
    EXPECT_GT(store->Stats().memory_bytes, 15u << 19) << bytes;
    EXPECT_LE(store->Stats().memory_bytes, 16u << 19) << bytes;
  }
}

TEST(Eviction, ItemsAndBytesAreCountedExactly) {
  for (const uint64_t object_bytes : {100, 700, 40000}) {
    const auto store = OpenStore(Small(4));
    Client client(store.get());
    std::mt19937_64 random(TestSeed());
    const uint64_t keys = (8u << 20) / object_bytes;
    for (uint64_t i = 0; i < (24u << 20) / (object_bytes + 60); i++) {
      const uint64_t key = random() % keys;
      if (random() % 8 == 0) {
        client.Delete(Key(key));
      } else if (random() % 2 == 0) {
        client.Get(Key(key));
      } else {
        ASSERT_EQ(client.Set(Key(key), ValueOf(key, object_bytes)), Outcome::kStored);
      }
    }
    uint64_t present = 0, bytes = 0;
    for (uint64_t i = 0; i < keys; i++) {
      const Answer answer = client.Get(Key(i));
      if (answer.reply.outcome != Outcome::kHit) continue;
      present++;
      bytes += answer.reply.object_bytes;
    }
    EXPECT_EQ(store->Stats().items, present) << object_bytes;
    EXPECT_EQ(store->Stats().object_bytes, bytes) << object_bytes;
    EXPECT_GT(store->Stats().evictions, 0u);
  }
}

TEST(Eviction, CarriedObjectsKeepWhatTheyAre) {
  const auto store = OpenStore(Small(4));
  Client client(store.get());
  const uint32_t now = base::NowSeconds();
  Command set = Client::Of(Verb::kStore, "k");
  set.value = "value";
  set.client_flags = 77;
  set.expiry = now + 5000;
  set.binary_key = true;
  client.Run(set);
  Command invalidate = Client::Of(Verb::kDelete, "k");
  invalidate.invalidate = true;
  client.Run(invalidate);
  for (uint64_t i = 0; i < 40000; i++) {
    client.Set(Key(i), std::string(300, 'x'), now + 5000);
    if (i % 8 == 0) client.Get("k");
  }
  EXPECT_GT(store->Stats().carried, 0u);
  const Answer answer = client.Get("k");
  ASSERT_EQ(answer.reply.outcome, Outcome::kHit);
  EXPECT_EQ(answer.value, "value");
  EXPECT_EQ(answer.reply.client_flags, 77u);
  EXPECT_TRUE(answer.reply.stale);
  EXPECT_TRUE(answer.reply.binary_key);
  EXPECT_GT(answer.reply.ttl_s, 4900);
}

TEST(Eviction, LargeObjectsThatAreUsedStay) {
  const auto store = OpenStore(Small(16));
  Client client(store.get());
  const std::string large = ValueOf(1, 700000);
  client.Set("large", large);
  uint32_t lost = 0;
  for (uint64_t i = 0; i < 300; i++) {
    ASSERT_EQ(client.Set(Key(i), ValueOf(i, 700000)), Outcome::kStored);
    for (int j = 0; j < 3; j++) lost += client.Value("large") != large;
  }
  EXPECT_EQ(lost, 0u);
  EXPECT_GT(store->Stats().evictions, 200u);
}

TEST(Eviction, LargeObjectsFitBesideSmallOnesAtEverySize) {
  for (const uint64_t mib : {2, 3, 4, 8, 16}) {
    const auto store = OpenStore(Small(mib));
    Client client(store.get());
    for (uint64_t i = 0; i < 3 * mib << 10; i++)
      ASSERT_EQ(client.Set(Key(i), std::string(1000, 'x')), Outcome::kStored) << mib;
    const std::string large((1 << 20) - 6, 'y');
    for (int round = 0; round < 5; round++) {
      ASSERT_EQ(client.Set("large", large), Outcome::kStored) << mib << " MiB";
      ASSERT_EQ(client.Value("large"), large);
      ASSERT_EQ(client.Set(Key(round), "small"), Outcome::kStored);
      ASSERT_EQ(client.Set("large2", large), Outcome::kStored) << mib << " MiB";
    }
    EXPECT_LE(store->Stats().memory_bytes, mib << 20);
  }
}

// A mixture of every size over and over: whatever is free lies where it lies, and yet a store that
// may evict stores.
TEST(Eviction, MixedSizesAreStoredAlwaysAndWithinTheLimit) {
  for (const uint64_t mib : {2, 4, 8, 64}) {
    const auto store = OpenStore(Small(mib));
    Client client(store.get());
    std::mt19937_64 random(TestSeed() + mib);
    uint64_t memory_max = 0;
    for (uint64_t i = 0; i < Rounds(6000); i++) {
      const uint64_t bits = random() % 21;
      const uint64_t bytes = std::min<uint64_t>(random() % (uint64_t{2} << bits), (1 << 20) - 50);
      const uint64_t key = random() % 5000;
      const auto after_s = static_cast<uint32_t>(random() % 100000);
      const Expiry expiry = after_s % 3 == 0 ? kNeverExpires : base::NowSeconds() + 10 + after_s;
      ASSERT_EQ(client.Set(Key(key), ValueOf(key, bytes), expiry), Outcome::kStored)
          << bytes << " bytes, " << mib << " MiB, round " << i;
      const uint64_t other = random() % 5000;
      const std::string value = client.Value(Key(other));
      if (value != "(none)") {
        ASSERT_EQ(value, ValueOf(other, value.size()));
      }
      memory_max = std::max(memory_max, store->Stats().memory_bytes);
      ASSERT_LE(memory_max, mib << 20) << "round " << i;
    }
  }
}

TEST(Memory, StaysWithinTheLimitWhileTheIndexGrows) {
  for (const uint64_t mib : {4, 12}) {
    const auto store = OpenStore(Small(mib));
    Client client(store.get());
    const uint64_t buckets = store->Stats().index_buckets;
    uint64_t memory_max = 0;
    // First it is full of large objects, then small ones crowd the index.
    for (uint64_t i = 0; i < mib * 3000; i++) client.Set(Key(i), std::string(1000, 'x'));
    for (uint64_t i = 0; i < mib * 20000; i++) {
      ASSERT_EQ(client.Set(Key(i), "v"), Outcome::kStored);
      if (i % 16 == 0) memory_max = std::max(memory_max, store->Stats().memory_bytes);
    }
    EXPECT_GT(store->Stats().index_buckets, buckets * 4);
    EXPECT_LE(memory_max, mib << 20);
  }
}

uint64_t ResidentBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  unsigned long size = 0, resident = 0;
  const int fields = file == nullptr ? 0 : std::fscanf(file, "%lu %lu", &size, &resident);
  if (file != nullptr) std::fclose(file);
  return fields == 2 ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

TEST(Memory, SystemSeesNoMoreThanTheLimit) {
#ifdef WEFT_SANITIZED
  GTEST_SKIP() << "a sanitizer's shadow is resident too";
#endif
  const uint64_t before = ResidentBytes();
  if (before == 0) GTEST_SKIP() << "no /proc here";
  const auto store = OpenStore(Small(32));
  Client client(store.get());
  std::mt19937_64 random(TestSeed());
  uint64_t most = 0;
  for (uint64_t i = 0; i < 200000; i++) {
    const uint64_t bytes = i % 100 == 0 ? random() % 1000000 : random() % 1000;
    ASSERT_EQ(client.Set(Key(random() % 100000), std::string(bytes, 'x')), Outcome::kStored);
    if (i % 50 == 0) most = std::max(most, ResidentBytes() - std::min(before, ResidentBytes()));
  }
  EXPECT_LE(most, (32u << 20) + (3u << 20));  // the test's own strings, the allocator's spare
  EXPECT_GT(most, 24u << 20);
}

TEST(Memory, LimitMayBeChangedWhileItRuns) {
  const auto store = OpenStore(Small(16));
  Client client(store.get());
  for (uint64_t i = 0; i < 40000; i++) client.Set(Key(i), std::string(500, 'x'));
  ASSERT_TRUE(store->SetMemoryLimit(8 << 20).ok());
  for (uint64_t i = 0; i < 20000; i++)
    ASSERT_EQ(client.Set(Key(i), std::string(500, 'y')), Outcome::kStored);
  EXPECT_LE(store->Stats().memory_bytes, 8u << 20);
  ASSERT_TRUE(store->SetMemoryLimit(32 << 20).ok());
  for (uint64_t i = 0; i < 50000; i++) client.Set(Key(i), std::string(500, 'z'));
  EXPECT_GT(store->Stats().memory_bytes, 20u << 20);
  EXPECT_LE(store->Stats().memory_bytes, 32u << 20);
  EXPECT_FALSE(store->SetMemoryLimit(1 << 20).ok());
  EXPECT_FALSE(store->SetMemoryLimit(1 << 30).ok());
}

// Nobody has to make all the room at once: that took longer than a command may wait.
TEST(Memory, LimitIsLoweredBitByBitAndNoStoreIsRefusedOnTheWay) {
  for (const int reads : {0, 3}) {
    const auto store = OpenStore(Small(128));
    Client client(store.get());
    for (uint64_t i = 0; i < 33000; i++) {
      client.Set(Key(i), std::string(4000, 'x'));
      for (int j = 0; j < reads; j++) client.Get(Key(i));
    }
    ASSERT_TRUE(store->SetMemoryLimit(32 << 20).ok());
    const SessionCounters& counters = client.session().counters();
    uint64_t freed_max = 0;
    for (uint64_t i = 0; i < 8000; i++) {
      const uint64_t before = counters.segments_freed.value();
      const size_t bytes = i % 400 == 7 ? 300000 : 4000;
      ASSERT_EQ(client.Set("new" + Key(i), std::string(bytes, 'y')), Outcome::kStored) << i;
      freed_max = std::max(freed_max, counters.segments_freed.value() - before);
    }
    EXPECT_LE(store->Stats().memory_bytes, 32u << 20);
    EXPECT_LT(freed_max, 150u);  // of some 1500
  }
}

// Where it takes thousands of small segments.
TEST(Eviction, LargestObjectFindsRoomInAStoreFullOfSmallOnes) {
  CacheOptions options = Small(128);
  options.object_bytes_max = 64 << 20;
  const auto store = OpenStore(options);
  Client client(store.get());
  for (uint64_t i = 0; i < 33000; i++) {
    client.Set(Key(i), std::string(4000, 'x'));
    for (int j = 0; j < 3; j++) client.Get(Key(i));
  }
  const std::string large(60 << 20, 'y');
  EXPECT_EQ(client.Set("large", large), Outcome::kStored);
  EXPECT_TRUE(client.Value("large") == large);  // no message of 60 MB
  EXPECT_LE(store->Stats().memory_bytes, 128u << 20);
}

// Each fills a run of segments, which is kept where it lies rather than copied.
TEST(Eviction, StoreFullOfLargeObjectsInUseTakesAnother) {
  const auto store = OpenStore(Small(64));
  Client client(store.get());
  for (uint64_t i = 0; i < 2000; i++) {
    ASSERT_EQ(client.Set(Key(i), std::string(100000, 'x')), Outcome::kStored) << i;
    for (int j = 0; j < 16; j++) client.Get(Key(i));
  }
  EXPECT_GT(store->Stats().items, 400u);
}

TEST(Memory, OfATooSmallStoreIsRefusedAtOpen) {
  CacheOptions options;
  options.memory_bytes = 1 << 20;
  options.object_bytes_max = 512 << 10;
  // Whatever opens keeps its promise, or it does not open.
  for (uint64_t bytes = 1 << 20; bytes < 6u << 20; bytes += 1'000'000 / Rounds(10)) {
    options.memory_bytes = bytes;
    options.object_bytes_max = static_cast<uint32_t>(bytes / 2);
    auto opened = Store::Open(options);
    if (!opened) {
      EXPECT_EQ(opened.error().code(), Code::kInvalidArgument);
      continue;
    }
    Client client(opened->get());
    for (uint64_t i = 0; i < 300; i++)
      client.Set(Key(i), std::string(options.object_bytes_max / (i % 20 + 1) - 30, 'x'));
    EXPECT_LE((*opened)->Stats().memory_bytes, bytes);
  }
}

TEST(NoEviction, RefusesWhenFullAndLosesNothing) {
  CacheOptions options = Small(4);
  options.evict = false;
  const auto store = OpenStore(options);
  Client client(store.get());
  std::map<std::string, std::string> stored;
  uint32_t refused = 0;
  std::mt19937_64 random(TestSeed());
  for (uint64_t i = 0; i < Rounds(30000) || refused < 100; i++) {
    const uint64_t key = random() % 30000;
    const std::string value = ValueOf(key + i, random() % 600);
    const Outcome outcome = client.Set(Key(key), value);
    if (outcome == Outcome::kStored)
      stored[Key(key)] = value;
    else {
      ASSERT_EQ(outcome, Outcome::kNoMemory);
    }
    refused += outcome == Outcome::kNoMemory;
    if (random() % 16 == 0 && !stored.empty()) {
      const auto at = stored.lower_bound(Key(random() % 30000));
      const std::string gone = at == stored.end() ? stored.begin()->first : at->first;
      ASSERT_EQ(client.Delete(gone), Outcome::kDeleted);
      stored.erase(gone);
    }
    if (refused > 3000) break;
  }
  EXPECT_GT(refused, 50u);
  for (const auto& [key, value] : stored) ASSERT_EQ(client.Value(key), value);
  EXPECT_EQ(store->Stats().items, stored.size());
  EXPECT_EQ(store->Stats().evictions, 0u);
  EXPECT_LE(store->Stats().memory_bytes, 4u << 20);
  // Most of the memory is in use when the first is refused.
  EXPECT_GT(store->Stats().object_bytes, 2u << 20);
}

TEST(NoEviction, DeletedRoomIsUsedAgain) {
  CacheOptions options = Small(4);
  options.evict = false;
  const auto store = OpenStore(options);
  Client client(store.get());
  for (int round = 0; round < 5; round++) {
    uint64_t n = 0;
    while (client.Set(Key(n), std::string(1000, 'x')) == Outcome::kStored) n++;
    EXPECT_GT(n, 2000u) << round;
    for (uint64_t i = 0; i < n; i++) ASSERT_EQ(client.Delete(Key(i)), Outcome::kDeleted);
  }
}

TEST(NoEviction, IsNotForASetAssociativeIndex) {
  CacheOptions options;
  options.evict = false;
  options.index_policy = IndexPolicy::kSetAssociative;
  const auto store = Store::Open(options);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::kInvalidArgument);
}

TEST(Expiry, SegmentsThatEndedAreFreedWithoutEviction) {
  const auto store = OpenStore(Small(8));
  Client client(store.get());
  for (uint64_t i = 0; i < 5000; i++)
    client.Set(Key(i), std::string(500, 'x'), base::NowSeconds() + 3);
  client.Set("stays", "v");
  EXPECT_GT(store->Stats().items, 4000u);
  const uint32_t end = base::NowSeconds() + 4;
  timespec wait = {0, 50'000'000};
  while (base::NowSeconds() < end) nanosleep(&wait, nullptr);
  for (uint64_t i = 0; i < 5000; i++) ASSERT_EQ(client.Value(Key(i)), "(none)");
  for (int i = 0; i < 1000; i++) client.Get("stays");
  // What is still in open segments may stay; sealed ones have been freed.
  EXPECT_LT(store->Stats().items, 300u);
  EXPECT_GT(store->Stats().expired, 4000u);
  EXPECT_EQ(store->Stats().evictions, 0u);
  EXPECT_EQ(client.Value("stays"), "v");
}

TEST(Expiry, ThousandTimesToLiveInSixtyFourMebibytes) {
  const auto store = OpenStore(Small(64));
  Client client(store.get());
  std::mt19937_64 random(TestSeed());
  const uint32_t now = base::NowSeconds();
  for (uint64_t i = 0; i < 400000; i++) {
    const uint32_t ttl = static_cast<uint32_t>(i % 1000 * (i % 1000) * 10 + 60);
    ASSERT_EQ(client.Set(Key(i), std::string(random() % 400, 'x'), now + ttl), Outcome::kStored);
  }
  const CacheStats stats = store->Stats();
  EXPECT_LE(stats.memory_bytes, 64u << 20);
  // Most of the memory holds objects, for all the open segments.
  EXPECT_GT(stats.object_bytes, 40u << 20);
  for (uint64_t i = 400000 - 1000; i < 400000; i++) ASSERT_NE(client.Value(Key(i)), "(none)");
}

}  // namespace
}  // namespace weft::cache
