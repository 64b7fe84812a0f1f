// task/slot.h: one slot of the index: a 64-bit word that names one object, or 0.
//
// One atomic word, so tag and location can't tear, and every mutation of a key is one
// compare-and-swap of its slot.
//
// Layout, low bit first
//   bits  0..39  location  where the object starts in the object log, in 8-byte units (8 TiB);
//                          the same number on host and device. 0 names no object.
//   bits 40..45  recency   accesses since the object was written or last aged, up to kRecencyMax;
//                          eviction spares objects that have any.
//   bits 46..47  state     live, tentative or moving, below.
//   bits 48..63  tag       from the high end of the hash, never 0, so no slot of an empty bucket
//                          ever matches.
//   the whole word 0       the slot is empty.
//
// State
//   kSlotLive       searches see it, updates may replace it;
//   kSlotTentative  an insert that has not yet made sure that it is the only one of its key.
//                   Searches pass over it, another insert of the same key may clear it. Its rank
//                   (task/insert.h) is in place of the recency. Or the trace of a delete, whose
//                   object no key equals (task/query_job.h): only the delete's batch clears that;
//   kSlotMoving     one of two copies while the entry changes place, or while its object is being
//                   copied: searches see it, updates wait until it is live again.
#pragma once

#include "task/portable.h"

WEFT_TASK_BEGIN

#define kSlotEmpty 0ul
#define kLocationBits 40
#define kLocationMask ((1ul << kLocationBits) - 1)
#define kRecencyShift 40
#define kRecencyMask (0x3ful << kRecencyShift)
#define kRecencyMax 3ul
#define kStateShift 46
#define kStateMask (3ul << kStateShift)
#define kSlotLive (0ul << kStateShift)
#define kSlotTentative (1ul << kStateShift)
#define kSlotMoving (2ul << kStateShift)
#define kTagShift 48
#define kLocationUnitBytes 8

// Tag of a hash. Zero is mapped to one, so that a slot in use is never 0 in its tag.
WEFT_FN u64 TagOfHash(u64 hash) {
  const u64 tag = hash >> 48;
  return tag == 0 ? 1 : tag;
}

WEFT_FN u64 MakeSlot(u64 tag, u64 state, u64 recency, u64 location) {
  return (tag << kTagShift) | state | (recency << kRecencyShift) | location;
}

WEFT_FN u64 SlotTag(u64 word) { return word >> kTagShift; }
WEFT_FN u64 SlotState(u64 word) { return word & kStateMask; }
WEFT_FN u64 SlotLocation(u64 word) { return word & kLocationMask; }
WEFT_FN u64 SlotRecency(u64 word) { return (word & kRecencyMask) >> kRecencyShift; }
WEFT_FN u64 WithState(u64 word, u64 state) { return (word & ~kStateMask) | state; }
WEFT_FN u64 WithRecency(u64 word, u64 recency) {
  return (word & ~kRecencyMask) | (recency << kRecencyShift);
}
WEFT_FN u64 WithLocation(u64 word, u64 location) { return (word & ~kLocationMask) | location; }

// True if the words name the same object in the same state, whatever their recency.
WEFT_FN bool SameEntry(u64 a, u64 b) { return ((a ^ b) & ~kRecencyMask) == 0; }

// Replaces the live entry `expected` by `desired` (0 deletes). A mere change of recency in the
// meantime does not stop it. Any other change does, and returns false: search again.
WEFT_FN bool ReplaceEntry(WEFT_GLOBAL u64* slot, u64 expected, u64 desired) {
  u64 seen = expected;
  // Ends: each round means that another thread changed the recency, which saturates.
  while (!CompareAndSwap64(slot, seen, desired)) {
    seen = LoadAcquire64(slot);
    if (!SameEntry(seen, expected)) return false;
  }
  return true;
}

// Whether to note an access to the entry. Always for the first two since the object was written or
// aged: the second makes an object worth keeping (cache/emptying.cc). Later ones only if `dice`
// says so, any number that changes from call to call: one in four tells hot from warm just as well.
WEFT_FN bool WantsAccessNote(u64 word, u32 dice) {
  const u64 recency = SlotRecency(word);
  // No branches: in a batch the outcome is as good as random.
  return (recency <= 1) | ((recency < kRecencyMax) & ((dice & 3) == 0));
}

// Notes an access: one step of recency, tried once (a lost race is a lost hint). A locked write
// waits for every load before it, so a batch does it when its loads are done.
WEFT_FN void NoteAccess(WEFT_GLOBAL u64* slot, u64 word) {
  const u64 recency = SlotRecency(word);
  if (recency < kRecencyMax && SlotState(word) == kSlotLive)
    CompareAndSwap64(slot, word, WithRecency(word, recency + 1));
}

WEFT_TASK_END
