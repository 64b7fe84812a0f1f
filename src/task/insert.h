// task/insert.h: task IN.insert: a new key enters the index, once.
//
// Two inserts of one key may run at once, on any two processors, and pick different empty slots.
// So an insert first places a tentative word, which no search sees, then looks for another entry
// of the key in both buckets. Of two placements, at least the later one's look finds the other:
//   another entry, live or moving   the key is there already: withdraw
//   another tentative word          the lower one stays (RankOf): it clears the higher one, or
//                                   withdraws where it is itself the higher
//   none                            make the word live; that fails only if it was cleared
// A cleared or withdrawn insert starts over from the search; the lowest word always goes on, so
// somebody always finishes. No lock is held, so a stopped thread stops nobody for longer than its
// tentative word stands; and that of a device, which may stop for good, stops no CPU.
//
// Source: the idea of tentative entries is known from FASTER's index (SIGMOD'18); clearing by word
// order is ours, so that lock-step device lanes cannot back off for ever.
#pragma once

#include "task/displace.h"
#include "task/search.h"

WEFT_TASK_BEGIN

#define kInsertDone 0u     // the entry is live
#define kInsertPresent 1u  // the key has an entry: search again and replace it
#define kInsertBusy 2u     // lost to another insert of the key: search again
#define kInsertFull 3u     // no slot in either bucket: grow the index, or allow a victim

typedef struct Inserted {
  u32 status;
  u64 victim;  // word of a live entry that was dropped for room; 0: none
} Inserted;

// The live entry that has been used least of the two buckets; ages the others where all were used.
// Of equals the first from slot `start` (0..15) on goes: with one start for all, each newcomer
// would push out the one before it, for neither has been read yet.
WEFT_FN Found LeastRecent(TableRef table, u64 first, u64 second, u32 start) {
  Found least = {0, 0};
  for (u32 n = 0; n < 2 * kBucketSlots; n++) {
    const u32 i = (start + n) % (2 * kBucketSlots);
    const u64 bucket = i < kBucketSlots ? first : second;
    WEFT_GLOBAL u64* slot = &table.buckets[bucket].slots[i % kBucketSlots];
    const u64 word = LoadAcquire64(slot);
    if (word == kSlotEmpty || SlotState(word) != kSlotLive) continue;
    if (least.slot == 0 || SlotRecency(word) < SlotRecency(least.word)) {
      least.slot = slot;
      least.word = word;
    }
  }
  if (least.slot == 0 || SlotRecency(least.word) == 0) return least;
  for (u32 i = 0; i < 2 * kBucketSlots; i++) {
    const u64 bucket = i < kBucketSlots ? first : second;
    WEFT_GLOBAL u64* slot = &table.buckets[bucket].slots[i % kBucketSlots];
    const u64 word = LoadAcquire64(slot);
    if (word == kSlotEmpty || SlotState(word) != kSlotLive || slot == least.slot) continue;
    CompareAndSwap64(slot, word, WithRecency(word, SlotRecency(word) - 1));
  }
  return least;
}

// Where the search for a victim of the object at `location` starts: as good as random.
WEFT_FN u32 VictimStart(u64 location) { return (u32)((location * 0x9e3779b97f4a7c15ul) >> 60); }

// Puts `word` into one of the two buckets; null if both are full (and no victim may go).
WEFT_FN WEFT_GLOBAL u64* PlaceWord(IndexRef index, TableRef table, LogRef log, u64 hash, u64 word,
                                   bool may_drop, u64* victim) {
  const u64 first = FirstBucket(hash, table.bucket_count);
  const u64 second = OtherBucket(index.policy, first, SlotTag(word), table.bucket_count);
  MarkBucket(index, table, first);
  for (u32 attempt = 0; attempt < 4; attempt++) {
    WEFT_GLOBAL u64* slot = PlaceInBucket(&table.buckets[first], word);
    if (slot != 0) return slot;
    MarkBucket(index, table, second);
    slot = PlaceInBucket(&table.buckets[second], word);
    if (slot != 0) return slot;
    if (Displace(index, table, first, second)) continue;
    if (!may_drop) return 0;
    const Found least = LeastRecent(table, first, second, VictimStart(SlotLocation(word)));
    if (least.slot == 0) continue;
    NoteSeen(ObjectAt(log, SlotLocation(least.word)));
    if (CompareAndSwap64(least.slot, least.word, word)) {
      *victim = least.word;
      return least.slot;
    }
  }
  return 0;
}

// A tentative word's recency tells who places it: others yield to the CPU's own inserts.
#define kByCpu 0ul
#define kByStage 1ul  // a stage on any processor (task/query_job.h)

// The lower stays: the CPU's words before others, then by location.
WEFT_FN u64 RankOf(u64 word) { return word & (kRecencyMask | kLocationMask); }

// Whether the tentative word in `slot` may become live: kInsertDone, kInsertPresent or kInsertBusy.
WEFT_FN u32 SettleInsert(IndexRef index, LogRef log, Key key, WEFT_GLOBAL u64* slot, u64 word) {
  for (;;) {  // Ends: a round more means that another insert of the key finished or was cleared.
    const Found other = FindAny(index, log, key, true, slot);
    if (other.slot == 0)
      return CompareAndSwap64(slot, word, WithRecency(WithState(word, kSlotLive), 0)) ? kInsertDone
                                                                                      : kInsertBusy;
    if (SlotState(other.word) != kSlotTentative) {
      CompareAndSwap64(slot, word, kSlotEmpty);
      return kInsertPresent;
    }
    if (RankOf(other.word) < RankOf(word)) {
      CompareAndSwap64(slot, word, kSlotEmpty);
      return kInsertBusy;
    }
    CompareAndSwap64(other.slot, other.word, kSlotEmpty);
  }
}

// Enters the object at `location`, whose key this is, as the only entry of its key.
// `may_drop`: a full bucket pair gives up its least used entry (a cache may).
WEFT_FN Inserted Insert(IndexRef index, LogRef log, Key key, u64 location, bool may_drop) {
  Inserted inserted = {kInsertFull, 0};
  const u64 word = MakeSlot(TagOfHash(key.hash), kSlotTentative, kByCpu, location);
  WEFT_GLOBAL u64* slot =
      PlaceWord(index, InsertTable(index), log, key.hash, word, may_drop, &inserted.victim);
  if (slot == 0) return inserted;
  inserted.status = SettleInsert(index, log, key, slot, word);
  return inserted;
}

WEFT_TASK_END
