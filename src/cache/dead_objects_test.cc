// Objects that no entry names any more: are they marked, and no others (kAccessDead)? Whoever
// empties a segment passes over what is marked without a look at the index.
//
// Threads   one.
#include <gtest/gtest.h>

#include <string>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

class DeadObjects : public testing::Test {
 protected:
  DeadObjects() { client_.session().Begin(); }
  ~DeadObjects() override { client_.session().End(); }

  // All within one epoch, so that nothing is freed meanwhile.
  Reply Run(Command command) {
    command.hash = store_->HashOf(command.key);
    return store_->Execute(client_.session(), command);
  }
  uint64_t Store(StoreMode mode, std::string_view value, std::string_view key = "k") {
    Command command = Client::Of(Verb::kStore, key);
    command.store_mode = mode;
    command.value = value;
    return Run(command).published;
  }
  bool IsDead(uint64_t location) {
    const uint32_t access = task::LoadRelaxed32(&client_.session().ObjectAt(location)->access);
    return (access & kAccessDead) != 0;
  }

  const std::unique_ptr<weft::cache::Store> store_ = OpenStore();
  Client client_{store_.get()};
};

TEST_F(DeadObjects, WhatIsReplacedIsOneAndWhatReplacesItIsNot) {
  uint64_t before = Store(StoreMode::kSet, "1");
  ASSERT_FALSE(IsDead(before));
  for (const StoreMode mode : {StoreMode::kSet, StoreMode::kAppend, StoreMode::kReplace}) {
    const uint64_t next = Store(mode, "12");
    ASSERT_NE(next, before);
    EXPECT_TRUE(IsDead(before));
    EXPECT_FALSE(IsDead(next));
    before = next;
  }
}

// A touch copies the object: the copy is made of one that lives.
TEST_F(DeadObjects, WhatIsTouchedIsOneAndItsCopyIsNot) {
  const uint64_t before = Store(StoreMode::kSet, "1");
  Command touch = Client::Of(Verb::kTouch, "k");
  touch.expiry = base::NowSeconds() + 100;
  ASSERT_EQ(Run(touch).outcome, Outcome::kTouched);
  EXPECT_TRUE(IsDead(before));
  const uint64_t after = Store(StoreMode::kAppend, "2");
  EXPECT_FALSE(IsDead(after));
}

TEST_F(DeadObjects, WhatIsDeletedIsOne) {
  const uint64_t stored = Store(StoreMode::kSet, "1");
  const uint64_t other = Store(StoreMode::kSet, "1", "other");
  ASSERT_EQ(Run(Client::Of(Verb::kDelete, "k")).outcome, Outcome::kDeleted);
  EXPECT_TRUE(IsDead(stored));
  EXPECT_FALSE(IsDead(other));
}

TEST_F(DeadObjects, WhatWasPlacedAndGivenUpIsOne) {
  Command set = Client::Of(Verb::kStore, "k");
  set.hash = store_->HashOf("k");
  set.value = "v";
  const uint64_t placed = store_->Place(client_.session(), set);
  EXPECT_FALSE(IsDead(placed));
  store_->Abandon(client_.session(), placed);
  EXPECT_TRUE(IsDead(placed));
}

// What a device that was left has brought back is marked, and lives: its entry goes with its
// segment.
TEST_F(DeadObjects, WhereMarksAreNotTrustedWhatLivesIsFound) {
  const uint64_t stored = Store(StoreMode::kSet, "value");
  client_.session().End();
  client_.session().ObjectAt(stored)->access |= kAccessDead;
  ASSERT_TRUE(store_->trusts_dead_marks());
  store_->DistrustDeadMarks();
  ASSERT_FALSE(store_->trusts_dead_marks());
  // Four times what memory holds: each segment is used anew.
  const std::string filler(1000, 'f');
  const uint64_t count = 4 * store_->options().memory_bytes / filler.size();
  for (uint64_t i = 0; i < count; i++) {
    client_.Set(Key(i), filler);
    if (i % 100 == 0) {
      const std::string value = client_.Value("k");
      ASSERT_TRUE(value == "value" || value == "(none)") << value;
    }
  }
  client_.session().Begin();
  const task::Found found =
      task::FindLocation(client_.session().index(), store_->HashOf("k"), stored);
  EXPECT_EQ(found.slot, nullptr) << "its segment is another one's by now";
}

}  // namespace
}  // namespace weft::cache
