#include "task/query_job.h"

#include <gtest/gtest.h>

#include "task/table_test_kit.h"

namespace weft::task {
namespace {

constexpr u64 kTag = 0x1234;
constexpr u64 kQueryHash = kTag << 48 | 0x456700000000;

// A job of one query about "key".
struct OneQuery {
  explicit OneQuery(u32 what) : wanted(static_cast<u8>(what)) {}
  QueryJob Job(bool again = false) {
    QueryJob job{};
    job.index = index.ref();
    job.log = log.ref();
    job.columns = {&hash, &key_at, &key_bytes, Bytes("key"), &word, &position};
    job.wanted = &wanted;
    job.placed = &placed;
    job.result = &result;
    job.end = 1;
    job.tasks = kRunSearch | kRunCompare | kRunRead | kRunInsert | kRunDelete;
    job.again = again ? 1 : 0;
    return job;
  }
  u64 AddUnseen(std::string_view key, std::string_view value) {
    const u64 location = log.Add(key, value);
    ObjectAt(log.ref(), location)->access = kAccessUnseen;
    return location;
  }
  bool IsUnseen(u64 location) const {
    return (ObjectAt(log.ref(), location)->access & kAccessUnseen) != 0;
  }

  TestLog log;
  TestIndex index{kPolicyCuckoo, 8};
  const u64 hash = kQueryHash;
  const u32 key_at = 0;
  const u8 key_bytes = 3;
  u64 word = 0, position = 0, placed = 0;
  u8 wanted, result = kResultNone;
};

TEST(QueryJob, AStoreThatIsInTheIndexWasDoneWhateverItsState) {
  for (const u64 state : {kSlotLive, kSlotMoving, kSlotTentative}) {
    OneQuery query(kWantsStore);
    query.placed = query.AddUnseen("key", "new");
    RunQuery(query.Job(), 0);
    ASSERT_EQ(query.result, kResultStored);
    const Found found = FindLocation(query.index.ref(), kQueryHash, query.placed);
    *found.slot = WithState(found.word, state);
    RunQuery(query.Job(true), 0);
    EXPECT_EQ(query.result, kResultStored);
    EXPECT_EQ(query.word, 0u);
    const u64 left = state == kSlotTentative ? kSlotLive : state;
    EXPECT_EQ(query.index.Words(), std::vector<u64>{MakeSlot(kTag, left, 0, query.placed)});
  }
}

TEST(QueryJob, AStoreThatIsNotInTheIndexWasDoneIfItWasSeenThere) {
  for (const bool seen : {false, true}) {
    OneQuery query(kWantsStore);
    query.placed = query.AddUnseen("key", "new");
    query.result = kResultStored;  // announced
    if (seen) NoteSeen(ObjectAt(query.log.ref(), query.placed));
    RunQuery(query.Job(true), 0);
    EXPECT_EQ(query.result, kResultStored);
    EXPECT_EQ(query.index.Words().size(), seen ? 0u : 1u);
  }
}

TEST(QueryJob, WhatAChangeTakesOutIsSeen) {
  for (const u32 wanted : {kWantsStore, kWantsDelete}) {
    OneQuery query(wanted);
    query.placed = wanted == kWantsStore ? query.AddUnseen("key", "new") : query.log.Add("", "");
    const u64 old = query.AddUnseen("key", "old"), other = query.AddUnseen("other", "old");
    ASSERT_EQ(query.index.Put(query.log, kQueryHash, "key", old).status, kInsertDone);
    ASSERT_EQ(query.index.Put(query.log, kQueryHash, "other", other).status, kInsertDone);
    RunQuery(query.Job(), 0);
    EXPECT_NE(query.result, kResultNone);
    EXPECT_FALSE(query.IsUnseen(old));
    EXPECT_TRUE(query.IsUnseen(other)) << "nobody was about to take it out";
  }
}

// What stands there was stored after this one was placed, and a client may know its version.
TEST(QueryJob, AStoreBelowTheVersionThatStandsIsLeftToTheLastStageWhereClientsKnowVersions) {
  for (const bool known : {false, true}) {
    for (const bool below : {false, true}) {
      OneQuery query(kWantsStore);
      const u64 first = query.AddUnseen("key", "first"), second = query.AddUnseen("key", "second");
      ASSERT_LT(CasOf(query.log.ref(), first), CasOf(query.log.ref(), second));
      const u64 old = below ? second : first;
      query.placed = below ? first : second;
      ASSERT_EQ(query.index.Put(query.log, kQueryHash, "key", old).status, kInsertDone);
      QueryJob job = query.Job();
      job.rises = known ? 1 : 0;
      RunQuery(job, 0);
      const bool left = known && below;
      EXPECT_EQ(query.result, left ? kResultNone : kResultStored);
      EXPECT_EQ(query.index.Words(),
                std::vector<u64>{MakeSlot(kTag, kSlotLive, 0, left ? old : query.placed)});
      EXPECT_EQ(query.IsUnseen(old), left);
    }
  }
}

TEST(QueryJob, AVictimIsSeen) {
  TestLog log;
  TestIndex index(kPolicySetAssociative, 2);
  u32 unseen = 0, dropped = 0;
  for (int i = 0; i < 40; i++) {
    const std::string key = std::to_string(i);
    const u64 location = log.Add(key);
    ObjectAt(log.ref(), location)->access = kAccessUnseen;
    const Inserted inserted = index.Put(log, kQueryHash, key, location, true);
    ASSERT_EQ(inserted.status, kInsertDone);
    if (inserted.victim == 0) continue;
    dropped++;
    unseen += ObjectAt(log.ref(), SlotLocation(inserted.victim))->access & kAccessUnseen;
  }
  EXPECT_EQ(dropped, 40u - 16);
  EXPECT_EQ(unseen, 0u);
}

// The word that a delete leaves is nobody's entry, whatever goes on around it.
TEST(QueryJob, AGraveStaysWhereItIs) {
  for (const bool may_drop : {false, true}) {
    OneQuery query(kWantsDelete);
    query.placed = query.log.Add("", "");
    ASSERT_EQ(query.index.Put(query.log, kQueryHash, "key", query.log.Add("key")).status,
              kInsertDone);
    RunQuery(query.Job(), 0);
    ASSERT_EQ(query.result, kResultDeleted);
    const u64 grave = MakeSlot(kTag, kSlotTentative, 0, query.placed);
    ASSERT_EQ(query.index.Words(), std::vector<u64>{grave});
    EXPECT_EQ(query.index.Get(query.log, kQueryHash, "key").slot, nullptr);
    EXPECT_EQ(CandidateInBucket(&query.index.ref().older.buckets[query.position / 8], kTag).slot,
              nullptr);
    // Of two buckets of eight it takes a place: others of its hash get the rest.
    uint32_t stored = 0;
    for (int i = 0; i < 100; i++) {
      const std::string key = i == 50 ? "key" : std::to_string(i);
      const Inserted inserted =
          query.index.Put(query.log, kQueryHash, key, query.log.Add(key), may_drop);
      stored += inserted.status == kInsertDone;
    }
    EXPECT_EQ(stored, may_drop ? 100u : 15u);
    const Found found = FindLocation(query.index.ref(), kQueryHash, query.placed);
    ASSERT_NE(found.slot, nullptr);
    EXPECT_EQ(found.word, grave);
    EXPECT_EQ(PositionOf(query.index.ref(), found.slot), query.position);
    RunQuery(query.Job(true), 0);
    EXPECT_EQ(query.result, kResultDeleted);
    EXPECT_EQ(query.index.Words().size(), 16u);
  }
}

TEST(QueryJob, ADeleteWithoutAGraveIsNotDone) {
  for (const bool is_there : {false, true}) {
    OneQuery query(kWantsDelete);
    query.placed = query.log.Add("", "");
    const u64 old = query.log.Add("key");
    if (is_there) {
      ASSERT_EQ(query.index.Put(query.log, kQueryHash, "key", old).status, kInsertDone);
    }
    query.result = kResultDeleted;  // announced
    query.word = MakeSlot(kTag, kSlotLive, 0, old);
    RunQuery(query.Job(true), 0);
    EXPECT_EQ(query.result, is_there ? kResultDeleted : kResultNone);
    EXPECT_EQ(query.word, is_there ? MakeSlot(kTag, kSlotLive, 0, old) : 0);
  }
}

// Its owner has left it since it looked at what is wanted.
TEST(QueryJob, AChangeThatWasLeftIsNotBegun) {
  for (const bool is_there : {false, true}) {
    for (const u32 wanted : {kWantsStore, kWantsDelete}) {
      OneQuery query(wanted);
      query.placed = query.log.Add(wanted == kWantsStore ? "key" : "", "");
      if (is_there) {
        ASSERT_EQ(query.index.Put(query.log, kQueryHash, "key", query.log.Add("key")).status,
                  kInsertDone);
      }
      const std::vector<u64> before = query.index.Words();
      query.wanted = kWantsNothing;
      wanted == kWantsStore ? InsertTask(query.Job(), 0) : DeleteTask(query.Job(), 0);
      EXPECT_EQ(query.index.Words(), before);
      EXPECT_EQ(query.result, kResultNone);
    }
  }
}

// Without a grave the entry goes at once: for jobs that are never run again.
TEST(QueryJob, ADeleteThatIsNeverRunAgainNeedsNoGrave) {
  OneQuery query(kWantsDelete);
  ASSERT_EQ(query.index.Put(query.log, kQueryHash, "key", query.log.Add("key")).status,
            kInsertDone);
  RunQuery(query.Job(), 0);
  EXPECT_EQ(query.result, kResultDeleted);
  EXPECT_TRUE(query.index.Words().empty());
}

}  // namespace
}  // namespace weft::task
