// What is remembered of keys that were evicted.
//
// Threads   one.
#include "cache/ghosts.h"

#include <gtest/gtest.h>

#include <random>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

constexpr uint64_t kLogUnits = 1 << 20;

class GhostsTest : public testing::Test {
 protected:
  GhostsTest() {
    ghosts_->SetLogUnits(kLogUnits);
    ghosts_->Grow(4096);
  }
  uint64_t NextHash() { return random_(); }

  std::mt19937_64 random_{TestSeed()};
  const std::unique_ptr<Ghosts> ghosts_ = std::move(Ghosts::Create(1 << 16).value());
};

TEST(Ghosts, AreNoneWithoutMemory) {
  const auto ghosts = std::move(Ghosts::Create(1 << 16).value());
  ghosts->SetLogUnits(kLogUnits);
  EXPECT_EQ(ghosts->bytes(), 0u);
  ghosts->Note(17, 10, false);
  EXPECT_EQ(ghosts->AgeOf(17), Ghosts::kNone);
  ghosts->Forget(17);
}

TEST_F(GhostsTest, AreKnownByTheirAgeUntilTheyAreForgotten) {
  EXPECT_EQ(ghosts_->bytes(), 4096 * Ghosts::kGhostBytes);
  const uint64_t hash = NextHash();
  EXPECT_EQ(ghosts_->AgeOf(hash), Ghosts::kNone);
  ghosts_->Note(hash, 100, false);
  ghosts_->Note(NextHash(), kLogUnits / 4, false);
  const uint64_t age = ghosts_->AgeOf(hash);
  EXPECT_GT(age, kLogUnits / 5);
  EXPECT_LT(age, kLogUnits / 3);
  ghosts_->Forget(hash);
  EXPECT_EQ(ghosts_->AgeOf(hash), Ghosts::kNone);
}

TEST_F(GhostsTest, CountUntilHalfAsMuchAgainAsTheLogHoldsIsDropped) {
  const uint64_t hash = NextHash();
  ghosts_->Note(hash, 100, false);
  for (int i = 0; i < 14; i++) ghosts_->Note(NextHash(), kLogUnits / 10, false);
  EXPECT_NE(ghosts_->AgeOf(hash), Ghosts::kNone);
  for (int i = 0; i < 2; i++) ghosts_->Note(NextHash(), kLogUnits / 10, false);
  EXPECT_EQ(ghosts_->AgeOf(hash), Ghosts::kNone);
}

TEST_F(GhostsTest, AFullTableForgetsTheOldestAndKnowsFewStrangers) {
  std::vector<uint64_t> dropped(16000);
  for (uint64_t& hash : dropped) {
    hash = NextHash();
    ghosts_->Note(hash, kLogUnits / 100000, false);
  }
  uint64_t last = 0, first = 0, strangers = 0;
  for (size_t i = 0; i < 2000; i++) {
    last += ghosts_->AgeOf(dropped[dropped.size() - 1 - i]) != Ghosts::kNone;
    first += ghosts_->AgeOf(dropped[i]) != Ghosts::kNone;
  }
  for (int i = 0; i < 100000; i++) strangers += ghosts_->AgeOf(NextHash()) != Ghosts::kNone;
  EXPECT_GT(last, 1950u);
  EXPECT_LT(first, 50u);
  EXPECT_LT(strangers, 100u);
}

// Also before the log has given up the memory of the ghosts.
TEST(Ghosts, OneReadCountsAtFirstInAStoreOfManyObjects) {
  for (const bool has_many : {false, true}) {
    CacheOptions options;
    options.memory_bytes = 64 << 20;
    options.append_lanes = 1;
    const auto store = OpenStore(options);
    Client client(store.get());
    const std::string value(has_many ? 500 : 5000, 'v');
    for (uint64_t i = 0; store->Stats().evictions == 0 && i < 1'000'000; i++)
      ASSERT_EQ(client.Set(Key(i), value), Outcome::kStored);
    EXPECT_EQ(store->ghosts().OneReadCounts(), has_many);
  }
}

// Drops `count` of each kind, of which so many in a hundred come back.
void DropAndStore(Ghosts* ghosts, std::mt19937_64* random, int count, uint64_t unread_percent,
                  uint64_t read_percent) {
  for (int i = 0; i < count; i++) {
    for (const bool was_read : {false, true}) {
      const uint64_t hash = (*random)();
      ghosts->Note(hash, 1, was_read);
      if ((*random)() % 100 < (was_read ? read_percent : unread_percent)) ghosts->Forget(hash);
    }
  }
}

TEST_F(GhostsTest, OneReadCountsWhereSuchComeBackMoreOften) {
  EXPECT_FALSE(ghosts_->OneReadCounts()) << "before anything is known";
  DropAndStore(ghosts_.get(), &random_, 4000, 10, 40);
  EXPECT_TRUE(ghosts_->OneReadCounts());
  DropAndStore(ghosts_.get(), &random_, 40000, 40, 40);
  EXPECT_FALSE(ghosts_->OneReadCounts());
  // The answer changes with the trace.
  DropAndStore(ghosts_.get(), &random_, 40000, 10, 40);
  EXPECT_TRUE(ghosts_->OneReadCounts());
  DropAndStore(ghosts_.get(), &random_, 40000, 40, 30);
  EXPECT_FALSE(ghosts_->OneReadCounts());
}

TEST_F(GhostsTest, OneReadCountsWhereManyAreExpectedUntilTheyTell) {
  ghosts_->Expect(1 << 17);
  EXPECT_FALSE(ghosts_->OneReadCounts());
  ghosts_->Expect(1 << 20);
  EXPECT_TRUE(ghosts_->OneReadCounts());
  DropAndStore(ghosts_.get(), &random_, 10'000, 40, 40);
  EXPECT_TRUE(ghosts_->OneReadCounts()) << "some hundred samples tell nothing yet";
  DropAndStore(ghosts_.get(), &random_, 100'000, 40, 40);
  EXPECT_FALSE(ghosts_->OneReadCounts());
}

}  // namespace
}  // namespace weft::cache
