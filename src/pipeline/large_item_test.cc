#include "pipeline/large_item.h"

#include <gtest/gtest.h>

#include "pipeline/disk_test_kit.h"
#include "tier/disk_files_test_kit.h"

namespace weft::pipeline {
namespace {

using cache::StoreMode;

// Each test begins with an item that was stored under a greater limit.
class LargeItemTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Open(256u << 10);
    client_->Put(StoreMode::kSet, "key", value_, base::NowSeconds() + 1000);
    cas_ = client_->Gets("key").cas;
    Open(16u << 10);
  }
  void TearDown() override {
    client_.reset();
    tier_.reset();
  }
  void Open(uint32_t object_bytes_max) {
    TearDown();
    CacheOptions cache;
    cache.object_bytes_max = object_bytes_max;
    store_ = cache::OpenStore(cache);
    auto opened =
        tier::DiskTier::Open({.dir = "/data", .file_system = &files_.faulty}, store_.get());
    ASSERT_TRUE(opened) << opened.error().ToString();
    tier_ = std::move(opened.value());
    client_ = std::make_unique<DiskClient>(store_.get(), tier_.get());
  }
  static cache::Command Read() {
    cache::Command command = cache::Client::Of(cache::Verb::kRead, "key");
    command.want_cas = true;
    return command;
  }
  static cache::Command Cas(uint64_t expected, std::string_view value) {
    cache::Command command = cache::Client::Of(cache::Verb::kStore, "key");
    command.compare_cas = true;
    command.cas_expected = expected;
    command.value = value;
    return command;
  }
  static cache::Command DecrementBy(uint64_t delta) {
    cache::Command command = cache::Client::Of(cache::Verb::kArithmetic, "key");
    command.decrement = true;
    command.delta = delta;
    return command;
  }
  // Whether it is as it was, and on disk alone.
  bool IsAsItWas() {
    const cache::Answer answer = client_->Run(Read());
    return answer.value == value_ && answer.reply.cas == cas_ && !client_->IsInMemory("key");
  }

  tier::DiskTestFiles files_;
  std::unique_ptr<cache::Store> store_;
  std::unique_ptr<tier::DiskTier> tier_;
  std::unique_ptr<DiskClient> client_;
  const std::string value_ = std::string(100'000, '1');
  uint64_t cas_ = 0;
};

TEST_F(LargeItemTest, IsRead) {
  EXPECT_TRUE(client_->Value("key") == value_);
  const cache::Answer gets = client_->Run(Read());
  EXPECT_EQ(gets.reply.outcome, Outcome::kHit);
  EXPECT_TRUE(gets.value == value_);
  EXPECT_EQ(gets.reply.cas, cas_);
  EXPECT_GT(gets.reply.ttl_s, 900);
  EXPECT_GT(gets.reply.object_bytes, value_.size());
  cache::Command debug = Read();
  debug.want_value = false;
  debug.quiet_access = true;
  EXPECT_EQ(client_->Run(debug).reply.cas, cas_);
  EXPECT_FALSE(client_->IsInMemory("key"));
  EXPECT_EQ(tier_->Stats().changes, 0u);
}

TEST_F(LargeItemTest, IsNotChangedByWhatMayNotChangeIt) {
  EXPECT_EQ(client_->Put(StoreMode::kAdd, "key", "x"), Outcome::kNotStored);
  EXPECT_EQ(client_->Put(StoreMode::kAppend, "key", "x"), Outcome::kTooLarge);
  EXPECT_EQ(client_->Put(StoreMode::kPrepend, "key", "x"), Outcome::kTooLarge);
  EXPECT_EQ(client_->Count("key", 1).reply.outcome, Outcome::kNotNumeric);
  EXPECT_EQ(client_->Run(Cas(cas_ + 1, "x")).reply.outcome, Outcome::kExists);
  cache::Command remove = cache::Client::Of(cache::Verb::kDelete, "key");
  remove.compare_cas = true;
  remove.cas_expected = cas_ + 1;
  EXPECT_EQ(client_->Run(remove).reply.outcome, Outcome::kExists);
  EXPECT_TRUE(IsAsItWas());
}

TEST_F(LargeItemTest, IsReplaced) {
  EXPECT_EQ(client_->Put(StoreMode::kReplace, "key", "x"), Outcome::kStored);
  EXPECT_EQ(client_->Value("key"), "x");
  const uint64_t cas = client_->Gets("key").cas;
  EXPECT_GT(cas, cas_);
  Open(16u << 10);
  EXPECT_EQ(client_->Gets("key").cas, cas);
  EXPECT_EQ(client_->Gets("key").ttl_s, -1);
}

TEST_F(LargeItemTest, IsReplacedByWhoKnowsItsVersion) {
  EXPECT_EQ(client_->Run(Cas(cas_, std::string(20u << 10, 'x'))).reply.outcome, Outcome::kTooLarge);
  EXPECT_EQ(client_->Run(Cas(cas_, "x")).reply.outcome, Outcome::kStored);
  EXPECT_EQ(client_->Run(Cas(cas_, "y")).reply.outcome, Outcome::kExists);
  EXPECT_EQ(client_->Value("key"), "x");
}

TEST_F(LargeItemTest, IsReplacedByASet) {
  EXPECT_EQ(client_->Set("key", "x"), Outcome::kStored);
  EXPECT_EQ(client_->Value("key"), "x");
}

TEST_F(LargeItemTest, IsDeleted) {
  EXPECT_EQ(client_->Delete("key"), Outcome::kDeleted);
  EXPECT_EQ(client_->Value("key"), "(none)");
  EXPECT_EQ(client_->Delete("key"), Outcome::kMiss);
  Open(256u << 10);
  EXPECT_EQ(client_->Value("key"), "(none)");
}

TEST_F(LargeItemTest, GetsANewTimeToLive) {
  cache::Command touch = cache::Client::Of(cache::Verb::kTouch, "key");
  touch.expiry = base::NowSeconds() + 5000;
  EXPECT_EQ(client_->Run(touch).reply.outcome, Outcome::kTouched);
  EXPECT_GT(client_->Gets("key").ttl_s, 4000);
  EXPECT_TRUE(IsAsItWas());
  cache::Command get_and_touch = Read();
  get_and_touch.update_expiry = true;
  get_and_touch.expiry = base::NowSeconds() + 9000;
  const cache::Answer answer = client_->Run(get_and_touch);
  EXPECT_EQ(answer.reply.outcome, Outcome::kHit);
  EXPECT_TRUE(answer.value == value_);
  Open(256u << 10);
  EXPECT_GT(client_->Gets("key").ttl_s, 8000);
  EXPECT_TRUE(client_->Value("key") == value_);
  Open(16u << 10);
  touch.expiry = cache::kExpiredAtOnce;
  EXPECT_EQ(client_->Run(touch).reply.outcome, Outcome::kTouched);
  EXPECT_EQ(client_->Value("key"), "(none)");
}

TEST_F(LargeItemTest, IsMarkedStaleAndHandsOutOneWin) {
  cache::Command mark = cache::Client::Of(cache::Verb::kDelete, "key");
  mark.invalidate = true;
  EXPECT_EQ(client_->Run(mark).reply.outcome, Outcome::kDeleted);
  cache::Command read = Read();
  read.hand_out_win = true;
  const cache::Reply first = client_->Run(read).reply;
  EXPECT_TRUE(first.stale && first.won && !first.win_taken);
  EXPECT_GT(first.cas, cas_);
  const cache::Answer second = client_->Run(read);
  EXPECT_TRUE(second.reply.stale && !second.reply.won && second.reply.win_taken);
  EXPECT_TRUE(second.value == value_);
  // Whoever comes with the older version stores what is stale as well.
  cache::Command late = Cas(cas_, "late");
  late.invalidate = true;
  EXPECT_EQ(client_->Run(late).reply.outcome, Outcome::kStored);
  EXPECT_TRUE(client_->Run(read).reply.stale);
  EXPECT_EQ(client_->Value("key"), "late");
}

TEST_F(LargeItemTest, LosesItsValueAlone) {
  cache::Command drop = cache::Client::Of(cache::Verb::kDelete, "key");
  drop.drop_value = true;
  EXPECT_EQ(client_->Run(drop).reply.outcome, Outcome::kDeleted);
  const cache::Answer answer = client_->Run(Read());
  EXPECT_EQ(answer.reply.outcome, Outcome::kHit);
  EXPECT_EQ(answer.value, "");
  EXPECT_GT(answer.reply.ttl_s, 900);
}

TEST_F(LargeItemTest, IsCountedWhereItBeginsWithANumber) {
  Open(256u << 10);
  client_->Set("key", "12 " + std::string(99'997, 'z'), base::NowSeconds() + 1000);
  Open(16u << 10);
  cache::Answer answer = client_->Count("key", 1);
  EXPECT_EQ(answer.reply.outcome, Outcome::kNumber);
  EXPECT_EQ(answer.reply.number, 13u);
  EXPECT_GT(answer.reply.ttl_s, 900);
  answer = client_->Run(DecrementBy(20));
  EXPECT_EQ(answer.reply.number, 0u);
  EXPECT_EQ(client_->Value("key"), "0" + std::string(99'999, ' '));
  EXPECT_FALSE(client_->IsInMemory("key"));
  Open(256u << 10);
  EXPECT_EQ(client_->Count("key", 7).reply.number, 7u) << "in memory it counts alike";
}

// What is read in vain, or written to disk, counts as what is written to memory.
TEST_F(LargeItemTest, IsCountedAmongWhatItsSourceHasRewritten) {
  Open(256u << 10);
  client_->Set("key", std::string(100'000, '0') + "x");
  Open(16u << 10);
  ASSERT_EQ(client_->Count("key", 1).reply.outcome, Outcome::kNotNumeric);
  EXPECT_EQ(client_->batch().rewritten(0), 100'001u);
  cache::Command command = cache::Client::Of(cache::Verb::kTouch, "key");
  ASSERT_EQ(client_->Run(command).reply.outcome, Outcome::kTouched);
  EXPECT_GT(client_->batch().rewritten(0), 100'000u);
  EXPECT_LT(client_->batch().rewritten(0), 101'000u);
  command = Read();
  ASSERT_EQ(client_->Run(command).reply.outcome, Outcome::kHit);
  EXPECT_EQ(client_->batch().rewritten(0), 0u);
}

// Or a connection would change it again and again in a batch, each time with a look at the disk.
TEST_F(LargeItemTest, WhoeverInsistsAndHadMuchWrittenGoesOnInAnotherBatch) {
  Open(8u << 20);
  client_->Set("key", std::string(3 << 20, 'x'));
  client_->Set("other", "x");
  Open(16u << 10);
  const cache::Command touch = cache::Client::Of(cache::Verb::kTouch, "key");
  client_->Begin(nullptr, false);
  client_->Add(touch);
  client_->RunBatch();
  const auto answers = client_->turn().TakeLookup(0);
  tier_->Answer(answers.get());
  client_->Begin(answers.get(), true);
  for (int i = 0; i < 4; i++) client_->Add(touch);
  client_->RunBatch();
  const QueryState done = QueryState::kDone, skipped = QueryState::kSkipped;
  const QueryState expected[] = {done, done, skipped, skipped};
  for (uint32_t i = 0; i < 4; i++) EXPECT_EQ(client_->batch().state(i), expected[i]) << i;
}

// In one batch, each sees what those before it did.
TEST_F(LargeItemTest, CommandsOfOneBatchFollowEachOther) {
  const auto add = [&](tier::Lookup* brought) {
    client_->Begin(brought, false);
    cache::Command touch = cache::Client::Of(cache::Verb::kTouch, "key");
    client_->Add(touch);
    client_->Add(cache::Client::Of(cache::Verb::kDelete, "key"));
    client_->RunBatch();
  };
  add(nullptr);
  auto answers = client_->turn().TakeLookup(0);
  tier_->Answer(answers.get());
  add(answers.get());
  EXPECT_TRUE(client_->turn().waiting(0)) << "the touch is done, the delete must look again";
  EXPECT_EQ(client_->Delete("key"), Outcome::kDeleted);
  EXPECT_EQ(client_->Value("key"), "(none)");
}

// Items of which memory holds some, or one, beside what is written of them.
class ScarceRoomTest : public ::testing::Test {
 protected:
  ~ScarceRoomTest() override {
    client_.reset();
    tier_.reset();
  }
  void Open(uint64_t memory_bytes, uint32_t object_bytes_max) {
    CacheOptions cache;
    cache.memory_bytes = memory_bytes;
    cache.object_bytes_max = object_bytes_max;
    cache.append_lanes = 1;
    store_ = cache::OpenStore(cache);
    auto opened =
        tier::DiskTier::Open({.dir = "/data", .file_system = &files_.faulty}, store_.get());
    ASSERT_TRUE(opened) << opened.error().ToString();
    tier_ = std::move(opened.value());
    client_ = std::make_unique<DiskClient>(store_.get(), tier_.get());
  }
  // Every command that makes another version of an item of so many bytes.
  void ChangeInEveryWay(const std::string& key, size_t bytes) {
    const uint32_t now_s = base::NowSeconds();
    cache::Command command = cache::Client::Of(cache::Verb::kTouch, key);
    command.expiry = now_s + 5000;
    ASSERT_EQ(client_->Run(command).reply.outcome, Outcome::kTouched) << key;
    command = cache::Client::Of(cache::Verb::kRead, key);
    command.update_expiry = true;
    command.expiry = now_s + 9000;
    const cache::Answer got = client_->Run(command);
    ASSERT_EQ(got.reply.outcome, Outcome::kHit) << key;
    ASSERT_EQ(got.value, "7" + std::string(bytes - 1, ' '));
    ASSERT_EQ(client_->Put(StoreMode::kAppend, key, "a"), Outcome::kStored) << key;
    ASSERT_EQ(client_->Put(StoreMode::kPrepend, key, " "), Outcome::kStored) << key;
    ASSERT_EQ(client_->Count(key, 2).reply.outcome, Outcome::kNumber) << key;
    command = cache::Client::Of(cache::Verb::kDelete, key);
    command.invalidate = true;
    ASSERT_EQ(client_->Run(command).reply.outcome, Outcome::kDeleted) << key;
    command = cache::Client::Of(cache::Verb::kRead, key);
    command.hand_out_win = true;
    command.want_cas = true;
    const cache::Answer read = client_->Run(command);
    ASSERT_TRUE(read.reply.stale && read.reply.won) << key;
    ASSERT_GT(read.reply.ttl_s, 8000) << key;
    ASSERT_EQ(read.value, "9" + std::string(bytes + 1, ' '));
  }

  tier::DiskTestFiles files_;
  std::unique_ptr<cache::Store> store_;
  std::unique_ptr<tier::DiskTier> tier_;
  std::unique_ptr<DiskClient> client_;
};

TEST_F(ScarceRoomTest, ItemsThatMemoryHoldsSomeOfAreChangedInTurn) {
  constexpr size_t kBytes = 900'000;
  Open(8u << 20, 1u << 20);
  for (int i = 0; i < 24; i++) {
    ASSERT_EQ(client_->Set(cache::Key(i), "7" + std::string(kBytes - 1, ' ')), Outcome::kStored);
  }
  for (int i = 0; i < 24; i++) ASSERT_NO_FATAL_FAILURE(ChangeInEveryWay(cache::Key(i), kBytes));
}

TEST_F(ScarceRoomTest, AnItemThatFillsMemoryIsChangedAllTheSame) {
  constexpr size_t kBytes = 900'000;
  Open(2u << 20, 1u << 20);
  ASSERT_EQ(client_->Set("key", "7" + std::string(kBytes - 1, ' ')), Outcome::kStored);
  ASSERT_NO_FATAL_FAILURE(ChangeInEveryWay("key", kBytes));
  EXPECT_EQ(client_->Delete("key"), Outcome::kDeleted);
  EXPECT_EQ(client_->Value("key"), "(none)");
}

}  // namespace
}  // namespace weft::pipeline
