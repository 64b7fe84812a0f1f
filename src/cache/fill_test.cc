// Overwriting where places of replaced objects are filled (Store::AllowFilling).
//
// Threads   one.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "base/random.h"
#include "cache/fill_test_kit.h"

namespace weft::cache {
namespace {

// Each draws numbers for as many versions as it has units.
uint64_t SegmentsBegun(Store& store) {
  return store.log().next_version() / store.log().segment_units();
}

// Half of the memory is overwritten ten times over.
TEST(Filling, OverwritingTakesNoRoom) {
  const auto store = OpenFilling(8);
  Client client(store.get());
  constexpr uint64_t kKeys = 40'000;
  base::Random random(TestSeed(1));
  std::vector<uint64_t> versions(kKeys);
  for (uint64_t i = 0; i < kKeys; i++)
    ASSERT_EQ(client.Set(Key(i), Stamped(i, 0)), Outcome::kStored);
  const uint64_t live = store->Stats().object_bytes;
  const uint64_t segments_before = SegmentsBegun(*store);
  const uint64_t resident = store->log().resident_bytes();
  for (uint64_t n = 0; n < 10 * kKeys; n++) {
    const uint64_t key = random.Below(kKeys);
    ASSERT_EQ(client.Set(Key(key), Stamped(key, ++versions[key])), Outcome::kStored);
  }
  for (uint64_t i = 0; i < kKeys; i++) ASSERT_EQ(client.Value(Key(i)), Stamped(i, versions[i]));
  const CacheStats stats = store->Stats();
  EXPECT_EQ(stats.object_bytes, live);
  EXPECT_EQ(stats.evictions, 0u);
  EXPECT_LE(store->log().resident_bytes(), resident + (2 << 20));
  EXPECT_EQ(stats.carried, 0u);
  // What fills the holes' queue at first.
  const uint64_t begun = SegmentsBegun(*store) - segments_before;
  EXPECT_LE(begun * store->log().geometry().segment_bytes, 2u << 20);
}

TEST(Filling, AKeysVersionsRise) {
  const auto store = OpenFilling(8);
  Client client(store.get());
  constexpr uint64_t kKeys = 500;
  base::Random random(TestSeed(2));
  std::vector<uint64_t> seen(kKeys);
  for (uint64_t n = 0; n < 100'000; n++) {
    const uint64_t key = random.Below(kKeys);
    if (random.Below(50) == 0) {
      client.Delete(Key(key));
      continue;
    }
    if (random.Below(20) == 0) {
      Answer answer = client.Gets(Key(key));
      if (answer.reply.outcome == Outcome::kHit) {
        EXPECT_GE(answer.reply.cas, seen[key]);
        seen[key] = answer.reply.cas;
      }
      continue;
    }
    if (random.Below(20) == 0 && seen[key] != 0) {
      const uint64_t cas = client.Gets(Key(key)).reply.cas;
      const Outcome outcome = client.Cas(Key(key), Stamped(key, n), seen[key]);
      EXPECT_EQ(outcome == Outcome::kStored, cas == seen[key]);
      seen[key] = std::max(seen[key], cas);
      continue;
    }
    client.Set(Key(key), Stamped(key, n));
    Answer answer = client.Gets(Key(key));
    if (answer.reply.outcome != Outcome::kHit) continue;
    EXPECT_GT(answer.reply.cas, seen[key]) << key;
    seen[key] = answer.reply.cas;
  }
}

// What a client was shown of a key counts although the key was away.
TEST(Filling, AKeyThatComesAgainStaysAboveWhatWasShown) {
  const auto store = OpenFilling(8);
  Client client(store.get());
  for (uint64_t round = 0; round < 5; round++)
    for (uint64_t i = 0; i < 100; i++) client.Set(Key(i), Stamped(i, round));
  client.Gets(Key(7));
  client.Set(Key(7), Stamped(7, 5));
  const uint64_t shown = client.Gets(Key(7)).reply.cas;  // of an object that was appended
  ASSERT_EQ(client.Delete(Key(7)), Outcome::kDeleted);
  client.Set(Key(7), Stamped(7, 6));
  const uint64_t holes = client.session().hole_units();
  client.Set(Key(8), Stamped(8, 6));
  ASSERT_EQ(client.session().hole_units(), holes) << "others fill holes";
  for (uint64_t n = 7; n < 40; n++) client.Set(Key(7), Stamped(7, n));
  EXPECT_GT(client.Gets(Key(7)).reply.cas, shown);
}

// What a job stored does not look at what it replaced.
TEST(Filling, WhatAJobStoredInheritsThatAVersionWasShown) {
  const auto store = OpenFilling(8);
  Client client(store.get());
  Session& session = client.session();
  const std::string name = Key(1);
  const std::string value = Stamped(1, 1);
  Command set = Client::Of(Verb::kStore, name);
  set.hash = store->HashOf(name);
  set.value = value;
  const auto is_marked = [&](uint64_t at) {
    return (session.ObjectAt(at)->access & kAccessCasOnce) != 0;
  };
  session.Begin();
  const uint64_t old = store->Place(session, set), next = store->Place(session, set);
  const uint64_t added = store->Place(session, set);
  store->InheritMark(session, set, old, next);
  store->InheritMark(session, set, 0, added);
  EXPECT_FALSE(is_marked(next));
  EXPECT_FALSE(is_marked(added));
  // Somebody has replaced what the job stored in the meantime.
  const uint64_t stands = store->Execute(session, set).published;
  EXPECT_FALSE(is_marked(stands));
  session.ObjectAt(old)->access |= kAccessCasSeen;
  store->InheritMark(session, set, old, next);
  EXPECT_TRUE(is_marked(next));
  EXPECT_TRUE(is_marked(stands));
  store->log().NoteShown(task::CasOf(session.log(), old));
  store->InheritMark(session, set, 0, added);
  EXPECT_TRUE(is_marked(added)) << "the key may have had one that was shown";
  for (const uint64_t each : {old, next, added}) store->Abandon(session, each);
  session.End();
}

// What is placed bears the mark if its turn says so; for a job, once any version was shown.
TEST(Filling, WhatIsPlacedAheadIsMarkedInItsTurn) {
  const auto store = OpenFilling(8);
  Client client(store.get());
  Session& session = client.session();
  client.Set(Key(1), Stamped(1, 0));
  client.Set(Key(2), Stamped(2, 0));
  client.Gets(Key(2));
  for (const uint64_t key : {1, 2, 3}) {
    const std::string name = Key(key);
    const std::string value = Stamped(key, 1);
    Command set = Client::Of(Verb::kStore, name);
    set.hash = store->HashOf(name);
    set.value = value;
    session.Begin();
    const uint64_t of_job = store->Place(session, set, kAccessUnseen);
    EXPECT_NE(session.ObjectAt(of_job)->access & kAccessCasOnce, 0u);
    store->Abandon(session, of_job);
    Hint hint;
    hint.placed = store->Place(session, set);
    const task::Object* const placed = session.ObjectAt(hint.placed);
    EXPECT_EQ(placed->access & kAccessCasOnce, 0u);
    EXPECT_EQ(store->Execute(session, set, &hint).outcome, Outcome::kStored);
    EXPECT_EQ((placed->access & kAccessCasOnce) != 0, key != 1) << key;
    session.End();
  }
}

// Neither is a version that was shown given out twice: whoever compares with an old one fails.
TEST(Filling, NoVersionThatWasShownComesAgain) {
  const auto store = OpenFilling(8);
  Client client(store.get()), other(store.get());
  constexpr uint64_t kKeys = 20;
  base::Random random(TestSeed(3));
  std::vector<std::set<uint64_t>> shown(kKeys);
  for (uint64_t n = 0; n < 50'000; n++) {
    const uint64_t key = random.Below(kKeys);
    const std::string value = Stamped(key, n);
    if (random.Below(10) != 0) {
      ASSERT_EQ((random.Below(2) == 0 ? client : other).Set(Key(key), value), Outcome::kStored);
      continue;
    }
    // A key that was deleted forgets that it was shown, and fills holes again.
    if (random.Below(4) == 0) client.Delete(Key(key));
    for (uint64_t sets = random.Below(100) + 1; sets != 0; sets--)
      ASSERT_EQ(client.Set(Key(key), value), Outcome::kStored);
    EXPECT_TRUE(shown[key].insert(client.Gets(Key(key)).reply.cas).second) << key;
  }
}

// Whether holes are kept, filled, given up with their session, or since something was evicted.
TEST(Filling, WhatLivesIsCountedRight) {
  const auto store = OpenFilling(2);
  base::Random random(TestSeed(4));
  uint64_t keys = 4000;
  for (int round = 0; round < 12; round++) {
    {
      Client client(store.get()), other(store.get());
      if (round % 4 == 3) keys *= 2;  // at last it evicts
      for (uint64_t n = 0; n < 3 * keys; n++) {
        const uint64_t key = random.Below(keys);
        ASSERT_EQ((n % 2 == 0 ? client : other).Set(Key(key), Stamped(key, n)), Outcome::kStored);
      }
    }
    Client client(store.get());
    uint64_t bytes = 0;
    for (uint64_t key = 0; key < keys; key++) {
      const Answer answer = client.Get(Key(key));
      if (answer.reply.outcome == Outcome::kHit) bytes += answer.reply.object_bytes;
    }
    EXPECT_EQ(store->Stats().object_bytes, bytes) << round;
    EXPECT_EQ(store->log().live_bytes(), bytes) << round << ": no session holds any";
  }
  EXPECT_GT(store->Stats().evictions, 0u);
}

// Its place is not kept, and those that are kept stay.
TEST(Filling, AnObjectAboveTheLargestHoleCostsNoOther) {
  const auto store = OpenFilling(8);
  Client client(store.get());
  for (uint64_t round = 0; round < 5; round++)
    for (uint64_t i = 0; i < 100; i++) client.Set(Key(i), Stamped(i, round));
  const uint64_t holes = client.session().hole_units();
  ASSERT_GT(holes, 0u);
  for (uint64_t n = 0; n < 10; n++) client.Set("large", Stamped(1, n, 2000));
  EXPECT_EQ(client.session().hole_units(), holes);
}

// What leaves no hole is cleaned ahead, as without filling: nobody waits for room.
TEST(Filling, WhatFillsNoHoleIsCleanedAhead) {
  struct Case {
    size_t bytes;
    bool ends;
  };
  for (const Case& each : {Case{40, true}, Case{2000, false}}) {
    const auto store = OpenFilling(16);
    Client client(store.get());
    const Expiry expiry = each.ends ? base::NowSeconds() + 5000 : kNeverExpires;
    const uint64_t keys = (6u << 20) / (each.bytes + 20);
    base::Random random(TestSeed(6));
    for (uint64_t i = 0; i < keys; i++)
      ASSERT_EQ(client.Set(Key(i), Stamped(i, 0, each.bytes), expiry), Outcome::kStored);
    for (uint64_t n = 0; n < 10 * keys; n++) {
      const uint64_t key = random.Below(keys);
      ASSERT_EQ(client.Set(Key(key), Stamped(key, n, each.bytes), expiry), Outcome::kStored);
    }
    EXPECT_EQ(store->Stats().evictions, 0u);
    EXPECT_TRUE(store->is_filling());
    EXPECT_LT(client.session().counters().room_made.value(), 10u) << each.bytes;
  }
}

// Memory is too small for a while. When it fits again, overwriting takes no room again.
TEST(Filling, BeginsAgainWhenNothingIsEvictedAnyMore) {
  const auto store = OpenFilling(4);
  Client client(store.get());
  EXPECT_TRUE(store->is_filling());
  uint64_t n = 0;
  for (; store->Stats().evictions < 1000; n++) client.Set(Key(n), Stamped(n, 0));
  EXPECT_FALSE(store->is_filling());
  for (uint64_t key = 0; key < n; key++) client.Delete(Key(key));
  base::Random random(TestSeed(5));
  constexpr uint64_t kKeys = 20'000;
  for (uint64_t i = 0; i < 100 * kKeys && !store->is_filling(); i++) {
    const uint64_t key = random.Below(kKeys);
    client.Set(Key(key), Stamped(key, i));
  }
  EXPECT_TRUE(store->is_filling());
  const uint64_t carried = store->Stats().carried;
  for (uint64_t i = 0; i < 10 * kKeys; i++) {
    const uint64_t key = random.Below(kKeys);
    client.Set(Key(key), Stamped(key, i));
  }
  EXPECT_LT(store->Stats().carried, carried + kKeys);
  EXPECT_TRUE(store->is_filling());
}

}  // namespace
}  // namespace weft::cache
