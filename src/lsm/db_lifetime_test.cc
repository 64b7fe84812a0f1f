// Values that end: what compactions make of them (weft/db_options.h, ValueLifetime).
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <utility>

#include "base/coding.h"
#include "base/seed_test_kit.h"
#include "lsm/db_test_kit.h"

namespace weft {
namespace {

std::string Value(uint32_t expiry, uint32_t generation, std::string_view rest) {
  std::string value(8, '\0');
  base::EncodeFixed32(value.data(), expiry);
  base::EncodeFixed32(value.data() + 4, generation);
  return value.append(rest);
}

class DbLifetimeTest : public DbFixture {
 protected:
  DbLifetimeTest() {
    options.max_file_size = 1 << 20;
    options.lifetime = ValueLifetime{0, 4, [this] {
                                       return ValueLifetime::Limits{now_s_.load(), floor_.load()};
                                     }};
  }
  ~DbLifetimeTest() override { Close(); }  // it asks for the limits until then
  // What follows the header that Value() makes.
  std::string Get(std::string_view key) {
    const std::string value = DbFixture::Get(key);
    return value == "(none)" ? value : value.substr(8);
  }
  void Put(std::string_view key, uint32_t expiry, std::string_view rest, uint32_t generation = 0) {
    ASSERT_TRUE(db->Put({}, key, Value(expiry, generation, rest)).ok());
  }

  std::atomic<uint32_t> now_s_{100};
  std::atomic<uint32_t> floor_{0};
};

TEST_F(DbLifetimeTest, CompactionsDropWhatHasEnded) {
  Open();
  Put("mortal", 150, "m");
  Put("immortal", 0, "i");
  Put("flushed", 0, "f", 3);
  Put("kept", 0, "k", 4);
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  EXPECT_EQ(Get("mortal"), "m");
  EXPECT_EQ(db->Statistics().compaction_keys_ended, 0u);
  now_s_ = 150;
  floor_ = 4;
  ASSERT_TRUE(db->Put({}, "immortal", Value(0, 4, "i")).ok());
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  EXPECT_EQ(Get("mortal"), "(none)");
  EXPECT_EQ(Get("flushed"), "(none)");
  EXPECT_EQ(Get("immortal"), "i");
  EXPECT_EQ(Get("kept"), "k");
  EXPECT_EQ(db->Statistics().compaction_keys_ended, 2u);
}

TEST_F(DbLifetimeTest, AnOlderVersionNeverComesBack) {
  Open();
  Put("key", 0, "old");
  Put("z", 0, "");
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());  // to a deeper level
  Put("key", 150, "new");
  ASSERT_TRUE(db->Flush().ok());
  now_s_ = 200;
  for (int i = 0; i < 3; i++) {
    const std::string value = Get("key");
    EXPECT_TRUE(value == "new" || value == "(none)") << value;
    ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  }
  EXPECT_EQ(Get("key"), "(none)");
}

// Random changes with random ends, under compactions of all kinds: a reader that judges by the two
// numbers sees what a model says, whatever was dropped.
TEST_F(DbLifetimeTest, ReadersWhoJudgeSeeNoDifference) {
  std::mt19937_64 random(base::TestSeed(1));
  struct Held {
    uint32_t expiry = 0;
    uint32_t generation = 0;
    std::string rest;
  };
  std::map<std::string, Held> model;
  Open();
  for (int i = 0; i < 30000; i++) {
    const std::string key = std::to_string(random() % 3000);
    if (random() % 200 == 0) now_s_ += 3;
    if (random() % 5000 == 0) floor_++;
    if (random() % 8 == 0) {
      ASSERT_TRUE(db->Delete({}, key).ok());
      model.erase(key);
      continue;
    }
    Held held;
    held.expiry = random() % 2 == 0 ? 0 : now_s_ + static_cast<uint32_t>(random() % 100);
    held.generation = floor_;
    held.rest = std::to_string(i) + std::string(random() % 100, 'x');
    Put(key, held.expiry, held.rest, held.generation);
    model[key] = held;
    if (random() % 10000 == 0) {
      ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
    }
  }
  for (int i = 0; i < 3000; i++) {
    const std::string key = std::to_string(i);
    const auto held = model.find(key);
    const bool alive = held != model.end() && held->second.generation >= floor_ &&
                       (held->second.expiry == 0 || held->second.expiry > now_s_);
    std::string value;
    const Status status = db->Get({}, key, &value);
    if (alive) {
      ASSERT_TRUE(status.ok()) << key;
      EXPECT_EQ(value.substr(8), held->second.rest);
    } else if (status.ok()) {
      ASSERT_TRUE(held != model.end()) << key << " came back";
      EXPECT_EQ(value.substr(8), held->second.rest) << "an older version came back";
    }
  }
  EXPECT_GT(db->Statistics().compaction_keys_ended, 100u);
}

TEST_F(DbLifetimeTest, LimitsMustBeGiven) {
  options.lifetime->limits = nullptr;
  EXPECT_EQ(Db::Open(options, "/db").error().code(), Code::kInvalidArgument);
}

TEST_F(DbLifetimeTest, OffsetsBehindEveryValueAreRefused) {
  for (const size_t offset : {size_t{SIZE_MAX}, SIZE_MAX - 4, size_t{1} << 32}) {
    options.lifetime->expiry_offset = 0;
    options.lifetime->generation_offset = offset;
    EXPECT_EQ(Db::Open(options, "/db").error().code(), Code::kInvalidArgument) << offset;
    std::swap(options.lifetime->expiry_offset, options.lifetime->generation_offset);
    EXPECT_EQ(Db::Open(options, "/db").error().code(), Code::kInvalidArgument) << offset;
  }
  options.lifetime->expiry_offset = 100;  // may be, and no value here is as long
  now_s_ = 1000;
  Open();
  Put("key", 150, "v");
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  EXPECT_EQ(Get("key"), "v");
}

// It is called without a lock. With one of the store's held this would wait for ever.
TEST_F(DbLifetimeTest, WhoTellsTheLimitsMayUseTheStore) {
  std::atomic<Db*> user{nullptr};
  std::atomic<int> asked{0};
  options.lifetime->limits = [&] {
    if (Db* const store = user.load(); store != nullptr) {
      std::string text;
      (void)store->Statistics();
      EXPECT_TRUE(store->GetProperty("leveldb.stats", &text));
      EXPECT_TRUE(store->Get({}, "floor", &text).ok());
      const Snapshot* const snapshot = store->GetSnapshot();
      EXPECT_TRUE(store->NewIterator({.snapshot = snapshot})->status().ok());
      store->ReleaseSnapshot(snapshot);
      asked++;
    }
    return ValueLifetime::Limits{now_s_.load(), floor_.load()};
  };
  Open();
  user = db.get();
  Put("floor", 0, "0");
  Put("mortal", 50, "m");
  ASSERT_TRUE(db->CompactRange(nullptr, nullptr).ok());
  EXPECT_GT(asked, 0);
  EXPECT_EQ(Get("mortal"), "(none)");
  EXPECT_EQ(Get("floor"), "0");
  user = nullptr;
}

}  // namespace
}  // namespace weft
