// Where nothing may be evicted and the memory is full: a store that is refused costs little, and
// none is refused that has room.
//
// Threads   one.
#include <gtest/gtest.h>

#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

struct Mixture {
  uint64_t mib;
  size_t bytes_min;
  size_t bytes_max;
  uint32_t lanes;
  bool ends;  // two thirds have times to live, of several groups
};

class RefuseWhenFull : public ::testing::TestWithParam<Mixture> {
 protected:
  RefuseWhenFull() : random_(TestSeed(5)) {
    CacheOptions options;
    options.memory_bytes = GetParam().mib << 20;
    options.evict = false;
    options.append_lanes = GetParam().lanes;
    store_ = OpenStore(options);
    client_ = std::make_unique<Client>(store_.get());
  }

  const SessionCounters& counters() { return client_->session().counters(); }
  size_t SomeBytes() {
    const Mixture& m = GetParam();
    return m.bytes_min + random_() % (m.bytes_max - m.bytes_min + 1);
  }
  Outcome Store(const std::string& key, size_t bytes) {
    const auto after_s = static_cast<uint32_t>(random_() % 3);
    const bool ends = GetParam().ends && after_s != 0;
    return client_->Set(key, std::string(bytes, 'v'),
                        ends ? base::NowSeconds() + 5000 * after_s * after_s : kNeverExpires);
  }
  // Stores new keys until so many are refused.
  std::vector<std::string> Fill(uint32_t refused_max = 50) {
    std::vector<std::string> stored;
    for (uint32_t refused = 0; refused < refused_max; tried_++) {
      if (Store(Key(tried_), SomeBytes()) == Outcome::kStored)
        stored.push_back(Key(tried_));
      else
        refused++;
    }
    return stored;
  }

  std::mt19937_64 random_;
  std::unique_ptr<cache::Store> store_;
  std::unique_ptr<Client> client_;
  uint64_t tried_ = 0;
};

INSTANTIATE_TEST_SUITE_P(
    Mixtures, RefuseWhenFull,
    ::testing::Values(Mixture{4, 100, 30'000, 1, false}, Mixture{16, 20'000, 20'000, 1, false},
                      Mixture{16, 5'000, 20'000, 2, true}, Mixture{64, 100, 30'000, 2, true},
                      Mixture{16, 1'000, 900'000, 1, false}, Mixture{16, 100, 300, 1, false}));

TEST_P(RefuseWhenFull, NothingIsCopiedForThoseThatAreRefused) {
  ASSERT_GT(Fill().size(), 0u);
  const uint64_t freed = counters().segments_freed.value();
  const uint64_t carried = counters().carried.value();
  for (const size_t bytes : {GetParam().bytes_max, size_t{300'000}, size_t{40'000}}) {
    for (int i = 0; i < 100; i++)
      ASSERT_EQ(client_->Set("none", std::string(bytes, 'n')), Outcome::kNoMemory) << bytes;
  }
  EXPECT_LE(counters().segments_freed.value() - freed, 2u);
  EXPECT_LE(counters().carried.value() - carried, 2u * 64);
}

// Whatever dies is found, in the second in which nothing was found before.
TEST_P(RefuseWhenFull, RoomOfWhatIsDeletedIsUsedAgain) {
  std::vector<std::string> keys = Fill();
  for (int round = 0; round < 5; round++) {
    std::shuffle(keys.begin(), keys.end(), random_);
    const uint64_t before = store_->Stats().object_bytes;
    for (size_t i = keys.size() / 2; i < keys.size(); i++)
      ASSERT_EQ(client_->Delete(keys[i]), Outcome::kDeleted);
    keys.resize(keys.size() / 2);
    for (const std::string& key : Fill()) keys.push_back(key);
    EXPECT_GT(store_->Stats().object_bytes * 100, before * 93) << round;
  }
  EXPECT_EQ(store_->Stats().items, keys.size());
  EXPECT_EQ(store_->Stats().evictions, 0u);
}

TEST_P(RefuseWhenFull, RoomOfWhatIsReplacedByLessIsUsedAgain) {
  const std::vector<std::string> keys = Fill();
  for (const std::string& key : keys)
    ASSERT_EQ(client_->Set(key, std::string(GetParam().bytes_min / 2, 's')), Outcome::kStored);
  EXPECT_GT(Fill().size() * 3, keys.size());
}

TEST_P(RefuseWhenFull, RoomOfAFlushIsUsedAgain) {
  const size_t count = Fill().size();
  client_->Flush();
  EXPECT_GT(Fill().size() * 10, count * 8);
}

TEST_P(RefuseWhenFull, RoomOfAHigherLimitIsUsed) {
  const size_t count = Fill().size();
  ASSERT_TRUE(store_->SetMemoryLimit((GetParam().mib + GetParam().mib / 2) << 20).ok());
  EXPECT_GT(Fill().size() * 10, count * 3);
}

// What another batch may still see comes back when that has ended.
TEST_P(RefuseWhenFull, RoomThatReadersHeldIsUsedWhenTheyLeave) {
  std::vector<std::string> keys = Fill();
  Client reader(store_.get());
  reader.session().Begin();
  for (const std::string& key : keys) ASSERT_EQ(client_->Delete(key), Outcome::kDeleted);
  EXPECT_LT(Fill(1).size() * 5, keys.size());
  reader.session().End();
  EXPECT_GT(Fill().size() * 10, keys.size() * 8);
}

TEST(RefuseWhenFullOnce, RoomOfWhatEndsByTheClockIsUsedAgain) {
  CacheOptions options;
  options.memory_bytes = 8 << 20;
  options.evict = false;
  const auto store = OpenStore(options);
  Client client(store.get());
  const auto fill = [&](std::string_view name, Expiry expiry) {
    uint64_t count = 0;
    for (uint32_t refused = 0; refused < 20;) {
      const std::string key = std::string(name) + Key(count);
      if (client.Set(key, std::string(10'000, 'v'), expiry) == Outcome::kStored)
        count++;
      else
        refused++;
    }
    return count;
  };
  const uint32_t end = base::NowSeconds() + 4;
  const uint64_t count = fill("ends", end);
  ASSERT_EQ(client.Set("none", std::string(10'000, 'v')), Outcome::kNoMemory);
  const timespec wait = {0, 20'000'000};
  while (base::NowSeconds() <= end) nanosleep(&wait, nullptr);
  EXPECT_GT(fill("stays", kNeverExpires) * 10, count * 8);
}

// Of segments whose other objects end much later.
TEST(RefuseWhenFullOnce, RoomOfWhatEndsBesideOthersIsUsedAgain) {
  for (const uint32_t bytes : {100, 10'000}) {
    CacheOptions options;
    options.memory_bytes = 8 << 20;
    options.evict = false;
    options.append_lanes = 1;
    const auto store = OpenStore(options);
    Client client(store.get());
    const uint32_t end = base::NowSeconds() + 5;
    uint64_t count = 0;
    for (uint32_t refused = 0, i = 0; refused < 40; i++) {
      const Expiry expiry = i % 2 == 0 ? end : end + 20;
      const Outcome outcome = client.Set(Key(i), std::string(bytes, 'v'), expiry);
      refused = outcome == Outcome::kStored ? 0 : refused + 1;
      count += outcome == Outcome::kStored;
    }
    const timespec wait = {0, 20'000'000};
    while (base::NowSeconds() <= end) nanosleep(&wait, nullptr);
    uint64_t stored = 0;
    for (uint32_t refused = 0, i = 0; refused < 40 && base::NowSeconds() < end + 15; i++) {
      const Outcome outcome = client.Set("new" + Key(i), std::string(bytes, 'n'));
      refused = outcome == Outcome::kStored ? 0 : refused + 1;
      stored += outcome == Outcome::kStored;
    }
    EXPECT_GT(stored * 10, count * 3) << bytes << " bytes, of " << count;
  }
}

// Many segments have one object that has ended, and little is gained by copying the others: so much
// of it in a second, by whoever asks.
TEST(RefuseWhenFullOnce, LittleThatHasEndedIsNotSearchedForByEachThatIsRefused) {
  CacheOptions options;
  options.memory_bytes = 32 << 20;
  options.evict = false;
  options.append_lanes = 2;
  const std::string value(100, 'v');
  std::unique_ptr<Store> store;
  std::vector<std::unique_ptr<Client>> clients;
  uint32_t end = 0;
  // Full before the first objects end: a busy machine gets more time.
  for (uint32_t lead_s = 3; end <= base::NowSeconds(); lead_s *= 4) {
    clients.clear();
    store = OpenStore(options);
    for (int i = 0; i < 2; i++) clients.push_back(std::make_unique<Client>(store.get()));
    end = base::NowSeconds() + lead_s;
    for (uint32_t refused = 0, i = 0; refused < 40; i++) {
      const Expiry expiry = i % 300 == 0 ? end : end + 60;
      refused += clients[i % 2]->Set(Key(i), value, expiry) != Outcome::kStored;
    }
  }
  const timespec wait = {0, 20'000'000};
  while (base::NowSeconds() <= end) nanosleep(&wait, nullptr);
  const auto copied = [&] {
    return clients[0]->session().carried_bytes() + clients[1]->session().carried_bytes();
  };
  const uint64_t copied_before = copied();
  const uint32_t begin_s = base::NowSeconds();
  for (uint32_t refused = 0, i = 0; refused < 200; i++)
    refused += clients[i % 2]->Set("new" + Key(i), value) != Outcome::kStored;
  const uint64_t seconds = base::NowSeconds() - begin_s + 1;
  const uint64_t segment_bytes = store->log().geometry().segment_bytes;
  EXPECT_GT(copied() - copied_before, segment_bytes) << "some of it is gained, bit by bit";
  EXPECT_LE(copied() - copied_before, seconds * 20 * segment_bytes);
}

}  // namespace
}  // namespace weft::cache
