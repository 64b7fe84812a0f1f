#include "cache/change_rings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

using Numbers = std::vector<uint64_t>;

Numbers ReadAll(ChangeRings* rings, uint64_t bucket_count = UINT64_MAX) {
  Numbers numbers;
  rings->Read(bucket_count, &numbers);
  return numbers;
}

TEST(ChangeRings, WhatIsNotDoneComesAgainAndWhatIsDoneDoesNot) {
  ChangeRings rings;
  EXPECT_EQ(ReadAll(&rings), Numbers());
  task::ChangeRing* const ring = rings.Of(5);
  ASSERT_NE(ring, nullptr);
  EXPECT_EQ(rings.Of(5), ring);
  EXPECT_EQ(ReadAll(&rings), Numbers());
  for (const uint64_t bucket : {7u, 3u, 7u}) EXPECT_TRUE(task::AnnounceChange(ring, bucket));
  EXPECT_EQ(ReadAll(&rings), Numbers({7, 3, 7}));
  EXPECT_EQ(ReadAll(&rings), Numbers({7, 3, 7}));
  task::NoteChangesDone(ring);
  EXPECT_TRUE(task::AnnounceChange(ring, 9));
  EXPECT_EQ(ReadAll(&rings), Numbers({7, 3, 7, 9})) << "they changed since the last look";
  EXPECT_EQ(ReadAll(&rings), Numbers({9}));
  task::NoteChangesDone(ring);
  EXPECT_EQ(ReadAll(&rings), Numbers({9}));
  EXPECT_EQ(ReadAll(&rings), Numbers());
}

TEST(ChangeRings, EachPlaceHasItsOwn) {
  ChangeRings rings;
  for (const uint32_t place : {0u, Epochs::kSlotsMax - 1, 8u}) {
    task::ChangeRing* const ring = rings.Of(place);
    ASSERT_NE(ring, nullptr);
    EXPECT_TRUE(task::AnnounceChange(ring, place));
    task::NoteChangesDone(ring);
  }
  EXPECT_EQ(ReadAll(&rings), Numbers({0, 8, Epochs::kSlotsMax - 1}));
  EXPECT_EQ(ReadAll(&rings), Numbers());
}

TEST(ChangeRings, BucketsOfAnotherTableAreLeftOut) {
  ChangeRings rings;
  for (const uint64_t bucket : {99u, 100u, 5u})
    EXPECT_TRUE(task::AnnounceChange(rings.Of(0), bucket));
  EXPECT_EQ(ReadAll(&rings, 100), Numbers({99, 5}));
}

// A table without buckets that are looked at, its marks, and a view of it with a ring.
struct Marked {
  explicit Marked(task::ChangeRing* ring) : words(task::MarkWords(uint64_t{1} << 20), 0) {
    index.older = {&somewhere, uint64_t{1} << 20};
    index.marks = words.data();
    index.changes = ring;
  }
  bool is_marked(uint64_t bucket) const { return (words[bucket / 32] >> bucket % 32 & 1) != 0; }

  task::Bucket somewhere{};
  std::vector<uint32_t> words;
  task::IndexRef index{};
};

TEST(ChangeRings, WhatHasNoRoomIsMarked) {
  ChangeRings rings;
  Marked marked(rings.Of(0));
  // Round and round, so that the ends of the ring are met at each of some places.
  for (uint32_t round = 0; round < 5; round++) {
    Numbers expected;
    for (uint32_t i = 0; i < kChangeRingNumbers; i++) {
      expected.push_back(i * 7 + round);
      task::MarkBucket(marked.index, marked.index.older, expected.back());
    }
    EXPECT_EQ(std::count(marked.words.begin(), marked.words.end(), 0u),
              static_cast<ptrdiff_t>(marked.words.size()));
    const uint64_t more = 1'000'000 + round;
    task::MarkBucket(marked.index, marked.index.older, more);
    EXPECT_TRUE(marked.is_marked(more));
    std::fill(marked.words.begin(), marked.words.end(), 0u);
    task::NoteChangesDone(marked.index.changes);
    EXPECT_EQ(ReadAll(&rings), expected);
    // A few stay for the next round, and are not overwritten.
    for (uint32_t i = 0; i < 1000; i++) task::MarkBucket(marked.index, marked.index.older, i);
    EXPECT_EQ(ReadAll(&rings).size(), 1000u);
    task::NoteChangesDone(marked.index.changes);
    EXPECT_EQ(ReadAll(&rings).size(), 1000u);
  }
}

TEST(ChangeRings, ANumberThatIsTooLargeIsNotCutOff) {
  ChangeRings rings;
  task::ChangeRing* const ring = rings.Of(0);
  EXPECT_TRUE(task::AnnounceChange(ring, UINT32_MAX));
  EXPECT_FALSE(task::AnnounceChange(ring, uint64_t{UINT32_MAX} + 1));
  EXPECT_EQ(ReadAll(&rings), Numbers({UINT32_MAX}));
}

TEST(ChangeRings, AnotherTableAndNoFollowerAreNotAnnounced) {
  ChangeRings rings;
  Marked marked(rings.Of(0));
  task::Bucket other{};
  task::MarkBucket(marked.index, {&other, 100}, 17);
  marked.index.marks = nullptr;
  task::MarkBucket(marked.index, marked.index.older, 17);
  EXPECT_EQ(ReadAll(&rings), Numbers());
}

TEST(ChangeRings, SessionsHaveOneWhileSomebodyFollows) {
  const auto store = OpenStore();
  Client client(store.get());
  client.Set("k", "v");
  EXPECT_EQ(client.session().index_to_change().changes, nullptr);
  ASSERT_TRUE(store->index().KeepMarks().ok());
  EXPECT_EQ(ReadAll(&store->change_rings()), Numbers());
  client.Set("k", "w");
  task::ChangeRing* const ring = client.session().index_to_change().changes;
  EXPECT_NE(ring, nullptr);
  EXPECT_EQ(client.session().index().changes, nullptr) << "jobs run on other threads";
  EXPECT_EQ(ReadAll(&store->change_rings()).size(), 1u);
  EXPECT_EQ(ReadAll(&store->change_rings()), Numbers()) << "End said that it was done";
  // The ring stays with its place.
  {
    Client second(store.get());
    second.Set("k", "x");
    EXPECT_NE(second.session().index_to_change().changes, ring);
  }
  EXPECT_EQ(ReadAll(&store->change_rings()).size(), 1u);
  task::ChangeRing* seconds = nullptr;
  for (int i = 0; i < 3; i++) {
    Client next(store.get());
    next.Set("k", "y");
    task::ChangeRing* const its = next.session().index_to_change().changes;
    EXPECT_TRUE(seconds == nullptr || seconds == its);
    seconds = its;
    EXPECT_EQ(ReadAll(&store->change_rings()).size(), 1u);
  }
}

// Changers announce and change; a follower has, after each turn, all that it saw changed before.
TEST(ChangeRings, AFollowerHasWhatItSawBeforeWhateverTheInterleaving) {
  constexpr uint32_t kBuckets = 40;
  constexpr uint32_t kChangers = 3;
  ChangeRings rings;
  std::vector<uint64_t> table(kBuckets, 0), copy(kBuckets, 0);
  std::atomic<uint32_t> working{kChangers};
  std::vector<std::thread> changers;
  for (uint32_t c = 0; c < kChangers; c++) {
    changers.emplace_back([&, c] {
      std::mt19937_64 random(TestSeed() * 8 + c);
      task::ChangeRing* const ring = rings.Of(c);
      const uint32_t rounds = Rounds(300'000);
      for (uint32_t i = 0; i < rounds; i++) {
        const uint64_t bucket = random() % kBuckets;
        while (!task::AnnounceChange(ring, bucket)) {
          task::NoteChangesDone(ring);
          std::this_thread::yield();
        }
        for (;;) {
          const uint64_t word = task::LoadAcquire64(&table[bucket]);
          if (task::CompareAndSwap64(&table[bucket], word, word + 1)) break;
        }
        if (random() % 32 == 0) task::NoteChangesDone(ring);
      }
      task::NoteChangesDone(ring);
      working--;
    });
  }
  uint64_t missed = 0;
  for (bool last = false; !last;) {
    last = working.load() == 0;
    std::vector<uint64_t> seen(kBuckets);
    for (uint32_t b = 0; b < kBuckets; b++) seen[b] = task::LoadAcquire64(&table[b]);
    for (const uint64_t b : ReadAll(&rings)) copy[b] = task::LoadAcquire64(&table[b]);
    for (uint32_t b = 0; b < kBuckets; b++) missed += copy[b] < seen[b];
  }
  for (std::thread& changer : changers) changer.join();
  EXPECT_EQ(missed, 0u);
  EXPECT_EQ(copy, table);
  EXPECT_EQ(ReadAll(&rings), Numbers());
}

}  // namespace
}  // namespace weft::cache
