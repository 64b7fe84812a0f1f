// What a group of changes may take of memory, and what the durable store may refuse of them.
#include <gtest/gtest.h>

#include "pipeline/disk_test_kit.h"
#include "tier/disk_files_test_kit.h"

namespace weft::pipeline {
namespace {

constexpr size_t kLargeBytes = size_t{1} << 20;
constexpr int kManyKeys = 16;

class DiskBoundsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CacheOptions cache;
    cache.memory_bytes = 128u << 20;
    cache.object_bytes_max = 8u << 20;
    store_ = cache::OpenStore(cache);
    auto opened =
        tier::DiskTier::Open({.dir = "/data", .file_system = &files_.faulty}, store_.get());
    ASSERT_TRUE(opened) << opened.error().ToString();
    tier_ = std::move(opened.value());
    client_ = std::make_unique<DiskClient>(store_.get(), tier_.get());
  }
  void TearDown() override {
    client_.reset();
    tier_.reset();
  }

  cache::Command Store(cache::StoreMode mode, std::string_view key, std::string_view value) {
    cache::Command command = cache::Client::Of(cache::Verb::kStore, key);
    command.store_mode = mode;
    command.value = value;
    return command;
  }
  // Runs what was added to the batch; what it wrote.
  DbStatistics Written() {
    const DbStatistics before = tier_->Stats().db;
    client_->RunBatch();
    EXPECT_FALSE(client_->turn().waiting(0));
    EXPECT_FALSE(client_->turn().failed(0));
    DbStatistics written = tier_->Stats().db;
    written.writes -= before.writes;
    written.bytes_written -= before.bytes_written;
    written.keys_written -= before.keys_written;
    return written;
  }
  static std::string Key(int i) { return "key" + std::to_string(i); }

  tier::DiskTestFiles files_;
  std::unique_ptr<cache::Store> store_;
  std::unique_ptr<tier::DiskTier> tier_;
  std::unique_ptr<DiskClient> client_;
  const std::string value_ = std::string(kLargeBytes, 'v');
};

TEST_F(DiskBoundsTest, LargeValuesAreWrittenAFewAtATime) {
  std::vector<std::string> keys;
  for (int i = 0; i < kManyKeys; i++) keys.push_back(Key(i));
  client_->Begin(nullptr, false);
  for (const std::string& key : keys) client_->Add(Store(cache::StoreMode::kSet, key, value_));
  const DbStatistics sets = Written();
  EXPECT_EQ(sets.keys_written, uint64_t{kManyKeys});
  EXPECT_LE(sets.bytes_written / sets.writes, DiskTurn::kGroupBytesMax + 2 * kLargeBytes);
  // Here what is written shows only once the command has been carried out. Each comes by a
  // connection of its own: one may have but a few large items written again in a batch.
  client_->Begin(nullptr, false);
  for (const std::string& key : keys)
    client_->Add(Store(cache::StoreMode::kAppend, key, "x"), client_->AddSource(nullptr, false));
  const DbStatistics appends = Written();
  EXPECT_EQ(appends.keys_written, uint64_t{kManyKeys});
  EXPECT_LE(appends.bytes_written / appends.writes, DiskTurn::kGroupBytesMax + 2 * kLargeBytes);
  for (const std::string& key : keys) {
    client_->Evict(key);
    EXPECT_TRUE(client_->Value(key) == value_ + "x") << key;
  }
}

TEST_F(DiskBoundsTest, OfSeveralChangesOfAKeyTheLastIsWritten) {
  const std::string large(size_t{6} << 20, 'l');
  client_->Set("large", large);
  client_->Set("small", "1");
  client_->Begin(nullptr, false);
  cache::Command touch = cache::Client::Of(cache::Verb::kTouch, "large");
  for (int i = 0; i < 8; i++) client_->Add(touch);
  const DbStatistics touches = Written();
  EXPECT_LT(touches.bytes_written, 2 * large.size());
  client_->Begin(nullptr, false);
  client_->Add(Store(cache::StoreMode::kAppend, "small", "2"));
  client_->Add(cache::Client::Of(cache::Verb::kDelete, "small"));
  client_->Add(Store(cache::StoreMode::kSet, "small", "3"));
  client_->Add(Store(cache::StoreMode::kAppend, "small", "4"));
  client_->Add(Store(cache::StoreMode::kSet, "gone", "5"));
  client_->Add(cache::Client::Of(cache::Verb::kDelete, "gone"));
  EXPECT_EQ(Written().keys_written, 2u);
  for (const char* key : {"large", "small", "gone"}) client_->Evict(key);
  EXPECT_TRUE(client_->Value("large") == large);
  EXPECT_EQ(client_->Value("small"), "34");
  EXPECT_EQ(client_->Value("gone"), "(none)");
}

TEST_F(DiskBoundsTest, WhatTheStoreRefusesIsNoFailureOfTheDisk) {
  EXPECT_EQ(tier_->Write(nullptr).code(), Code::kInvalidArgument);
  EXPECT_FALSE(tier_->failed());
  EXPECT_EQ(client_->Set("key", "value"), Outcome::kStored);
}

// A file may answer with any code, also with those that the store has a meaning for.
TEST_F(DiskBoundsTest, AReadThatIsToBeTriedAgainIsAnError) {
  client_->Set("aside", value_);  // shares a block with the state, which the start reads
  client_->Set("key", value_);
  client_.reset();
  tier_.reset();
  SetUp();  // it is in a table now
  files_.faulty.SetHook([](const base::FileCall& call) {
    const bool is_read = call.kind == base::FileCallKind::kReadAt ||
                         call.kind == base::FileCallKind::kNewRandomAccessFile;
    return is_read ? Status(Code::kRetryLater, "injected") : Status();
  });
  EXPECT_TRUE(client_->Value("key") == "(error)");
  files_.faulty.Heal();
}

}  // namespace
}  // namespace weft::pipeline
