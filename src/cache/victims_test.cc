// Which segment is emptied next, in logs of more segments than one call looks at.
//
// Threads   one.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

// Segments of 64 KiB for one writer, each filled with 64 objects of 1 KiB that are never looked at.
class Victims : public testing::Test {
 protected:
  static constexpr uint64_t kSegmentBytes = 64 << 10;
  static constexpr uint64_t kObjectBytes = 1024;
  static constexpr uint32_t kNow = 1'000'000;

  Victims() : log_(Make(1000)), slot_(epochs_.Claim()) {}
  std::unique_ptr<ObjectLog> Make(uint32_t segments) {
    return OpenLog(segments, kSegmentBytes, &epochs_);
  }
  uint32_t SegmentOf(uint64_t location) const {
    return static_cast<uint32_t>(location / log_->segment_units());
  }
  // Fills `count` segments, in one group for each second of life. Their numbers, oldest first.
  std::vector<uint32_t> Fill(uint32_t count, uint32_t ttl_s = 0,
                             Generation generation = Generation::kYoung) {
    std::vector<uint32_t> segments;
    for (uint32_t i = 0; i < count * 64; i++) {
      const uint64_t location = log_->Append(0, generation, log_->GroupOf(ttl_s), kObjectBytes,
                                             ttl_s == 0 ? kNeverExpires : kNow + ttl_s);
      EXPECT_NE(location, 0u);
      if (i % 64 == 0) segments.push_back(SegmentOf(location));
    }
    log_->SealAll();
    return segments;
  }
  // A log in which nothing live is evicted, of two lanes.
  void KeepForReplacing() {
    LogGeometry geometry = log_->geometry();
    geometry.keeps_for_replacing = true;
    geometry.lanes = 2;
    log_ = std::move(ObjectLog::Create(geometry, false, &epochs_).value());
  }
  // The segment that so many objects are appended to. It stays open.
  uint32_t FillInPart(uint32_t objects, Room room, uint32_t lane = 0, uint32_t ttl_s = 0) {
    uint64_t location = 0;
    for (uint32_t i = 0; i < objects; i++)
      location = log_->Append(lane, Generation::kYoung, log_->GroupOf(ttl_s), kObjectBytes,
                              ttl_s == 0 ? kNeverExpires : kNow + ttl_s, room);
    EXPECT_NE(location, 0u);
    return SegmentOf(location);
  }
  void ReleaseSome(uint32_t segment, uint32_t objects) {
    for (uint32_t i = 0; i < objects; i++)
      log_->Release(uint64_t{segment} * log_->segment_units(), kObjectBytes);
  }
  uint64_t VersionOfHole(uint64_t location) const {
    Generation generation;
    return log_->VersionOfHole(location, &generation);
  }
  Victim Pick(bool evict = true) { return log_->PickVictim(kNow, evict, false); }

  Epochs epochs_;
  std::unique_ptr<ObjectLog> log_;
  Epochs::Slot* const slot_;
};

TEST_F(Victims, AreEvictedInTheOrderOfTheirSealing) {
  for (const uint32_t segment : Fill(500)) {
    const Victim victim = Pick();
    ASSERT_EQ(victim.kind, VictimKind::kEvict);
    ASSERT_EQ(victim.segment, segment);
    log_->Retire(victim.segment);
  }
  const Victim none = Pick();
  EXPECT_EQ(none.kind, VictimKind::kNone);
  EXPECT_FALSE(none.pending);
}

TEST_F(Victims, MainGoesWhileYoungHasItsShareOrLess) {
  const std::vector<uint32_t> young = Fill(30);
  const std::vector<uint32_t> main = Fill(570, 0, Generation::kMain);
  EXPECT_EQ(Pick().segment, main[0]);   // 30 of 600
  EXPECT_EQ(Pick().segment, young[0]);  // 30 of 599
  EXPECT_EQ(Pick().segment, main[1]);
}

// A fifth of what is stored is young: more than its share at first, less where ghosts that come
// back early have made it grow.
TEST_F(Victims, YoungMayHoldMoreWhereWhatWasDroppedComesBackSoon) {
  Fill(100);
  Fill(400, 0, Generation::kMain);
  const uint64_t log_units = uint64_t{log_->segments_in_use_max()} * log_->segment_units();
  const auto due = [&] {
    const Victim victim = Pick();
    log_->Renew(victim.segment);  // into main: young has one segment less
    return victim.generation;
  };
  EXPECT_EQ(due(), Generation::kYoung);
  for (int i = 0; i < 100; i++) log_->AdaptYoung(log_units / 20, log_units / 100);
  EXPECT_EQ(due(), Generation::kMain);
  for (int i = 0; i < 100; i++) log_->AdaptYoung(log_units / 2, log_units / 100);
  EXPECT_EQ(due(), Generation::kYoung) << "what comes back late makes it shrink";
}

TEST_F(Victims, RenewedOneGoesToTheBackOfMain) {
  const std::vector<uint32_t> young = Fill(5);
  for (const uint32_t segment : young) {
    ASSERT_EQ(Pick().segment, segment);
    log_->Renew(segment);
  }
  for (const uint32_t segment : young) {
    const Victim victim = Pick();
    ASSERT_EQ(victim.segment, segment);
    ASSERT_EQ(victim.generation, Generation::kMain);
  }
}

TEST_F(Victims, EmptyOneIsFoundWithinARound) {
  const std::vector<uint32_t> segments = Fill(900);
  ASSERT_EQ(Pick().kind, VictimKind::kEvict);  // the first looks at all
  ReleaseSome(segments[777], 50);
  uint32_t calls = 1;
  for (;; calls++) {
    const Victim victim = Pick();
    if (victim.kind == VictimKind::kClean) {
      EXPECT_EQ(victim.segment, segments[777]);
      EXPECT_EQ(victim.live_units * 64, victim.fill_units * 14);
      break;
    }
    ASSERT_EQ(victim.kind, VictimKind::kEvict);
    ASSERT_LT(calls, 900u / 128 + 2);
  }
  EXPECT_GT(calls, 1u);
}

TEST_F(Victims, EmptyOneOfVeryManyIsFoundBeforeMuchThatLivesIsEvicted) {
  log_ = Make(20000);
  const std::vector<uint32_t> segments = Fill(18000);
  ASSERT_EQ(Pick().kind, VictimKind::kEvict);
  ReleaseSome(segments[17000], 50);
  uint32_t evicted = 0;
  for (Victim victim = Pick(); victim.kind != VictimKind::kClean; victim = Pick()) {
    ASSERT_EQ(victim.kind, VictimKind::kEvict);
    ASSERT_LE(++evicted, 64u);
  }
  // And at once where it was there before the first.
  log_ = Make(20000);
  const std::vector<uint32_t> others = Fill(18000);
  ReleaseSome(others[17000], 50);
  EXPECT_EQ(Pick().segment, others[17000]);
}

TEST_F(Victims, EmptyOnesOfOneWindowAreRemembered) {
  const std::vector<uint32_t> segments = Fill(900);
  ASSERT_EQ(Pick().kind, VictimKind::kEvict);  // the first looks at all
  for (uint32_t i = 0; i < 8; i++) ReleaseSome(segments[400 + i], 20 + i);
  uint32_t evicted = 0;
  while (true) {
    const Victim victim = Pick();
    if (victim.kind == VictimKind::kClean) {
      ASSERT_EQ(victim.segment, segments[407]);
      break;
    }
    ASSERT_LT(++evicted, 900u / 128 + 2);
  }
  for (uint32_t i = 7; i-- > 0;) {
    const Victim victim = Pick();
    ASSERT_EQ(victim.kind, VictimKind::kClean);
    ASSERT_EQ(victim.segment, segments[400 + i]);
  }
  EXPECT_EQ(Pick().kind, VictimKind::kEvict);
}

TEST_F(Victims, EmptyOneIsFoundAtOnceWhereNothingMayBeEvicted) {
  const std::vector<uint32_t> segments = Fill(900);
  EXPECT_EQ(Pick(false).kind, VictimKind::kNone);
  EXPECT_FALSE(Pick(false).pending);
  ReleaseSome(segments[500], 4);  // 94 % live
  ReleaseSome(segments[600], 5);
  EXPECT_EQ(Pick(false).segment, segments[600]);
  EXPECT_EQ(Pick(false).segment, segments[500]);
  const Victim none = Pick(false);
  EXPECT_EQ(none.kind, VictimKind::kNone);
  EXPECT_TRUE(none.pending);  // the two are being emptied
}

TEST_F(Victims, WhatDiesIsFoundWhereALookAtAllIsRemembered) {
  KeepForReplacing();
  const std::vector<uint32_t> segments = Fill(900);
  Fill(2, 100);
  EXPECT_EQ(Pick(false).kind, VictimKind::kNone);
  ReleaseSome(segments[500], 4);
  ReleaseSome(segments[600], 5);
  for (const uint32_t segment : {segments[600], segments[500]}) {
    ASSERT_EQ(Pick(false).segment, segment);
    log_->Retire(segment);
  }
  EXPECT_EQ(Pick(false).kind, VictimKind::kNone);
  EXPECT_FALSE(Pick(false).pending);
  // Its writer has left when the next look comes.
  epochs_.Enter(slot_);
  ReleaseSome(Fill(1)[0], 10);
  EXPECT_TRUE(Pick(false).pending);
  epochs_.Exit(slot_);
  EXPECT_EQ(Pick(false).kind, VictimKind::kClean);
  EXPECT_EQ(log_->PickVictim(kNow + 100, false, false).kind, VictimKind::kDrop);
  EXPECT_EQ(log_->PickVictim(kNow + 100, false, false).kind, VictimKind::kDrop);
  log_->Flush();
  EXPECT_EQ(log_->PickVictim(kNow + 100, false, false).kind, VictimKind::kDrop);
}

// To carry it a second time would gain no more.
TEST_F(Victims, UnfilledEndIsWorthCleaningUntilItWasCarried) {
  KeepForReplacing();
  for (const Room room : {Room::kNew, Room::kCarrying}) {
    const uint32_t segment = FillInPart(40, room);
    log_->SealAll();
    if (room == Room::kCarrying) {
      EXPECT_EQ(Pick(false).kind, VictimKind::kNone);
      ReleaseSome(segment, 3);
    }
    EXPECT_EQ(Pick(false).segment, segment);
  }
}

TEST_F(Victims, OpenOneIsSealedForRoomWhereSomeMayComeOfIt) {
  KeepForReplacing();
  EXPECT_FALSE(log_->SealForRoom(kNow));
  const uint32_t segment = FillInPart(40, Room::kCarrying);
  EXPECT_FALSE(log_->SealForRoom(kNow));
  ReleaseSome(segment, 3);
  EXPECT_FALSE(log_->SealForRoom(kNow));
  ReleaseSome(segment, 1);
  EXPECT_TRUE(log_->SealForRoom(kNow));
  EXPECT_EQ(Pick(false).segment, segment);
  // What ends, and what another lane has begun as well.
  const uint32_t ends = FillInPart(40, Room::kNew, 0, 100);
  EXPECT_FALSE(log_->SealForRoom(kNow + 99));
  EXPECT_TRUE(log_->SealForRoom(kNow + 100));
  EXPECT_EQ(log_->PickVictim(kNow + 100, false, false).segment, ends);
  FillInPart(30, Room::kNew);
  FillInPart(35, Room::kNew, 1);
  EXPECT_FALSE(log_->SealForRoom(kNow)) << "they fill more than one";
  FillInPart(30, Room::kNew, 1, 100);
  FillInPart(34, Room::kNew, 0, 100);
  EXPECT_TRUE(log_->SealForRoom(kNow));
}

TEST_F(Victims, OldestOneIsNoneWhileAWriterMayBeInIt) {
  const std::vector<uint32_t> older = Fill(3);
  epochs_.Enter(slot_);
  Fill(300);
  for (const uint32_t segment : older) {
    ASSERT_EQ(Pick().segment, segment);
    log_->Retire(segment);
  }
  Victim none = Pick();
  EXPECT_EQ(none.kind, VictimKind::kNone);
  EXPECT_TRUE(none.pending);
  none = Pick(false);
  EXPECT_EQ(none.kind, VictimKind::kNone);
  EXPECT_TRUE(none.pending);
  epochs_.Exit(slot_);
  EXPECT_EQ(Pick().kind, VictimKind::kEvict);
}

TEST_F(Victims, AllThatEndedAreDroppedBeforeAnythingElse) {
  const std::vector<uint32_t> stay = Fill(300);
  const std::vector<uint32_t> early = Fill(200, 100);
  const std::vector<uint32_t> late = Fill(200, 1000);
  EXPECT_EQ(log_->PickVictim(kNow + 99, true, true).kind, VictimKind::kNone);
  std::set<uint32_t> dropped;
  for (size_t i = 0; i < early.size(); i++) {
    const Victim victim = log_->PickVictim(kNow + 100, true, i % 2 == 0);
    ASSERT_EQ(victim.kind, VictimKind::kDrop);
    ASSERT_TRUE(dropped.insert(victim.segment).second);
    log_->Retire(victim.segment);
  }
  EXPECT_EQ(dropped, std::set<uint32_t>(early.begin(), early.end()));
  EXPECT_EQ(log_->PickVictim(kNow + 101, true, true).kind, VictimKind::kNone);
  EXPECT_EQ(log_->PickVictim(kNow + 101, true, false).segment, stay[0]);
  for (size_t i = 0; i < late.size(); i++)
    ASSERT_EQ(log_->PickVictim(kNow + 1000, true, true).kind, VictimKind::kDrop);
  EXPECT_EQ(log_->PickVictim(kNow + 9999, true, true).kind, VictimKind::kNone);
}

TEST_F(Victims, EndedOneIsFoundThoughAWriterWasInItOrAClockIsBehind) {
  epochs_.Enter(slot_);
  Fill(2, 100);
  EXPECT_EQ(log_->PickVictim(kNow + 100, true, true).kind, VictimKind::kNone);
  epochs_.Exit(slot_);
  EXPECT_EQ(log_->PickVictim(kNow + 101, true, true).kind, VictimKind::kDrop);
  EXPECT_EQ(log_->PickVictim(kNow + 99, true, true).kind, VictimKind::kNone);
  EXPECT_EQ(log_->PickVictim(kNow + 102, true, true).kind, VictimKind::kDrop);
}

TEST_F(Victims, FlushFloorStaysUntilTheLastOneOfBeforeIsRetired) {
  Fill(300);
  const Victim held = Pick();  // its objects are being carried forward
  log_->Flush();
  Fill(10);
  for (uint32_t i = 0; i < 299; i++) {
    const Victim victim = log_->PickVictim(kNow, false, true);
    ASSERT_EQ(victim.kind, VictimKind::kDrop) << i;
    log_->Retire(victim.segment);
  }
  EXPECT_EQ(log_->PickVictim(kNow, false, true).kind, VictimKind::kNone);
  EXPECT_NE(log_->flush_floor(), 0u);
  log_->Retire(held.segment);
  EXPECT_EQ(log_->flush_floor(), 0u);
}

TEST_F(Victims, FlushOfAnEmptyLogLeavesNoFloor) {
  log_->Flush();
  EXPECT_EQ(log_->flush_floor(), 0u);
  Fill(3);
  log_->Flush();
  EXPECT_NE(log_->flush_floor(), 0u);
  log_->Flush();
  for (uint32_t i = 0; i < 3; i++) {
    EXPECT_NE(log_->flush_floor(), 0u);
    log_->Retire(log_->PickVictim(kNow, false, true).segment);
  }
  EXPECT_EQ(log_->flush_floor(), 0u);
}

TEST(SegmentSet, FindsTheLowestWhateverComesAndGoes) {
  std::mt19937_64 random(TestSeed());
  SegmentSet set(1000);
  std::set<uint32_t> reference;
  for (uint32_t i = 0; i < Rounds(20000); i++) {
    const uint32_t segment = static_cast<uint32_t>(random() % 1000);
    if (reference.insert(segment).second) {
      set.Insert(segment);
    } else {
      set.Erase(segment);
      reference.erase(segment);
    }
    // Mostly emptied from the low end, as segments are taken.
    for (uint32_t j = 0; j < 3 && random() % 2 == 0 && !reference.empty(); j++) {
      set.Erase(set.Lowest());
      reference.erase(reference.begin());
    }
    ASSERT_EQ(set.count(), reference.size());
    if (!reference.empty()) {
      ASSERT_EQ(set.Lowest(), *reference.begin());
    }
  }
}

TEST_F(Victims, AreNotEvictedWhileSomebodyMayFillThem) {
  log_->AllowFilling();
  const std::vector<uint32_t> segments = Fill(20);
  EXPECT_TRUE(log_->is_filling());
  epochs_.Enter(slot_);
  for (int i = 0; i < 3; i++) {
    const Victim none = Pick();
    EXPECT_EQ(none.kind, VictimKind::kNone);
    EXPECT_TRUE(none.pending);
    EXPECT_FALSE(log_->is_filling());
  }
  epochs_.Exit(slot_);
  const Victim victim = Pick();
  EXPECT_EQ(victim.kind, VictimKind::kEvict);
  EXPECT_EQ(victim.segment, segments[0]);
}

// Filling goes on in all others.
TEST_F(Victims, AreClosedBeforeTheyAreCleaned) {
  log_->AllowFilling();
  const std::vector<uint32_t> segments = Fill(20);
  const uint64_t hole = uint64_t{segments[7]} * log_->segment_units() + 128;
  const uint64_t elsewhere = uint64_t{segments[8]} * log_->segment_units() + 128;
  const uint64_t version = VersionOfHole(hole);
  ASSERT_NE(version, 0u);
  EXPECT_TRUE(log_->MayFill(hole, version, Generation::kYoung));
  EXPECT_FALSE(log_->MayFill(hole, version + 1, Generation::kYoung));
  EXPECT_FALSE(log_->MayFill(hole, version, Generation::kMain));
  ReleaseSome(segments[7], 40);
  epochs_.Enter(slot_);
  for (int i = 0; i < 3; i++) {
    const Victim none = Pick();
    EXPECT_EQ(none.kind, VictimKind::kNone);
    EXPECT_TRUE(none.pending);
    EXPECT_TRUE(log_->is_filling()) << "one that is closed will be cleaned";
    EXPECT_FALSE(log_->MayFill(hole, version, Generation::kYoung));
    EXPECT_EQ(VersionOfHole(hole), 0u);
    EXPECT_TRUE(log_->IsHole(hole, version)) << "it counts still";
    EXPECT_NE(VersionOfHole(elsewhere), 0u);
  }
  epochs_.Exit(slot_);
  const Victim victim = Pick();
  EXPECT_EQ(victim.kind, VictimKind::kClean);
  EXPECT_EQ(victim.segment, segments[7]);
  EXPECT_TRUE(log_->IsHole(hole, version));
  log_->Retire(victim.segment);
  EXPECT_FALSE(log_->IsHole(hole, version));
  EXPECT_TRUE(log_->is_filling());
}

// What is cleaned when filling begins again is closed already.
TEST_F(Victims, AreClosedWhenFillingBeginsAgain) {
  log_->AllowFilling();
  const std::vector<uint32_t> segments = Fill(200);
  ASSERT_EQ(Pick().kind, VictimKind::kEvict);
  ASSERT_FALSE(log_->is_filling());
  uint32_t cleaned = 0;
  for (uint32_t i = 1; i < segments.size() && !log_->is_filling(); i++) {
    ReleaseSome(segments[i], 40);
    const Victim victim = Pick();
    ASSERT_EQ(victim.kind, VictimKind::kClean);
    ASSERT_EQ(victim.segment, segments[i]);
    EXPECT_EQ(VersionOfHole(uint64_t{segments[i]} * log_->segment_units()), 0u);
    cleaned++;
    log_->Retire(victim.segment);
  }
  EXPECT_TRUE(log_->is_filling());
  EXPECT_EQ(cleaned, 64u);
  EXPECT_NE(VersionOfHole(uint64_t{segments[150]} * log_->segment_units()), 0u);
}

}  // namespace
}  // namespace weft::cache
