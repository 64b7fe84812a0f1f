#include "task/search.h"

#include <gtest/gtest.h>

#include <map>

#include "task/batch_tasks.h"
#include "task/table_test_kit.h"

namespace weft::task {
namespace {

TEST(Search, EmptyIndexHasNothing) {
  TestLog log;
  TestIndex index(kPolicyCuckoo, 8);
  EXPECT_EQ(index.Get(log, kHash, "key").slot, nullptr);
  EXPECT_EQ(FindLocation(index.ref(), kHash, 1).slot, nullptr);
}

TEST(Search, OtherKeysOfTheSameHashAreToldApart) {
  TestLog log;
  TestIndex index(kPolicyCuckoo, 8);
  std::map<std::string, u64> locations;
  for (u32 i = 0; i < 16; i++) {
    const std::string key = "key" + std::to_string(i);
    locations[key] = log.Add(key);
    ASSERT_EQ(index.Put(log, kHash, key, locations[key]).status, kInsertDone);
  }
  for (const auto& [key, location] : locations)
    EXPECT_EQ(SlotLocation(index.Get(log, kHash, key).word), location) << key;
  EXPECT_EQ(index.Get(log, kHash, "key16").slot, nullptr);
  EXPECT_EQ(index.Get(log, kHash, "key").slot, nullptr);
}

TEST(Search, TentativeEntriesAreInvisibleAndMovingOnesAreNot) {
  TestLog log;
  TestIndex index(kPolicyCuckoo, 8);
  const u64 location = log.Add("key");
  ASSERT_EQ(index.Put(log, kHash, "key", location).status, kInsertDone);
  const Found found = index.Get(log, kHash, "key");
  *found.slot = WithState(found.word, kSlotTentative);
  EXPECT_EQ(index.Get(log, kHash, "key").slot, nullptr);
  EXPECT_EQ(
      CandidateInBucket(&index.ref().older.buckets[FirstBucket(kHash, 8)], TagOfHash(kHash)).slot,
      nullptr);
  EXPECT_EQ(FindLocation(index.ref(), kHash, location).slot, found.slot);
  *found.slot = WithState(found.word, kSlotMoving);
  EXPECT_EQ(index.Get(log, kHash, "key").slot, found.slot);
}

TEST(Search, LooksIntoBothTablesWhileGrowing) {
  TestLog log;
  TestIndex index(kPolicyCuckoo, 8, 14);
  const u64 newer = log.Add("newer"), older = log.Add("older");
  ASSERT_EQ(index.Put(log, kHash, "newer", newer).status, kInsertDone);
  index.ref().insert_newer = 0;
  ASSERT_EQ(index.Put(log, kHash, "older", older).status, kInsertDone);
  const Found in_newer = index.Get(log, kHash, "newer"), in_older = index.Get(log, kHash, "older");
  EXPECT_EQ(SlotLocation(in_newer.word), newer);
  EXPECT_EQ(SlotLocation(in_older.word), older);
  EXPECT_NE(PositionOf(index.ref(), in_newer.slot) & kPositionNewer, 0u);
  EXPECT_EQ(PositionOf(index.ref(), in_older.slot) & kPositionNewer, 0u);
  for (const Found& found : {in_newer, in_older})
    EXPECT_EQ(SlotAtPosition(index.ref(), PositionOf(index.ref(), found.slot)), found.slot);
  EXPECT_EQ(FindLocation(index.ref(), kHash, newer).slot, in_newer.slot);
  EXPECT_EQ(FindLocation(index.ref(), kHash, older).slot, in_older.slot);
}

// A batch of random keys over a random index, with hashes weak enough to collide.
struct RandomBatch {
  RandomBatch(std::mt19937_64& random, u32 policy, bool growing)
      : index(policy, 16, growing ? 26 : 0) {
    const u32 hash_bits = static_cast<u32>(random() % 8 + 1);
    mask = (u64{1} << hash_bits) - 1;
    for (u32 i = 0; i < 110; i++) {
      const std::string key = "k" + std::to_string(random() % 400);
      index.ref().insert_newer = growing ? random() % 2 : 0;
      index.Put(log, Hash(key), key, log.Add(key));
    }
    for (u32 i = 0; i < 64; i++) {
      const std::string key = "k" + std::to_string(random() % 400);
      hash.push_back(Hash(key));
      key_at.push_back(static_cast<u32>(keys.size()));
      key_bytes.push_back(static_cast<u8>(key.size()));
      keys += key;
    }
    word.resize(64, 0);
    position.resize(64, 0);
  }
  u64 Hash(std::string_view key) const {
    return (base::HashBytes(key) & mask) * 0x9e3779b97f4a7c15u;
  }
  std::string_view key(u32 i) const {
    return std::string_view(keys).substr(key_at[i], key_bytes[i]);
  }
  Columns columns() {
    return {hash.data(), key_at.data(), key_bytes.data(),
            Bytes(keys), word.data(),   position.data()};
  }

  u64 mask;
  TestLog log;
  TestIndex index;
  std::vector<u64> hash, word, position;
  std::vector<u32> key_at;
  std::vector<u8> key_bytes;
  std::string keys;
};

TEST(BatchTasks, AnswerWhatFindAnswersOneByOne) {
  std::mt19937_64 random(TestSeed());
  uint32_t hits = 0, false_candidates = 0;
  for (uint32_t round = 0; round < Rounds(2000); round++) {
    RandomBatch batch(random, round % 2 == 0 ? kPolicyCuckoo : kPolicySetAssociative,
                      round % 3 == 0);
    const u32 prefetch = round % 5 == 0 ? 0 : static_cast<u32>(random() % 3000);
    PrefetchBuckets(batch.index.ref(), batch.columns(), 0, 64);
    // In two ranges: a range must not touch the other.
    const u32 cut = static_cast<u32>(random() % 65);
    Search(batch.index.ref(), batch.log.ref(), batch.columns(), cut, 64, prefetch);
    for (u32 i = 0; i < cut; i++) ASSERT_EQ(batch.word[i], 0u);
    Search(batch.index.ref(), batch.log.ref(), batch.columns(), 0, cut, prefetch);
    for (u32 i = 0; i < 64; i++) {
      const u64 guess = batch.word[i];
      false_candidates +=
          guess != 0 && batch.log.KeyAt(SlotLocation(guess)) != batch.key(i) ? 1 : 0;
    }
    Compare(batch.index.ref(), batch.log.ref(), batch.columns(), 0, 64);
    for (u32 i = 0; i < 64; i++) {
      const Found found = batch.index.Get(batch.log, batch.hash[i], batch.key(i));
      ASSERT_EQ(batch.word[i], found.word) << batch.key(i);
      if (found.slot == nullptr) continue;
      hits++;
      ASSERT_EQ(SlotAtPosition(batch.index.ref(), batch.position[i]), found.slot);
      ASSERT_EQ(batch.log.KeyAt(SlotLocation(found.word)), batch.key(i));
    }
  }
  EXPECT_GT(hits, 100u);
  EXPECT_GT(false_candidates, 100u);
}

TEST(BatchTasks, CompareSeesWhatChangedSinceSearch) {
  std::mt19937_64 random(TestSeed());
  uint32_t deleted = 0, replaced = 0;
  for (uint32_t round = 0; round < 50; round++) {
    RandomBatch batch(random, kPolicyCuckoo, round % 2 == 0);
    Search(batch.index.ref(), batch.log.ref(), batch.columns(), 0, 64, 0);
    for (u32 i = 0; i < 64; i++) {
      const Found found = batch.index.Get(batch.log, batch.hash[i], batch.key(i));
      if (found.slot == nullptr) continue;
      if (i % 2 == 0) {
        ASSERT_TRUE(Delete(batch.log.ref(), found));
        CompareOne(batch.index.ref(), batch.log.ref(), batch.columns(), i);
        ASSERT_EQ(batch.word[i], 0u);
        deleted++;
      } else {
        const u64 location = batch.log.Add(batch.key(i), "next");
        ASSERT_TRUE(ReplaceEntry(found.slot, found.word, WithLocation(found.word, location)));
        CompareOne(batch.index.ref(), batch.log.ref(), batch.columns(), i);
        ASSERT_EQ(SlotLocation(batch.word[i]), location);
        replaced++;
      }
    }
  }
  EXPECT_GT(deleted, 0u);
  EXPECT_GT(replaced, 0u);
}

}  // namespace
}  // namespace weft::task
