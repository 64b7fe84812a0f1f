// Random histories over several lives of a store, held to a model; and files that were damaged
// between two lives.
#include <fcntl.h>
#include <unistd.h>

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "cache/restart_meta.h"
#include "cache/restart_test_kit.h"

namespace weft::cache {
namespace {

// What the store may hold: of each key the last value that was stored, or nothing. A store that
// evicts may have forgotten any of them.
class History {
 public:
  explicit History(uint64_t seed) : random_(seed) {}

  // Runs `count` commands.
  void Run(Store* store, uint32_t count) {
    Client client(store);
    for (uint32_t i = 0; i < count; i++) Step(&client);
  }

  // Every value that is there is the model's; returns how many are.
  uint64_t Check(Store* store, bool may_forget) {
    Client client(store);
    uint64_t found = 0;
    for (uint64_t key = 0; key < kKeys; key++) {
      const std::string value = client.Value(Key(key));
      const auto entry = values_.find(key);
      const std::string wanted = entry == values_.end() ? "(none)" : entry->second;
      if (value != "(none)") found++;
      if (value == "(none)" && may_forget) continue;
      EXPECT_EQ(value, wanted) << Key(key);
    }
    return found;
  }

  void Forget() { values_.clear(); }

 private:
  static constexpr uint64_t kKeys = 3000;

  void Step(Client* client) {
    const uint64_t key = random_() % kKeys;
    const uint32_t what = random_() % 100;
    if (what < 50) {
      const size_t bytes = what == 0 ? random_() % 60000 : random_() % 1500;
      std::string value = std::to_string(key) + ":" + std::to_string(random_() % 1000000) + ":";
      value.resize(std::max(bytes, value.size()), 'x');
      if (client->Set(Key(key), value) != Outcome::kStored) return;
      values_[key] = value;
      written_.insert(key);
    } else if (what < 60) {
      client->Delete(Key(key));
      values_.erase(key);
    } else if (what < 65) {
      const std::string number = std::to_string(random_() % 1000);
      if (client->Set(Key(key), number) != Outcome::kStored) return;
      values_[key] = number;
      written_.insert(key);
      const Answer answer = client->Count(Key(key), 5);
      if (answer.reply.outcome == Outcome::kNumber)
        values_[key] = std::to_string(std::stoul(number) + 5);
    } else if (what < 70) {
      // It may make another version, or not.
      client->Touch(Key(key), base::NowSeconds() + 5000 + random_() % 100000);
    } else if (what < 75) {
      const Answer answer = client->Gets(Key(key));
      if (answer.reply.outcome != Outcome::kHit) return;
      uint64_t& seen = seen_[key];
      if (written_.erase(key) != 0) {
        EXPECT_GT(answer.reply.cas, seen) << Key(key);
      } else if (seen != 0) {
        EXPECT_EQ(answer.reply.cas, seen) << Key(key) << ", which nobody has changed";
      }
      seen = answer.reply.cas;
    } else if (random_() % 4000 == 0) {
      client->Flush();
      values_.clear();
    } else {
      const std::string value = client->Value(Key(key));
      if (value == "(none)") return;
      EXPECT_EQ(value, values_[key]) << Key(key);
    }
  }

  std::mt19937_64 random_;
  std::map<uint64_t, std::string> values_;
  std::map<uint64_t, uint64_t> seen_;
  std::set<uint64_t> written_;  // since the version was seen
};

void RunLives(CacheOptions options, uint64_t seed, bool may_forget, RestartedStore& stores) {
  std::mt19937_64 random(seed);
  History history(seed);
  uint64_t found = 0;
  for (uint32_t life = 0; life < Rounds(12); life++) {
    options.append_lanes = 1 + random() % 4;
    // Sets that are full drop items, while the store runs and under the next secret.
    if (may_forget && options.evict)
      options.index_policy =
          random() % 2 == 0 ? IndexPolicy::kCuckoo : IndexPolicy::kSetAssociative;
    auto restored = stores.Start(options);
    ASSERT_TRUE(restored) << restored.error().ToString();
    ASSERT_EQ(restored->damaged_segments, 0u);
    // Sets that are full under the new secret drop what comes.
    if (options.index_policy == IndexPolicy::kCuckoo) {
      ASSERT_EQ(restored->refused, 0u);
    }
    if (life != 0) {
      ASSERT_EQ(restored->why_empty, "");
      ASSERT_EQ(restored->items + restored->refused, found) << "life " << life;
    }
    EXPECT_EQ(history.Check(stores.store(), may_forget), restored->items);
    history.Run(stores.store(), 4000);
    found = history.Check(stores.store(), may_forget);
    ASSERT_LE(found, stores->Stats().items);  // some of which may have been flushed
    auto saved = stores.Stop();
    ASSERT_TRUE(saved) << saved.error().ToString();
    ASSERT_EQ(saved->items, found);
  }
}

void RunLives(const CacheOptions& options, uint64_t seed, bool may_forget) {
  RestartedStore stores;
  RunLives(options, seed, may_forget, stores);
}

TEST(RestartModelTest, RandomHistoriesInAFileInMemory) {
  if (!RestartedStore::HasMemory()) GTEST_SKIP() << "/dev/shm is no tmpfs that can be written to";
  CacheOptions options = SmallRestartOptions();
  options.memory_bytes = 2 << 20;
  RestartedStore stores(RestartedStore::Where::kMemory);
  RunLives(options, TestSeed(61), true, stores);
}

TEST(RestartModelTest, RandomHistoriesWhereAllFits) {
  CacheOptions options = SmallRestartOptions();
  options.memory_bytes = 16 << 20;
  for (uint64_t i = 0; i < 2; i++) RunLives(options, TestSeed(71 + i), false);
}

TEST(RestartModelTest, RandomHistoriesUnderEviction) {
  CacheOptions options = SmallRestartOptions();
  options.memory_bytes = 2 << 20;
  for (uint64_t i = 0; i < 2; i++) RunLives(options, TestSeed(81 + i), true);
}

TEST(RestartModelTest, RandomHistoriesWhereNothingIsEvicted) {
  CacheOptions options = SmallRestartOptions();
  options.memory_bytes = 2 << 20;
  options.evict = false;
  RunLives(options, TestSeed(91), false);
}

// --- damage ---

class DamagedFile {
 public:
  explicit DamagedFile(const std::string& path) : fd_(open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    WEFT_CHECK(fd_ >= 0);
    bytes_ = static_cast<uint64_t>(lseek(fd_, 0, SEEK_END));
  }
  ~DamagedFile() { close(fd_); }
  DamagedFile(const DamagedFile&) = delete;
  DamagedFile& operator=(const DamagedFile&) = delete;

  uint64_t bytes() const { return bytes_; }
  void Flip(uint64_t bit) const {
    uint8_t byte = 0;
    const auto at = static_cast<off_t>(bit / 8);
    WEFT_CHECK(pread(fd_, &byte, 1, at) == 1);
    byte ^= static_cast<uint8_t>(1u << bit % 8);
    WEFT_CHECK(pwrite(fd_, &byte, 1, at) == 1);
  }

 private:
  const int fd_;
  uint64_t bytes_ = 0;
};

// A bit of the file that holds data: a place is looked for until there is one.
uint64_t UsedBit(const std::string& path, std::mt19937_64* random) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto end = static_cast<uint64_t>(lseek(fd, 0, SEEK_END));
  off_t at = -1;
  while (at < 0) at = lseek(fd, static_cast<off_t>((*random)() % end), SEEK_DATA);
  close(fd);
  return static_cast<uint64_t>(at) * 8 + (*random)() % 8;
}

TEST(RestartModelTest, AFlippedBitNeverGivesAnotherValue) {
  const uint64_t seed = TestSeed(101);
  std::mt19937_64 random(seed);
  uint64_t damaged = 0;
  uint64_t empty = 0;
  RestartedStore stores;
  for (uint32_t i = 0; i < Rounds(60); i++) {
    History history(seed + i);
    ASSERT_TRUE(stores.Start());
    { Client(stores.store()).Flush(); }
    history.Run(stores.store(), 400);
    ASSERT_TRUE(stores.Stop());
    {
      const DamagedFile file(i % 8 == 0 ? stores.meta_path() : stores.path());
      const uint64_t bits = file.bytes() * 8;
      const uint64_t tail = i % 4 == 1 ? bits - 1 - random() % 256 : bits;  // of the table
      file.Flip(i % 8 == 0 ? random() % bits
                           : (tail != bits ? tail : UsedBit(stores.path(), &random)));
    }
    auto restored = stores.Start();
    if (!restored) {
      EXPECT_EQ(i % 8, 0u) << restored.error().ToString();
      EXPECT_EQ(restored.error().code(), Code::kCorruption);
      continue;
    }
    empty += restored->why_empty.empty() ? 0 : 1;
    damaged += restored->damaged_segments;
    history.Check(stores.store(), true);
    history.Run(stores.store(), 100);
  }
  EXPECT_GT(damaged, 0u);
  EXPECT_GT(empty, 0u);
}

}  // namespace
}  // namespace weft::cache
