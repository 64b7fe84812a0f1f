// Victims that are emptied piece by piece, and what happens to their objects in the meantime.
//
// Threads   one.
#include "cache/emptying.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

constexpr uint32_t kWaitS = 10;  // for what has to come within two

std::string LongKey(uint64_t i) { return "key" + std::to_string(1000000 + i); }

// Objects of 32 bytes in segments of 16 KiB, and an index that does not grow.
CacheOptions OfSmallObjects() {
  CacheOptions options;
  options.memory_bytes = 4u << 20;
  options.object_bytes_max = 256u << 10;
  options.expected_items = 150000;
  options.append_lanes = 1;
  return options;
}

class Emptyings : public testing::Test {
 protected:
  // Stores one more object, a batch of its own.
  void StoreNext() { ASSERT_EQ(client_.Set(LongKey(next_++), "v"), Outcome::kStored); }
  // Ends between two batches of the emptying of a victim.
  void StoreUntilUnderWay() {
    for (int i = 0; i < 200000 && log().SegmentsEvicting() != 0; i++) StoreNext();
    for (int i = 0; i < 200000 && log().SegmentsEvicting() == 0; i++) StoreNext();
    ASSERT_EQ(log().SegmentsEvicting(), 1u);
  }
  void StoreUntilFreed() {
    for (uint32_t i = 0; i < 4096 && log().SegmentsEvicting() != 0; i++) StoreNext();
    ASSERT_EQ(log().SegmentsEvicting(), 0u);
  }
  // A command without the housekeeping that follows a batch.
  Answer Run(Command command) {
    command.hash = store_->HashOf(command.key);
    Answer answer;
    client_.session().Begin();
    answer.reply = store_->Execute(client_.session(), command);
    answer.value = std::string(answer.reply.value);
    client_.session().End();
    return answer;
  }
  bool IsPresent(uint64_t i) {
    return Run(Client::Of(Verb::kRead, LongKey(i))).reply.outcome == Outcome::kHit;
  }
  uint64_t OldestPresent() {
    uint64_t i = 0;
    while (i < next_ && !IsPresent(i)) i++;
    return i;
  }
  ObjectLog& log() { return store_->log(); }

  const std::unique_ptr<Store> store_ = OpenStore(OfSmallObjects());
  Client client_{store_.get()};
  uint64_t next_ = 0;
};

uint64_t Cleared(const SessionCounters& counters) {
  return counters.evictions.value() + counters.expired.value() + counters.carried.value();
}

TEST_F(Emptyings, BatchOfOneWriteClearsAPortionAndThatIsEnough) {
  for (const bool all_are_read : {false, true}) {
    const SessionCounters& counters = client_.session().counters();
    const uint32_t wanted = 2 * (log().geometry().lanes + 1);
    const uint64_t portion = ObjectsToEmpty(1, 0, wanted);
    ASSERT_LT(portion, log().geometry().segment_bytes / 32);
    const uint64_t freed_before = counters.segments_freed.value();
    uint64_t cleared_max = 0;
    for (int i = 0; i < 300000; i++) {
      const uint64_t cleared = Cleared(counters);
      StoreNext();
      cleared_max = std::max(cleared_max, Cleared(counters) - cleared);
      if (all_are_read) client_.Get(LongKey(next_ - 1));
    }
    EXPECT_LE(cleared_max, portion);
    EXPECT_GT(cleared_max, 0u);
    EXPECT_GT(counters.segments_freed.value(), freed_before + 50);
    EXPECT_EQ(counters.room_made.value(), 0u) << "a store had to wait";
  }
}

TEST_F(Emptyings, UnfinishedOneIsCarriedOnByAnotherSession) {
  StoreUntilUnderWay();
  Client other(store_.get());
  const uint64_t freed = client_.session().counters().segments_freed.value();
  for (uint32_t i = 0; i < 4096 && log().SegmentsEvicting() != 0; i++)
    other.Set("other" + std::to_string(i), "v");
  EXPECT_EQ(log().SegmentsEvicting(), 0u);
  EXPECT_GE(other.session().counters().segments_freed.value(), 1u);
  EXPECT_EQ(client_.session().counters().segments_freed.value(), freed);
}

TEST_F(Emptyings, WhoNeedsRoomFinishesWhatOthersLeft) {
  StoreUntilUnderWay();
  Client other(store_.get());
  const uint64_t large = uint64_t{log().SegmentsAvailable()} * log().geometry().segment_bytes;
  ASSERT_TRUE(store_->MakeRoom(other.session(), large));
  EXPECT_EQ(log().SegmentsEvicting(), 0u);
  EXPECT_GE(other.session().counters().segments_freed.value(), 1u);
}

TEST_F(Emptyings, LargerObjectsThanThoseThatGoNeedNotWait) {
  for (int i = 0; i < 200000; i++) StoreNext();
  const SessionCounters& counters = client_.session().counters();
  ASSERT_GT(counters.segments_freed.value(), 0u);
  const std::string value(10000, 'v');
  for (int i = 0; i < 1000; i++)
    ASSERT_EQ(client_.Set("large" + std::to_string(i), value), Outcome::kStored);
  // Twice: the first of them are in longer and longer segments, for which more is kept in reserve.
  EXPECT_LE(counters.room_made.value(), 2u);
}

// As batches are that wait for a device.
TEST(EmptyingsWithALongReader, MoreIsEmptiedThanWasWantedFree) {
  CacheOptions options = OfSmallObjects();
  options.memory_bytes = 32u << 20;
  const auto store = OpenStore(options);
  const ObjectLog& log = store->log();
  const uint32_t ready = log.geometry().lanes + 1, wanted = 2 * ready;
  ASSERT_GE(log.geometry().budget_segments / 32, 2 * wanted);
  const uint64_t of_a_segment = log.geometry().segment_bytes / 32;
  const auto reader = store->NewSession();
  Client client(store.get());
  const SessionCounters& counters = client.session().counters();
  uint64_t next = 0;
  const auto store_next = [&] {
    EXPECT_EQ(client.Set(LongKey(next++), "v"), Outcome::kStored);
    return !testing::Test::HasFailure();
  };
  while (counters.segments_freed.value() < 20) ASSERT_TRUE(store_next());
  reader->Begin();
  while (log.SegmentsAvailable() >= ready && store_next()) {
  }
  for (uint64_t i = 0; i < of_a_segment * 3 / 4 && store_next(); i++) {
  }
  EXPECT_GT(log.SegmentsRetired(), wanted);
  reader->End();
  for (uint64_t i = 0; i < of_a_segment && store_next(); i++) {
  }
  EXPECT_GT(log.SegmentsAvailable(), wanted);
  // Once: the first of them lie in longer segments, for which more is kept in reserve.
  EXPECT_LE(counters.room_made.value(), 1u);
}

TEST(EmptyingsWithoutEviction, WhoNeedsRoomFinishesWhatOthersLeft) {
  CacheOptions options = OfSmallObjects();
  options.evict = false;
  const auto store = OpenStore(options);
  Client client(store.get());
  uint64_t stored = 0;
  while (client.Set(LongKey(stored), "v") == Outcome::kStored) stored++;
  uint64_t deleted = 0;
  for (; store->log().SegmentsEvicting() == 0; deleted += 2) {  // until a cleaning is worth it
    ASSERT_LT(deleted, stored);
    ASSERT_EQ(client.Delete(LongKey(deleted)), Outcome::kDeleted);
  }
  client.session().Begin();  // and on, without housekeeping
  for (; deleted < stored; deleted += 2) {
    const std::string key = LongKey(deleted);
    Command command = Client::Of(Verb::kDelete, key);
    command.hash = store->HashOf(key);
    ASSERT_EQ(store->Execute(client.session(), command).outcome, Outcome::kDeleted);
  }
  client.session().End();
  ASSERT_EQ(store->log().SegmentsEvicting(), 1u);
  Client other(store.get());
  for (uint64_t i = 0; i < 1000; i++) ASSERT_EQ(other.Set("o" + LongKey(i), "v"), Outcome::kStored);
  store->MakeRoom(other.session(), options.object_bytes_max);
  EXPECT_EQ(store->log().SegmentsEvicting(), 0u);
  for (uint64_t i = 1; i < stored; i += 2) ASSERT_EQ(client.Value(LongKey(i)), "v");
  EXPECT_EQ(store->Stats().evictions, 0u);
}

// Of the victim's objects some are replaced, deleted or shown between the pieces of its emptying,
// while they are collected and while they are cleared.
TEST_F(Emptyings, WhatChangesInBetweenIsNeitherLostNorComesBack) {
  StoreUntilUnderWay();
  StoreUntilFreed();
  const uint64_t first = OldestPresent();
  constexpr uint64_t kCount = 300;  // of the some 500 in the next victim
  for (uint64_t i = first; i < first + kCount; i++)
    ASSERT_TRUE(IsPresent(i) && IsPresent(i));  // worth carrying
  const uint64_t carried = client_.session().counters().carried.value();
  StoreUntilUnderWay();
  std::map<uint64_t, uint64_t> shown;
  uint64_t changed = first;
  uint32_t batches = 0;
  for (; log().SegmentsEvicting() != 0; batches++) {
    for (int n = 0; n < 25 && changed < first + kCount; n++, changed++) {
      const std::string key = LongKey(changed);
      Command command = Client::Of(changed % 4 == 0 ? Verb::kStore : Verb::kDelete, key);
      command.value = "next";
      if (changed % 4 < 2) Run(command);
      Command read = Client::Of(Verb::kRead, key);
      read.want_cas = true;
      if (changed % 4 == 2) shown[changed] = Run(read).reply.cas;
    }
    StoreNext();
  }
  EXPECT_GT(batches, 5u);
  ASSERT_EQ(changed, first + kCount);
  EXPECT_GT(client_.session().counters().carried.value(), carried + kCount / 4);
  for (uint64_t i = first; i < first + kCount; i++) {
    const Answer answer = client_.Gets(LongKey(i));
    const std::string value = answer.reply.outcome == Outcome::kHit ? answer.value : "(none)";
    EXPECT_EQ(value, i % 4 == 0 ? "next" : i % 4 == 1 ? "(none)" : "v") << i - first;
    if (i % 4 != 2) continue;
    EXPECT_EQ(answer.reply.cas, shown[i]) << i - first;
  }
}

TEST_F(Emptyings, FlushInBetweenEmptiesTheStore) {
  for (uint32_t left_batches = 0; left_batches < 15; left_batches += 5) {
    StoreUntilUnderWay();
    for (uint32_t i = 0; i < left_batches; i++) StoreNext();
    ASSERT_EQ(log().SegmentsEvicting(), 1u) << left_batches;
    const uint64_t evictions = store_->Stats().evictions;
    const uint64_t flushed = next_;
    client_.Flush();
    for (int i = 0; i < 5000; i++) StoreNext();
    for (uint64_t i = 0; i < flushed; i += 7) ASSERT_FALSE(IsPresent(i)) << i;
    for (uint64_t i = flushed; i < next_; i++) ASSERT_TRUE(IsPresent(i)) << i - flushed;
    EXPECT_EQ(store_->Stats().evictions, evictions);
  }
}

// The floor of a flush goes when all from before it is gone: also where nobody stores any more.
TEST_F(Emptyings, ReadersFinishWhatWasFlushed) {
  StoreUntilUnderWay();
  client_.Flush();
  const timespec wait = {0, 1'000'000};
  const uint32_t end = base::NowSeconds() + kWaitS;
  while (log().flush_floor() != 0 && base::NowSeconds() < end) {
    client_.Get("nothing");
    nanosleep(&wait, nullptr);
  }
  EXPECT_EQ(log().flush_floor(), 0u);
  EXPECT_EQ(log().SegmentsEvicting(), 0u);
  EXPECT_EQ(store_->Stats().items, 0u);
  EXPECT_EQ(store_->Stats().object_bytes, 0u);
}

TEST(EmptyingsOfAStore, MayBeUnfinishedWhenItGoes) {
  const auto store = OpenStore(OfSmallObjects());
  Client client(store.get());
  for (uint64_t i = 0; i < 1000000 && store->log().SegmentsEvicting() == 0; i++)
    client.Set(LongKey(i), "v");
  EXPECT_EQ(store->log().SegmentsEvicting(), 1u);
}

TEST_F(Emptyings, LookAtEachObjectTwiceAndAtNoMoreThanAsked) {
  for (uint32_t i = 0; i < 10000; i++) StoreNext();
  log().SealAll();
  const Victim victim = log().PickVictim(base::NowSeconds(), true, false);
  ASSERT_EQ(victim.kind, VictimKind::kEvict);
  Emptying emptying(victim);
  uint64_t looked = 0;
  while (emptying.state() == Emptying::State::kUnderWay) {
    const uint64_t piece = emptying.Advance(client_.session(), 7);
    ASSERT_TRUE(piece == 7 || emptying.state() != Emptying::State::kUnderWay) << piece;
    ASSERT_LE(piece, 7u);
    looked += piece;
  }
  EXPECT_EQ(emptying.state(), Emptying::State::kEmptied);
  EXPECT_EQ(looked, 2 * Cleared(client_.session().counters()));
  EXPECT_GT(looked, 800u);
  log().Retire(victim.segment);
}

TEST(ObjectsToEmpty, GrowWithWritesAndShortageAndAreBoundedWhereFewAreStored) {
  for (const uint32_t wanted : {4u, 6u, 34u}) {
    for (uint32_t writes = 0; writes < 5000; writes = writes * 2 + 1) {
      uint64_t last = 0;
      for (uint32_t ready = wanted; ready-- > 0;) {
        const uint64_t objects = ObjectsToEmpty(writes, ready, wanted);
        EXPECT_GE(objects, last);
        EXPECT_GE(objects, writes * (ready <= wanted / 2 ? 8 : 1));
        const bool is_far_behind = 8 * (wanted - ready) >= 5 * wanted;
        EXPECT_GE(objects, writes * (is_far_behind ? 20 : 0));
        EXPECT_LE(objects, std::max<uint64_t>(2048, 32 * uint64_t{writes}));
        last = objects;
      }
    }
  }
}

}  // namespace
}  // namespace weft::cache
