#include "cache/object_log.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

// Sixteen segments of 64 KiB for one writer; the bytes of the objects are never looked at.
class Log : public testing::Test {
 protected:
  static constexpr uint64_t kSegmentBytes = 64 << 10;

  Log() : log_(Make(16)), slot_(epochs_.Claim()) {}
  std::unique_ptr<ObjectLog> Make(uint32_t segments) {
    return OpenLog(segments, kSegmentBytes, &epochs_);
  }
  uint64_t Append(uint64_t bytes, uint32_t ttl_s = 0, bool from_reserve = false) {
    return log_->Append(0, Generation::kYoung, log_->GroupOf(ttl_s), bytes,
                        ttl_s == 0 ? 0 : kNow + ttl_s, from_reserve ? Room::kCarrying : Room::kNew);
  }
  uint64_t SegmentOf(uint64_t location) const { return location / log_->segment_units(); }
  // Appends until there is no room.
  std::vector<uint64_t> Fill(uint64_t bytes, uint32_t ttl_s = 0) {
    std::vector<uint64_t> locations;
    while (const uint64_t location = Append(bytes, ttl_s)) locations.push_back(location);
    return locations;
  }

  static constexpr uint32_t kNow = 1'000'000;
  Epochs epochs_;
  const std::unique_ptr<ObjectLog> log_;
  Epochs::Slot* const slot_;
};

using ObjectLogAppend = Log;
using ObjectLogVictims = Log;
using ObjectLogBudget = Log;
using ObjectLogFlush = Log;

TEST_F(ObjectLogAppend, GivesPlacesThatDoNotOverlapUntilItIsFull) {
  std::mt19937_64 random(TestSeed());
  std::map<uint64_t, uint64_t> places;
  uint64_t bytes_live = 0;
  for (;;) {
    const uint64_t bytes = (random() % 200 + 2) * 8;
    const uint64_t location = Append(bytes);
    if (location == 0) break;
    ASSERT_TRUE(places.emplace(location, bytes / 8).second);
    bytes_live += bytes;
  }
  uint64_t end = 1;
  for (const auto& [location, units] : places) {
    ASSERT_GE(location, end);
    end = location + units;
    ASSERT_EQ(SegmentOf(location), SegmentOf(end - 1));
  }
  EXPECT_EQ(log_->live_bytes(), bytes_live);
  EXPECT_EQ(log_->SegmentsAvailable(), 0u);
  EXPECT_LE(log_->resident_bytes(), 16 * kSegmentBytes);
  // What is kept for carrying objects forward is still there.
  EXPECT_NE(Append(1024, 0, true), 0u);
}

TEST_F(ObjectLogAppend, GroupsAndGenerationsDoNotShareSegments) {
  std::set<uint64_t> segments;
  for (uint32_t group = 0; group < 4; group++)
    for (const Generation generation : {Generation::kYoung, Generation::kMain})
      segments.insert(SegmentOf(log_->Append(0, generation, group, 64, 0)));
  EXPECT_EQ(segments.size(), 8u);
  EXPECT_EQ(segments.count(0), 0u);
}

TEST_F(ObjectLogAppend, GroupsFollowTheTimeToLive) {
  EXPECT_EQ(log_->GroupOf(0), 0u);
  uint32_t last = 1;
  for (uint64_t ttl_s = 1; ttl_s <= UINT32_MAX; ttl_s = ttl_s * 3 / 2 + 1) {
    const uint32_t group = log_->GroupOf(static_cast<uint32_t>(ttl_s));
    ASSERT_GE(group, last);
    ASSERT_LT(group, 4u);
    last = group;
  }
  EXPECT_EQ(log_->GroupOf(1), 1u);
  EXPECT_EQ(log_->GroupOf(UINT32_MAX), 3u);
}

TEST_F(ObjectLogAppend, LargeObjectGetsNeighboursOfItsOwn) {
  const uint64_t small = Append(64);
  const uint64_t large = Append(5 * kSegmentBytes - 64);
  ASSERT_NE(large, 0u);
  EXPECT_EQ(large % log_->segment_units(), 0u);
  const uint64_t second = Append(kSegmentBytes / 2 + 8);
  ASSERT_NE(second, 0u);
  for (const uint64_t other : {small, second})
    EXPECT_TRUE(SegmentOf(other) < SegmentOf(large) || SegmentOf(other) >= SegmentOf(large) + 5);
  EXPECT_EQ(log_->resident_bytes(), 7 * kSegmentBytes);
  EXPECT_EQ(Append(15 * kSegmentBytes), 0u);
}

TEST_F(ObjectLogAppend, VersionsOfDifferentObjectsDiffer) {
  std::set<uint64_t> versions;
  for (int i = 0; i < 3000; i++) {
    const uint64_t location = i % 500 == 0 ? Append(kSegmentBytes) : Append(64, i % 3 * 1000);
    if (location == 0) break;
    const task::LogRef ref = log_->Ref();
    const uint64_t version =
        ref.version_bases[location >> ref.segment_shift] + location % log_->segment_units();
    ASSERT_TRUE(versions.insert(version).second);
    ASSERT_TRUE(versions.insert(log_->NextVersion()).second);
  }
  EXPECT_GT(versions.size(), 4000u);
}

TEST_F(ObjectLogAppend, WritersOfOneLaneDoNotOverlap) {
  constexpr int kThreads = 4;
  std::vector<std::vector<uint64_t>> places(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      Epochs::Slot* slot = epochs_.Claim();
      epochs_.Enter(slot);
      while (const uint64_t location = Append(8 * (t + 2))) places[t].push_back(location);
      epochs_.Exit(slot);
      epochs_.Release(slot);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<uint64_t, uint64_t> all;
  uint64_t bytes = 0;
  for (int t = 0; t < kThreads; t++)
    for (const uint64_t location : places[t]) {
      ASSERT_TRUE(all.emplace(location, t + 2).second);
      bytes += 8 * (t + 2);
    }
  uint64_t end = 0;
  for (const auto& [location, units] : all) {
    ASSERT_GE(location, end);
    end = location + units;
  }
  EXPECT_EQ(log_->live_bytes(), bytes);
}

TEST_F(ObjectLogAppend, WhoWatchesIsToldOfASegmentOnceHoweverOftenItBegan) {
  log_->Watch();
  std::set<uint64_t> segments;
  for (int round = 0; round < 50; round++) {
    for (const uint64_t place : Fill(1024)) segments.insert(SegmentOf(place));
    log_->SealAll();
    while (log_->PickVictim(kNow, true, false).kind != VictimKind::kNone) {
    }
    for (const uint64_t segment : segments) log_->Retire(static_cast<uint32_t>(segment));
    log_->Reclaim();
    ASSERT_GT(segments.size(), 4u);
  }
  std::vector<ObjectLog::Watched> watched;
  log_->LookAt(&watched);
  EXPECT_EQ(watched.size(), segments.size());
  // Nothing has begun since; then all that is in use is told anew to who watches anew.
  log_->LookAt(&watched);
  EXPECT_EQ(watched.size(), segments.size());
  const uint64_t in_use = SegmentOf(Append(1024));
  watched.clear();
  log_->LookAt(&watched);
  ASSERT_EQ(watched.size(), 1u);
  EXPECT_EQ(watched[0].segment, in_use);
  log_->Watch();
  watched.clear();
  log_->LookAt(&watched);
  EXPECT_FALSE(watched.empty());
}

TEST_F(ObjectLogVictims, OpenSegmentsAreNone) {
  Append(64);
  EXPECT_EQ(log_->PickVictim(kNow, true, false).kind, VictimKind::kNone);
  log_->SealAll();
  EXPECT_EQ(log_->PickVictim(kNow, true, false).kind, VictimKind::kEvict);
  EXPECT_EQ(log_->PickVictim(kNow, true, false).kind, VictimKind::kNone);  // it is being emptied
}

TEST_F(ObjectLogVictims, SegmentIsNoneWhileAWriterMayBeInIt) {
  epochs_.Enter(slot_);
  Append(64);
  log_->SealAll();
  EXPECT_EQ(log_->PickVictim(kNow, true, false).kind, VictimKind::kNone);
  epochs_.Exit(slot_);
  EXPECT_EQ(log_->PickVictim(kNow, true, false).kind, VictimKind::kEvict);
}

TEST_F(ObjectLogVictims, RetiredSegmentIsReusedOnlyWhenItsReadersHaveLeft) {
  const std::vector<uint64_t> places = Fill(1024);
  epochs_.Enter(slot_);
  Epochs::Slot* late = epochs_.Claim();
  const Victim victim = log_->PickVictim(kNow, true, false);
  ASSERT_NE(victim.kind, VictimKind::kNone);
  log_->Retire(victim.segment);
  epochs_.Enter(late);  // began after: cannot see it
  log_->Reclaim();
  EXPECT_EQ(log_->SegmentsRetired(), 1u);
  EXPECT_EQ(Append(1024), 0u);
  epochs_.Exit(slot_);
  log_->Reclaim();
  EXPECT_EQ(log_->SegmentsRetired(), 0u);
  EXPECT_EQ(SegmentOf(Append(1024)), victim.segment);
  epochs_.Exit(late);
}

TEST_F(ObjectLogVictims, EmptiestGoesFirstAndEndedBeforeIt) {
  std::vector<uint64_t> places = Fill(1024);
  const uint64_t emptiest = SegmentOf(places[300]);
  for (const uint64_t place : places)
    if (SegmentOf(place) == emptiest && place % 16 != 0)
      continue;
    else if (SegmentOf(place) == emptiest)
      log_->Release(place, 1024);
  Victim victim = log_->PickVictim(kNow, true, false);
  EXPECT_EQ(victim.kind, VictimKind::kClean);
  EXPECT_EQ(victim.segment, emptiest);
  EXPECT_LT(victim.live_units, victim.fill_units);
}

TEST_F(ObjectLogVictims, EndedSegmentIsDroppedWhole) {
  for (int i = 0; i < 63; i++) Append(1024, 100);
  for (int i = 0; i < 63; i++) Append(1024, 100000);
  log_->SealAll();
  EXPECT_EQ(log_->PickVictim(kNow + 99, true, true).kind, VictimKind::kNone);
  const Victim victim = log_->PickVictim(kNow + 100, true, true);
  EXPECT_EQ(victim.kind, VictimKind::kDrop);
  EXPECT_EQ(log_->PickVictim(kNow + 100, true, true).kind, VictimKind::kNone);
  EXPECT_EQ(log_->PickVictim(kNow + 100000, true, true).kind, VictimKind::kDrop);
}

TEST_F(ObjectLogVictims, SegmentWithOneObjectThatNeverEndsDoesNotEnd) {
  log_->Append(0, Generation::kYoung, 1, 64, kNow + 1);
  log_->Append(0, Generation::kYoung, 1, 64, kNeverExpires);
  log_->SealAll();
  EXPECT_EQ(log_->PickVictim(UINT32_MAX, true, true).kind, VictimKind::kNone);
}

TEST_F(ObjectLogVictims, NothingLiveGoesWhereNothingMayBeEvicted) {
  std::vector<uint64_t> places = Fill(1024);
  EXPECT_EQ(log_->PickVictim(kNow, false, false).kind, VictimKind::kNone);
  for (const uint64_t place : places)
    if (SegmentOf(place) == SegmentOf(places[100]) && place % 1024 == 0) log_->Release(place, 1024);
  const Victim victim = log_->PickVictim(kNow, false, false);
  EXPECT_EQ(victim.kind, VictimKind::kClean);
  EXPECT_EQ(victim.segment, SegmentOf(places[100]));
}

TEST_F(ObjectLogVictims, RenewedSegmentGoesToTheBack) {
  Fill(1024);
  const Victim first = log_->PickVictim(kNow, true, false);
  log_->Renew(first.segment);
  const Victim second = log_->PickVictim(kNow, true, false);
  EXPECT_NE(second.segment, first.segment);
}

TEST_F(ObjectLogVictims, RunComesBackWholeAndIsUsedAgain) {
  ASSERT_NE(Append(5 * kSegmentBytes), 0u);
  for (int i = 0; i < 20; i++) {
    const Victim victim = log_->PickVictim(kNow, true, false);
    ASSERT_EQ(victim.kind, VictimKind::kEvict);
    EXPECT_TRUE(victim.is_run);
    log_->Retire(victim.segment);
    log_->Reclaim();
    ASSERT_NE(Append(5 * kSegmentBytes), 0u) << i;
    ASSERT_LE(log_->resident_bytes(), 16 * kSegmentBytes);
  }
}

TEST_F(ObjectLogBudget, ShrinkingGivesMemoryBackAsItFallsFree) {
  Fill(1024);
  const uint64_t before = log_->resident_bytes();
  log_->SetBudget(8);
  EXPECT_EQ(log_->resident_bytes(), before);  // all in use
  EXPECT_EQ(Append(1024), 0u);
  EXPECT_NE(Append(1024, 0, true), 0u);  // the reserve, which has held no memory yet
  uint64_t resident_at_first_room = 0;
  for (int i = 0; i < 12; i++) {
    const Victim victim = log_->PickVictim(kNow, true, false);
    if (victim.kind == VictimKind::kNone) break;
    log_->Retire(victim.segment);
    log_->Reclaim();
    if (resident_at_first_room == 0 && log_->SegmentsAvailable() != 0)
      resident_at_first_room = log_->resident_bytes();
  }
  // A store found room long before all of it was given back, and takes nothing fresh meanwhile.
  EXPECT_GT(resident_at_first_room, 8 * kSegmentBytes);
  EXPECT_NE(Append(1024), 0u);
  EXPECT_LE(log_->resident_bytes(), resident_at_first_room);
  for (int i = 0; i < 12; i++) log_->GiveBackOne();
  EXPECT_FALSE(log_->over_budget());
  Fill(1024);
  EXPECT_LE(log_->resident_bytes(), 8 * kSegmentBytes);
}

TEST_F(ObjectLogBudget, GrowingMakesRoomAtOnce) {
  const size_t before = Fill(1024).size();
  EXPECT_EQ(Append(1024), 0u);
  log_->SetBudget(32);
  EXPECT_GE(Fill(1024).size(), before);
  EXPECT_LE(log_->resident_bytes(), 32 * kSegmentBytes);
  EXPECT_GT(log_->resident_bytes(), 24 * kSegmentBytes);
}

TEST_F(ObjectLogBudget, RunsMoveTheBudgetToWhereNeighboursAre) {
  // Every second segment is freed: no two neighbours among them.
  const std::vector<uint64_t> places = Fill(1024);
  std::set<uint64_t> segments;
  for (const uint64_t place : places) segments.insert(SegmentOf(place));
  log_->SealAll();
  std::vector<uint32_t> victims;
  for (;;) {
    const Victim victim = log_->PickVictim(kNow, true, false);
    if (victim.kind == VictimKind::kNone) break;
    victims.push_back(victim.segment);
  }
  for (const uint32_t victim : victims)
    if (victim % 2 == 0)
      log_->Retire(victim);
    else
      log_->Renew(victim);
  log_->Reclaim();
  const uint64_t run = Append(3 * kSegmentBytes);
  ASSERT_NE(run, 0u);
  EXPECT_LE(log_->resident_bytes(), 16 * kSegmentBytes);
  // The memory is there and its own.
  std::fill_n(log_->Ref().base + run * 8, 3 * kSegmentBytes, uint8_t{0xee});
}

TEST_F(ObjectLogBudget, SingleSegmentsStayAtTheLowEnd) {
  ASSERT_GT(SegmentOf(Append(4 * kSegmentBytes)), 16u);
  log_->Retire(log_->PickVictim(kNow, true, false).segment);
  log_->Reclaim();
  // The run's memory is free and stays backed, but up there.
  for (int i = 0; i < 4; i++) {
    const uint64_t small = Append(64, i == 0 ? 0 : 1u << (7 * i));
    const uint64_t half = Append(kSegmentBytes / 2 + 8);
    ASSERT_NE(small, 0u);
    ASSERT_NE(half, 0u);
    EXPECT_LE(SegmentOf(small), 16u);
    EXPECT_LE(SegmentOf(half), 16u);
  }
  EXPECT_LE(log_->resident_bytes(), 16 * kSegmentBytes);
  EXPECT_TRUE(log_->HasNeighbours(40));
  EXPECT_FALSE(log_->HasNeighbours(65));
}

TEST_F(ObjectLogFlush, WhatComesAfterIsAboveTheFloor) {
  const uint64_t before = Append(64);
  const uint64_t large_before = Append(2 * kSegmentBytes);
  log_->Flush();
  const uint64_t after = Append(64);
  const uint64_t large_after = Append(2 * kSegmentBytes);
  const task::LogRef ref = log_->Ref();
  EXPECT_TRUE(task::IsFlushed(ref, before));
  EXPECT_TRUE(task::IsFlushed(ref, large_before));
  EXPECT_FALSE(task::IsFlushed(ref, after));
  EXPECT_FALSE(task::IsFlushed(ref, large_after));
}

TEST_F(ObjectLogFlush, FloorIsLiftedWhenNothingFlushedIsLeft) {
  for (int i = 0; i < 200; i++) Append(1024);
  log_->Flush();
  Append(64);
  uint32_t dropped = 0;
  for (;;) {
    const Victim victim = log_->PickVictim(kNow, false, true);
    if (victim.kind == VictimKind::kNone) break;
    ASSERT_EQ(victim.kind, VictimKind::kDrop);
    ASSERT_NE(log_->Ref().flush_floor, 0u);
    log_->Retire(victim.segment);
    dropped++;
  }
  EXPECT_EQ(dropped, 4u);
  EXPECT_EQ(log_->Ref().flush_floor, 0u);
}

TEST(LogGeometry, LargestObjectFitsWhateverTheMemory) {
  for (uint64_t mib = 2; mib <= 65536; mib *= 2) {
    for (const uint32_t lanes : {1u, 16u, 128u}) {
      const LogGeometry geometry = GeometryFor(mib << 20, lanes, 1 << 20);
      EXPECT_GE(geometry.segment_bytes * geometry.budget_min, (1u << 20) + geometry.segment_bytes);
      EXPECT_LE(geometry.segment_bytes * geometry.budget_segments, mib << 20);
      // Open segments never take more than a third of the memory.
      const uint64_t open = kGenerations * geometry.groups * geometry.lanes;
      EXPECT_LE(open * 3, uint64_t{geometry.budget_segments}) << mib << " MiB, " << lanes;
    }
  }
}

TEST(Epochs, StampPassesWhenEveryEarlierBatchHasLeft) {
  Epochs epochs;
  Epochs::Slot* a = epochs.Claim();
  Epochs::Slot* b = epochs.Claim();
  epochs.Enter(a);
  const uint64_t stamp = epochs.Retire();
  epochs.Enter(b);
  EXPECT_FALSE(epochs.Passed(stamp));
  epochs.Exit(a);
  EXPECT_TRUE(epochs.Passed(stamp));
  const uint64_t later = epochs.Retire();
  EXPECT_FALSE(epochs.Passed(later));
  epochs.Exit(b);
  EXPECT_TRUE(epochs.Passed(later));
  EXPECT_EQ(epochs.Oldest(), UINT64_MAX);
}

TEST(Epochs, SlotsRunOutAndComeBack) {
  Epochs epochs;
  std::vector<Epochs::Slot*> slots;
  while (Epochs::Slot* slot = epochs.Claim()) slots.push_back(slot);
  EXPECT_EQ(slots.size(), size_t{Epochs::kSlotsMax});
  epochs.Release(slots[7]);
  EXPECT_EQ(epochs.Claim(), slots[7]);
  EXPECT_EQ(epochs.Claim(), nullptr);
}

TEST(Epochs, NoReaderSeesMemoryThatWasReused) {
  Epochs epochs;
  constexpr int kThreads = 3;
  // A cell is unlinked, waits for its epoch and is scribbled over; readers must not see that.
  struct Cell {
    std::atomic<uint64_t> value{1};
  };
  std::vector<Cell> cells(1 << 14);
  std::atomic<uint32_t> current{0};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> bad{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < kThreads; t++) {
    readers.emplace_back([&] {
      Epochs::Slot* slot = epochs.Claim();
      while (!stop.load(std::memory_order_relaxed)) {
        epochs.Enter(slot);
        const uint32_t cell = current.load(std::memory_order_acquire);
        for (int i = 0; i < 20; i++)
          if (cells[cell].value.load(std::memory_order_relaxed) != 1) bad++;
        epochs.Exit(slot);
      }
      epochs.Release(slot);
    });
  }
  const uint32_t rounds = std::min<uint32_t>(Rounds(200), cells.size() - 1);
  for (uint32_t i = 0; i < rounds; i++) {
    current.store(i + 1, std::memory_order_release);
    const uint64_t stamp = epochs.Retire();
    while (!epochs.Passed(stamp)) std::this_thread::yield();
    cells[i].value.store(2, std::memory_order_relaxed);
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(bad.load(), 0u);
}

// Large objects lie at the upper end of the addresses, so those are what locations must name.
TEST(LogAddresses, AreNoMoreThanLocationsCanName) {
  Epochs epochs;
  LogGeometry geometry;
  geometry.segment_bytes = 1u << 30;  // few, for a test: each has its line in a table
  geometry.budget_segments = 3 * 1024;
  geometry.budget_min = 4;
  geometry.groups = geometry.lanes = 1;
  auto log = ObjectLog::Create(geometry, false, &epochs);
  if (!log) GTEST_SKIP() << log.error().ToString();  // no room for so many addresses here
  const uint64_t bytes = (*log)->geometry().segment_bytes * 3 / 2;
  const uint64_t location = (*log)->Append(0, Generation::kYoung, 0, bytes, kNeverExpires);
  ASSERT_NE(location, 0u);
  EXPECT_EQ(task::SlotLocation(task::MakeSlot(1, kSlotLive, 0, location)), location);
  EXPECT_LE(location + bytes / kLocationUnitBytes, uint64_t{1} << kLocationBits);
}

TEST(LogAddresses, WhatCannotBeNamedIsRefused) {
  Epochs epochs;
  LogGeometry geometry;
  geometry.segment_bytes = 1u << 30;
  geometry.budget_segments = 4097;
  geometry.groups = geometry.lanes = 1;
  const auto log = ObjectLog::Create(geometry, false, &epochs);
  ASSERT_FALSE(log.has_value());
  EXPECT_EQ(log.error().code(), Code::kInvalidArgument);
  for (const uint64_t tib : {5, 1000, 16'000'000}) {
    CacheOptions options;
    options.memory_bytes = tib << 40;
    const auto store = Store::Open(options);
    ASSERT_FALSE(store.has_value());
    EXPECT_NE(store.error().message().find("at most 4 TiB"), std::string_view::npos)
        << store.error().ToString();
  }
}

}  // namespace
}  // namespace weft::cache
