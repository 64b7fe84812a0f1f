// Entries of the index: how they come, change and go.
//
// Threads   one.
#include "task/insert.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "task/table_test_kit.h"

namespace weft::task {
namespace {

TEST(Insert, EntersAKeyOnce) {
  TestLog log;
  TestIndex index(kPolicyCuckoo, 8);
  const u64 first = log.Add("key"), second = log.Add("key");
  const Inserted done = index.Put(log, kHash, "key", first);
  EXPECT_EQ(done.status, kInsertDone);
  EXPECT_EQ(done.victim, 0u);
  EXPECT_EQ(index.Put(log, kHash, "key", second).status, kInsertPresent);
  ASSERT_EQ(index.Words().size(), 1u);
  EXPECT_EQ(index.Words()[0], MakeSlot(0x1234, kSlotLive, 0, first));
}

TEST(Insert, OfAKeyInTheOlderTableIsPresentWhileGrowing) {
  TestLog log;
  TestIndex index(kPolicyCuckoo, 8, 14);
  index.ref().insert_newer = 0;
  ASSERT_EQ(index.Put(log, kHash, "key", log.Add("key")).status, kInsertDone);
  index.ref().insert_newer = 1;
  EXPECT_EQ(index.Put(log, kHash, "key", log.Add("key")).status, kInsertPresent);
  EXPECT_EQ(index.Words().size(), 1u);
}

TEST(Insert, SixteenOfOneHashFillTheirBucketsAndNoMore) {
  TestLog log;
  TestIndex index(kPolicyCuckoo, 8);
  for (u32 i = 0; i < 16; i++) {
    const std::string key = "key" + std::to_string(i);
    ASSERT_EQ(index.Put(log, kHash, key, log.Add(key)).status, kInsertDone) << i;
  }
  EXPECT_EQ(index.Put(log, kHash, "more", log.Add("more")).status, kInsertFull);
  EXPECT_EQ(index.Words().size(), 16u);
}

TEST(Insert, LowerUnfinishedInsertOfTheKeyWins) {
  TestLog log;
  TestIndex index(kPolicyCuckoo, 8);
  const u64 lower = log.Add("key"), higher = log.Add("key");
  u64* slot = &index.ref().older.buckets[FirstBucket(kHash, 8)].slots[2];
  const u64 word = MakeSlot(0x1234, kSlotTentative, 0, lower);
  *slot = word;
  EXPECT_EQ(index.Put(log, kHash, "key", higher).status, kInsertBusy);
  EXPECT_EQ(index.Words(), std::vector<u64>{word});
  EXPECT_EQ(index.Get(log, kHash, "key").slot, nullptr);
}

TEST(Insert, HigherUnfinishedInsertsOfTheKeyAreCleared) {
  TestLog log;
  TestIndex index(kPolicyCuckoo, 8);
  const u64 lower = log.Add("key");
  Bucket* buckets = index.ref().older.buckets;
  const u64 first = FirstBucket(kHash, 8);
  const u64 second = OtherBucket(kPolicyCuckoo, first, 0x1234, 8);
  for (u32 i = 0; i < 3; i++)
    buckets[i == 0 ? second : first].slots[i] = MakeSlot(0x1234, kSlotTentative, 0, log.Add("key"));
  // Another key's unfinished insert is none of its business.
  const u64 stranger = MakeSlot(0x1234, kSlotTentative, 0, log.Add("other"));
  buckets[first].slots[7] = stranger;
  EXPECT_EQ(index.Put(log, kHash, "key", lower).status, kInsertDone);
  EXPECT_EQ(index.Words().size(), 2u);
  EXPECT_EQ(SlotLocation(index.Get(log, kHash, "key").word), lower);
  EXPECT_EQ(buckets[first].slots[7], stranger);
}

TEST(Insert, OfAMovingKeyIsPresent) {
  TestLog log;
  TestIndex index(kPolicyCuckoo, 8);
  ASSERT_EQ(index.Put(log, kHash, "key", log.Add("key")).status, kInsertDone);
  const Found found = index.Get(log, kHash, "key");
  *found.slot = WithState(found.word, kSlotMoving);
  EXPECT_EQ(index.Put(log, kHash, "key", log.Add("key")).status, kInsertPresent);
  EXPECT_EQ(index.Words().size(), 1u);
}

// Fills a table to the share `load` and checks that nothing is lost on the way.
void FillAndFindAll(u64 buckets, double load, uint64_t seed) {
  TestLog log(buckets * 8 * 32);
  TestIndex index(kPolicyCuckoo, buckets);
  const u64 wanted = static_cast<u64>(static_cast<double>(buckets * 8) * load);
  std::vector<std::string> keys;
  std::vector<u64> locations;
  for (u64 i = 0; i < wanted; i++) {
    keys.push_back(std::to_string(seed) + "/" + std::to_string(i));
    locations.push_back(log.Add(keys.back()));
    ASSERT_EQ(index.Put(log, base::HashBytes(keys.back()), keys.back(), locations.back()).status,
              kInsertDone)
        << i << " of " << buckets * 8;
  }
  for (u64 i = 0; i < wanted; i++) {
    const Found found = index.Get(log, base::HashBytes(keys[i]), keys[i]);
    ASSERT_NE(found.slot, nullptr) << keys[i];
    ASSERT_EQ(SlotLocation(found.word), locations[i]);
    ASSERT_EQ(SlotState(found.word), kSlotLive);
  }
  EXPECT_EQ(index.Words().size(), wanted);
}

TEST(Displace, FillsATableToNinetyFivePercentAndLosesNothing) {
  for (uint64_t round = 0; round < 4; round++) FillAndFindAll(2048, 0.95, TestSeed() + round);
  FillAndFindAll(1001, 0.95, TestSeed());
}

TEST(Displace, EveryKeyStaysFindableAfterEachMove) {
  std::mt19937_64 random(TestSeed());
  TestLog log;
  TestIndex index(kPolicyCuckoo, 8);
  std::map<std::string, u64> present;
  for (u32 i = 0; i < 56; i++) {
    const std::string key = "key" + std::to_string(i);
    const u64 location = log.Add(key);
    if (index.Put(log, base::HashBytes(key), key, location).status == kInsertDone)
      present[key] = location;
    for (const auto& [k, l] : present)
      ASSERT_EQ(SlotLocation(index.Get(log, base::HashBytes(k), k).word), l);
  }
  EXPECT_GT(present.size(), 50u);
  uint32_t moves = 0;
  for (u32 round = 0; round < 300; round++) {
    if (MoveOneOut(index.ref(), index.ref().older, random() % 8)) moves++;
    ASSERT_EQ(index.Words().size(), present.size());
    for (const auto& [k, l] : present) {
      const Found found = index.Get(log, base::HashBytes(k), k);
      ASSERT_EQ(SlotLocation(found.word), l);
      ASSERT_EQ(SlotState(found.word), kSlotLive);
    }
  }
  EXPECT_GT(moves, 30u);
}

TEST(Displace, MoveCountsInTheTagsStripe) {
  TestLog log;
  TestIndex index(kPolicyCuckoo, 8);
  ASSERT_EQ(index.Put(log, kHash, "key", log.Add("key")).status, kInsertDone);
  const Found found = index.Get(log, kHash, "key");
  const u64 other = OtherBucket(kPolicyCuckoo, FirstBucket(kHash, 8), 0x1234, 8);
  ASSERT_NE(other, FirstBucket(kHash, 8));
  ASSERT_TRUE(MoveEntry(index.ref(), found.slot, found.word, &index.ref().older.buckets[other]));
  EXPECT_EQ(index.ref().move_counts[MoveStripe(0x1234)], 1u);
  EXPECT_EQ(*found.slot, kSlotEmpty);
  EXPECT_EQ(index.Get(log, kHash, "key").word, found.word);
}

TEST(Displace, LeavesAnEntryThatDoesNotFitWhereItWas) {
  TestLog log;
  TestIndex index(kPolicyCuckoo, 8);
  ASSERT_EQ(index.Put(log, kHash, "key", log.Add("key")).status, kInsertDone);
  const Found found = index.Get(log, kHash, "key");
  Bucket* full = &index.ref().older.buckets[(FirstBucket(kHash, 8) + 1) % 8];
  for (u64& slot : full->slots) slot = MakeSlot(9, kSlotLive, 0, 1);
  EXPECT_FALSE(MoveEntry(index.ref(), found.slot, found.word, full));
  EXPECT_EQ(*found.slot, found.word);
  EXPECT_FALSE(MoveEntry(index.ref(), found.slot, WithLocation(found.word, 5), full));
  *found.slot = WithState(found.word, kSlotTentative);
  EXPECT_FALSE(MoveEntry(index.ref(), found.slot, *found.slot, full));
}

TEST(Victim, IsTheLeastUsedEntryOfTheSet) {
  TestLog log;
  TestIndex index(kPolicySetAssociative, 8);
  std::vector<Found> entries;
  for (u32 i = 0; i < 16; i++) {
    const std::string key = "key" + std::to_string(i);
    ASSERT_EQ(index.Put(log, kHash, key, log.Add(key)).status, kInsertDone);
    entries.push_back(index.Get(log, kHash, key));
  }
  for (u32 i = 0; i < 16; i++)
    if (i != 11) NoteAccess(entries[i].slot, entries[i].word);
  EXPECT_EQ(index.Put(log, kHash, "more", log.Add("more"), false).status, kInsertFull);
  const Inserted inserted = index.Put(log, kHash, "more", log.Add("more"), true);
  EXPECT_EQ(inserted.status, kInsertDone);
  EXPECT_EQ(inserted.victim, entries[11].word);
  EXPECT_EQ(index.Get(log, kHash, "key11").slot, nullptr);
  EXPECT_NE(index.Get(log, kHash, "more").slot, nullptr);
  EXPECT_EQ(index.Words().size(), 16u);
}

TEST(Victim, AgesTheOthersWhereAllWereUsed) {
  TestLog log;
  TestIndex index(kPolicySetAssociative, 2);
  for (u32 i = 0; i < 16; i++) {
    const std::string key = "key" + std::to_string(i);
    ASSERT_EQ(index.Put(log, kHash, key, log.Add(key)).status, kInsertDone);
    const Found found = index.Get(log, kHash, key);
    *found.slot = WithRecency(found.word, i == 4 ? 1 : 2);
  }
  ASSERT_EQ(index.Put(log, kHash, "more", log.Add("more"), true).status, kInsertDone);
  EXPECT_EQ(index.Get(log, kHash, "key4").slot, nullptr);
  for (u32 i = 0; i < 16; i++) {
    if (i == 4) continue;
    EXPECT_EQ(SlotRecency(index.Get(log, kHash, "key" + std::to_string(i)).word), 1u) << i;
  }
}

TEST(Victim, IsNoEntryThatMovesOrIsUnfinished) {
  TestLog log;
  TestIndex index(kPolicySetAssociative, 2);
  std::vector<u64> words;
  for (u32 bucket = 0; bucket < 2; bucket++)
    for (u32 i = 0; i < 8; i++) {
      const u64 state = bucket == 1 && i == 3 ? kSlotLive : i % 2 ? kSlotMoving : kSlotTentative;
      index.ref().older.buckets[bucket].slots[i] =
          MakeSlot(0x1234, state, 0, log.Add("key" + std::to_string(bucket * 8 + i)));
    }
  const u64 live = index.ref().older.buckets[1].slots[3];
  const Inserted inserted = index.Put(log, kHash, "more", log.Add("more"), true);
  EXPECT_EQ(inserted.status, kInsertDone);
  EXPECT_EQ(inserted.victim, live);
}

TEST(Victim, NewcomersDoNotOnlyPushOutEachOther) {
  TestLog log;
  TestIndex index(kPolicySetAssociative, 2);
  const auto key = [](u32 i) { return "key" + std::to_string(i); };
  for (u32 i = 0; i < 16 + 64; i++)
    ASSERT_EQ(index.Put(log, kHash, key(i), log.Add(key(i)), true).status, kInsertDone);
  u32 old = 0, late = 0;
  for (u32 i = 0; i < 80; i++) {
    const bool there = index.Get(log, kHash, key(i)).slot != nullptr;
    if (i < 16) old += there;
    if (i >= 64) late += there;
  }
  // Nobody was read: chance would leave 4 of the first 16 and 10 of the last.
  EXPECT_LT(old, 10u);
  EXPECT_GT(late, 4u);
}

TEST(Delete, RemovesExactlyTheEntryFound) {
  TestLog log;
  TestIndex index(kPolicyCuckoo, 8);
  ASSERT_EQ(index.Put(log, kHash, "key", log.Add("key")).status, kInsertDone);
  ASSERT_EQ(index.Put(log, kHash, "other", log.Add("other")).status, kInsertDone);
  const Found found = index.Get(log, kHash, "key");
  NoteAccess(found.slot, found.word);  // recency does not save it
  EXPECT_TRUE(Delete(log.ref(), found));
  EXPECT_FALSE(Delete(log.ref(), found));
  EXPECT_EQ(index.Get(log, kHash, "key").slot, nullptr);
  EXPECT_NE(index.Get(log, kHash, "other").slot, nullptr);
}

TEST(Delete, LeavesAnUpdatedEntryAlone) {
  TestLog log;
  TestIndex index(kPolicyCuckoo, 8);
  ASSERT_EQ(index.Put(log, kHash, "key", log.Add("key")).status, kInsertDone);
  const Found found = index.Get(log, kHash, "key");
  const u64 next = log.Add("key", "next");
  ASSERT_TRUE(ReplaceEntry(found.slot, found.word, WithLocation(found.word, next)));
  EXPECT_FALSE(Delete(log.ref(), found));
  EXPECT_EQ(SlotLocation(index.Get(log, kHash, "key").word), next);
}

}  // namespace
}  // namespace weft::task
