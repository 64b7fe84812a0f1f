#include "task/slot.h"

#include <gtest/gtest.h>

#include "task/table_test_kit.h"

namespace weft::task {
namespace {

TEST(Slot, FieldsComeBackAsTheyWerePut) {
  std::mt19937_64 random(TestSeed());
  for (uint32_t i = 0; i < 10000; i++) {
    const u64 tag = random() & 0xffff, location = random() & kLocationMask;
    const u64 recency = random() & 63, state = u64{random() & 3} << kStateShift;
    const u64 word = MakeSlot(tag, state, recency, location);
    ASSERT_EQ(SlotTag(word), tag);
    ASSERT_EQ(SlotState(word), state);
    ASSERT_EQ(SlotRecency(word), recency);
    ASSERT_EQ(SlotLocation(word), location);

    const u64 other = random() & kLocationMask;
    ASSERT_EQ(WithLocation(word, other), MakeSlot(tag, state, recency, other));
    ASSERT_EQ(WithRecency(word, 63 - recency), MakeSlot(tag, state, 63 - recency, location));
    ASSERT_EQ(WithState(word, kSlotMoving), MakeSlot(tag, kSlotMoving, recency, location));
  }
}

TEST(Slot, FieldsFillTheWord) {
  EXPECT_EQ(MakeSlot(0xffff, kStateMask, 63, kLocationMask), ~u64{0});
  EXPECT_EQ(kLocationMask ^ kRecencyMask ^ kStateMask ^ (0xfffful << kTagShift), ~u64{0});
}

TEST(Slot, TagIsTheHighEndAndNeverZero) {
  EXPECT_EQ(TagOfHash(0), 1u);
  EXPECT_EQ(TagOfHash(0x0000ffffffffffff), 1u);
  EXPECT_EQ(TagOfHash(0x0001000000000000), 1u);
  EXPECT_EQ(TagOfHash(0x0002000000000000), 2u);
  EXPECT_EQ(TagOfHash(~u64{0}), 0xffffu);
}

TEST(Slot, SameEntryLooksPastRecencyOnly) {
  const u64 word = MakeSlot(7, kSlotLive, 1, 99);
  EXPECT_TRUE(SameEntry(word, WithRecency(word, 3)));
  EXPECT_FALSE(SameEntry(word, WithLocation(word, 98)));
  EXPECT_FALSE(SameEntry(word, WithState(word, kSlotMoving)));
  EXPECT_FALSE(SameEntry(word, MakeSlot(8, kSlotLive, 1, 99)));
  EXPECT_FALSE(SameEntry(word, kSlotEmpty));
}

TEST(Slot, ReplaceGoesOnOverAChangedRecency) {
  const u64 word = MakeSlot(7, kSlotLive, 1, 99);
  u64 slot = WithRecency(word, 3);
  EXPECT_TRUE(ReplaceEntry(&slot, word, WithLocation(word, 5)));
  EXPECT_EQ(slot, WithLocation(word, 5));
}

TEST(Slot, ReplaceLeavesAChangedEntryAlone) {
  const u64 word = MakeSlot(7, kSlotLive, 1, 99);
  for (const u64 now : {u64{kSlotEmpty}, WithLocation(word, 98), WithState(word, kSlotMoving),
                        WithState(word, kSlotTentative), MakeSlot(8, kSlotLive, 1, 99)}) {
    u64 slot = now;
    EXPECT_FALSE(ReplaceEntry(&slot, word, kSlotEmpty));
    EXPECT_EQ(slot, now);
  }
}

TEST(Slot, AccessesCountUpToTheMaximum) {
  u64 slot = MakeSlot(7, kSlotLive, 0, 99);
  for (u64 i = 1; i <= 10; i++) {
    NoteAccess(&slot, slot);
    EXPECT_EQ(slot, MakeSlot(7, kSlotLive, std::min<u64>(i, kRecencyMax), 99));
  }
}

TEST(Slot, AccessIsNotNotedInAWordThatChangedOrMoves) {
  const u64 word = MakeSlot(7, kSlotLive, 0, 99);
  u64 slot = WithLocation(word, 98);
  NoteAccess(&slot, word);
  EXPECT_EQ(slot, WithLocation(word, 98));
  slot = WithState(word, kSlotMoving);
  NoteAccess(&slot, slot);
  EXPECT_EQ(slot, WithState(word, kSlotMoving));
}

}  // namespace
}  // namespace weft::task
