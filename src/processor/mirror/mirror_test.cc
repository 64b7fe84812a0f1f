// How a mirror follows the changes of an index.
#include <atomic>
#include <thread>

#include "processor/mirror/mirror_test_kit.h"

namespace weft::processor {
namespace {

using cache::Client;
using cache::OpenStore;
using cache::TestSeed;

std::unique_ptr<cache::Store> SteadyStore(uint64_t items = 100'000) {
  CacheOptions options;
  options.memory_bytes = 64u << 20;
  options.expected_items = items;
  return OpenStore(options);
}

std::string KeyOf(uint64_t i) { return "key" + std::to_string(i); }

// The entry of a key. REQUIRES: the session is inside
task::Found EntryOf(cache::Session& session, const std::string& key) {
  return task::Find(session.index(), session.log(),
                    cache::TaskKey(key, session.store().HashOf(key)));
}

TEST(Mirror, CopiesWhatIsDoneOnce) {
  const auto store = SteadyStore();
  Client client(store.get());
  for (uint32_t i = 0; i < 100; i++) client.Set(KeyOf(i), "v");
  StepMirror mirror(store.get());
  mirror.CatchUp();
  EXPECT_EQ(mirror.StaleLines(), 0u);
  for (uint32_t i = 0; i < 100; i++) client.Set(KeyOf(i), "w");
  EXPECT_GT(mirror.StaleLines(), 90u);
  EXPECT_EQ(mirror.LinesOfAdvance(), 100u);
  EXPECT_EQ(mirror.StaleLines(), 0u);
  EXPECT_EQ(mirror.LinesOfAdvance(), 0u);
  client.Delete(KeyOf(7));
  EXPECT_EQ(mirror.LinesOfAdvance(), 1u);
  EXPECT_EQ(mirror.StaleLines(), 0u);
}

// A changer that stands between what it says and what it does, by its ring and by marks.
TEST(Mirror, WhatIsAnnouncedAndNotDoneIsCopiedUntilItIs) {
  for (const bool by_marks : {false, true}) {
    const auto store = SteadyStore();
    Client client(store.get());
    client.Set("k", "v");
    StepMirror mirror(store.get());
    mirror.CatchUp();
    cache::Session& session = client.session();
    session.Begin();
    const task::IndexRef index = by_marks ? session.index() : session.index_to_change();
    const task::Found entry = EntryOf(session, "k");
    const uint64_t moving = task::WithState(entry.word, kSlotMoving);
    task::MarkSlot(index, entry.slot);
    EXPECT_EQ(mirror.LinesOfAdvance(), 1u);
    EXPECT_EQ(mirror.LinesOfAdvance(), 1u);
    ASSERT_TRUE(task::CompareAndSwap64(entry.slot, entry.word, moving));
    EXPECT_EQ(mirror.StaleLines(), 1u);
    EXPECT_EQ(mirror.LinesOfAdvance(), 1u);
    EXPECT_EQ(mirror.StaleLines(), 0u);
    ASSERT_TRUE(task::CompareAndSwap64(entry.slot, moving, entry.word));
    session.ChangesDone();
    EXPECT_EQ(mirror.LinesOfAdvance(), 1u);
    EXPECT_EQ(mirror.StaleLines(), 0u);
    EXPECT_EQ(mirror.LinesOfAdvance(), by_marks ? 1u : 0u);
    session.End();
    EXPECT_EQ(mirror.LinesOfAdvance(), by_marks ? 1u : 0u);
    EXPECT_EQ(mirror.LinesOfAdvance(), 0u);
  }
}

TEST(Mirror, MoreChangesThanARingHasRoomForAllCome) {
  const auto store = SteadyStore();
  Client client(store.get());
  StepMirror mirror(store.get());
  mirror.CatchUp();
  constexpr uint32_t kKeys = kChangeRingNumbers + 10'000;
  for (uint32_t i = 0; i < kKeys; i++) ASSERT_EQ(client.Set(KeyOf(i), "v"), Outcome::kStored);
  EXPECT_GT(mirror.StaleLines(), 0u);
  EXPECT_GE(mirror.LinesOfAdvance(), kChangeRingNumbers);
  EXPECT_EQ(mirror.StaleLines(), 0u);
  mirror.CatchUp();
  for (uint32_t i = 0; i < 100; i++) client.Set(KeyOf(i), "w");
  EXPECT_EQ(mirror.LinesOfAdvance(), 100u) << "there is room again";
  EXPECT_EQ(mirror.StaleLines(), 0u);
}

// Who waits for a mirror that was left alone for long is told so: it copies as much at once as
// nobody minds to wait for, and is what the store is in the end, whatever is changed meanwhile.
TEST(Mirror, CatchesUpInParts) {
  const auto store = SteadyStore(2'500'000);
  Client client(store.get());
  StepMirror mirror(store.get());
  mirror.CatchUp();
  ASSERT_GT(store->index().bucket_count(), 3 * Mirror::kLinesAtOnce);
  constexpr uint32_t kStored = 20'000;
  for (uint32_t i = 0; i < kStored; i++) ASSERT_EQ(client.Set(KeyOf(i), "v"), Outcome::kStored);
  MarkAll(client.session());
  const uint64_t begin = mirror.index_lines();
  int parts = 1;
  for (uint64_t before = begin; !*mirror.Advance(); parts++) {
    ASSERT_LT(parts, 1000) << "it never catches up";
    EXPECT_TRUE(mirror.is_behind());
    EXPECT_LE(mirror.index_lines() - before, Mirror::kLinesAtOnce);
    before = mirror.index_lines();
    for (uint32_t i = 0; i < 100; i++) client.Set(KeyOf(parts * 1000 + i), "w");
  }
  EXPECT_FALSE(mirror.is_behind());
  EXPECT_GE(parts, 3);
  EXPECT_EQ(mirror.StaleLines(), 0u);
  EXPECT_LT(mirror.index_lines() - begin, 2 * store->index().bucket_count());
  client.Set(KeyOf(7), "x");
  EXPECT_LE(mirror.LinesOfAdvance(), 1000u);
  EXPECT_EQ(mirror.StaleLines(), 0u);
}

// While somebody stays in the middle of changes, what was marked before is copied again and again,
// but no more of it piles up than some Advances copy.
TEST(Mirror, CatchesUpSoonOnceAChangerHasGone) {
  const auto store = SteadyStore(2'500'000);
  Client client(store.get());
  StepMirror mirror(store.get());
  mirror.CatchUp();
  const auto changer = store->NewSession();
  changer->Begin();
  changer->index_to_change();
  MarkAll(client.session());
  for (int i = 0; i < 60; i++) ASSERT_TRUE(mirror.Advance().has_value());
  changer->ChangesDone();
  changer->End();
  int advances = 1;
  while (!*mirror.Advance()) ASSERT_LT(++advances, 12) << "much has piled up";
  EXPECT_EQ(mirror.StaleLines(), 0u);
}

// Entries go to their second buckets, and move.
TEST(Mirror, FollowsATableThatIsNearlyFull) {
  constexpr uint32_t kItems = 40'000;
  const auto store = SteadyStore(kItems);
  Client client(store.get());
  StepMirror mirror(store.get());
  mirror.CatchUp();
  const uint64_t buckets = store->index().bucket_count();
  const uint64_t keys = buckets * kBucketSlots * 84 / 100;
  for (uint64_t i = 0; i < keys; i++) {
    ASSERT_EQ(client.Set(KeyOf(i), "v"), Outcome::kStored);
    if (i % 1000 != 0) continue;
    ASSERT_LT(mirror.LinesOfAdvance(), UINT64_MAX);
    ASSERT_EQ(mirror.StaleLines(), 0u) << i;
  }
  EXPECT_EQ(store->index().bucket_count(), buckets) << "it is not to grow here";
}

// Sessions of many threads come, change, and go, while the mirror follows.
TEST(Mirror, SessionsComeAndGo) {
  const auto store = SteadyStore();
  StepMirror mirror(store.get());
  mirror.CatchUp();
  std::atomic<uint32_t> working{3};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 3; t++) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(TestSeed() * 8 + t);
      for (uint32_t life = 0; life < cache::Rounds(200); life++) {
        Client client(store.get());
        for (uint64_t i = random() % 60; i > 0; i--) {
          const std::string key = KeyOf(random() % 5000);
          if (random() % 4 == 0) {
            client.Delete(key);
          } else {
            client.Set(key, std::to_string(life));
          }
        }
      }
      working--;
    });
  }
  while (working.load() != 0) EXPECT_TRUE(mirror.Advance().has_value());
  for (std::thread& thread : threads) thread.join();
  EXPECT_LT(mirror.LinesOfAdvance(), UINT64_MAX);
  EXPECT_EQ(mirror.StaleLines(), 0u);
  mirror.CatchUp();
}

// What was announced of a table that is gone is no harm to the one that came.
TEST(Mirror, FollowsATableThatHasGrown) {
  const auto store = SteadyStore(0);
  Client client(store.get());
  StepMirror mirror(store.get());
  mirror.CatchUp();
  const uint64_t before = store->index().bucket_count();
  uint64_t growths = 0;
  bool was_growing = false;
  for (uint32_t i = 0; growths < 3 && i < 300'000; i++) {
    ASSERT_EQ(client.Set(KeyOf(i), "v"), Outcome::kStored);
    growths += was_growing && !store->index_growing();
    was_growing = store->index_growing();
    if (i % 500 == 0) {
      ASSERT_TRUE(mirror.Advance().has_value());
    }
  }
  EXPECT_EQ(growths, 3u);
  EXPECT_GT(store->index().bucket_count(), 3 * before);
  mirror.CatchUp();
  EXPECT_EQ(mirror.StaleLines(), 0u);
  for (uint32_t i = 0; i < 100; i++) client.Set(KeyOf(i), "w");
  EXPECT_EQ(mirror.LinesOfAdvance(), 100u);
  EXPECT_EQ(mirror.StaleLines(), 0u);
}

TEST(Mirror, BeginsAnewWhereACopyFailed) {
  const auto store = SteadyStore();
  Client client(store.get());
  client.Set("k", "v");
  StepMirror mirror(store.get());
  mirror.CatchUp();
  client.Set("k", "w");
  mirror.memory().copies_to_fail = 1;
  EXPECT_FALSE(mirror.Advance().has_value());
  mirror.CatchUp();
  EXPECT_EQ(mirror.StaleLines(), 0u) << "the change that was to be copied then is lost";
}

}  // namespace
}  // namespace weft::processor
