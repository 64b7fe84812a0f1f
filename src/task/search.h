// task/search.h: task IN.search: from a hash to the slot of its key.
//
// Two forms. CandidateInBucket looks at tags alone and is what a batch runs between two
// prefetches: its answer is a guess that KC checks. Find is exact: it compares keys, tries every
// candidate and is never fooled by an entry that moves; a wrong or missing guess ends up there.
//
// Cost      CandidateInBucket: one line. Find: one to four lines of buckets, and the object's first
//           line for each matching tag.
#pragma once

#include "task/compare.h"
#include "task/index.h"
#include "task/key.h"

WEFT_TASK_BEGIN

// A slot and the word read from it. slot null: no such entry.
typedef struct Found {
  WEFT_GLOBAL u64* slot;
  u64 word;
} Found;

// First entry of `bucket` with `tag` that searches may see.
WEFT_FN Found CandidateInBucket(WEFT_GLOBAL Bucket* bucket, u64 tag) {
  Found found = {0, 0};
  u64 matches = MatchTags(bucket, tag);
  while (matches != 0) {
    WEFT_GLOBAL u64* slot = &bucket->slots[FirstMatch(matches)];
    const u64 word = LoadAcquire64(slot);
    if (SlotTag(word) == tag && SlotState(word) != kSlotTentative) {
      found.slot = slot;
      found.word = word;
      return found;
    }
    matches = WithoutFirstMatch(matches);
  }
  return found;
}

// Entry of `bucket` that has the key. With `tentative_too`, unfinished inserts count; `own` is
// passed over.
WEFT_FN Found FindInBucket(LogRef log, WEFT_GLOBAL Bucket* bucket, Key key, bool tentative_too,
                           WEFT_GLOBAL const u64* own) {
  const u64 tag = TagOfHash(key.hash);
  Found found = {0, 0};
  u64 matches = MatchTags(bucket, tag);
  while (matches != 0) {
    WEFT_GLOBAL u64* slot = &bucket->slots[FirstMatch(matches)];
    const u64 word = LoadAcquire64(slot);
    if (slot != own && SlotTag(word) == tag &&
        (tentative_too || SlotState(word) != kSlotTentative) && IsHere(log, SlotLocation(word)) &&
        HasKey(ObjectAt(log, SlotLocation(word)), key.bytes, key.length)) {
      found.slot = slot;
      found.word = word;
      return found;
    }
    matches = WithoutFirstMatch(matches);
  }
  return found;
}

WEFT_FN Found FindInTable(IndexRef index, TableRef table, LogRef log, Key key, bool tentative_too,
                          WEFT_GLOBAL const u64* own) {
  const u64 first = FirstBucket(key.hash, table.bucket_count);
  const Found found = FindInBucket(log, &table.buckets[first], key, tentative_too, own);
  if (found.slot != 0) return found;
  const u64 second = OtherBucket(index.policy, first, TagOfHash(key.hash), table.bucket_count);
  return FindInBucket(log, &table.buckets[second], key, tentative_too, own);
}

// The entry of the key, or none at an instant within the call.
WEFT_FN Found FindAny(IndexRef index, LogRef log, Key key, bool tentative_too,
                      WEFT_GLOBAL const u64* own) {
  WEFT_GLOBAL const u32* moves = &index.move_counts[MoveStripe(TagOfHash(key.hash))];
  for (;;) {  // Ends: each round more means that an entry of this stripe moved, and moves are
              // finite.
    const u32 before = LoadAcquire32(moves);
    Found found = FindInTable(index, index.older, log, key, tentative_too, own);
    if (found.slot != 0) return found;
    if (index.newer.buckets != 0) {
      found = FindInTable(index, index.newer, log, key, tentative_too, own);
      if (found.slot != 0) return found;
    }
    // Pairs with the full fence of the mover's FetchAdd32 (task/displace.h): an entry that left a
    // bucket after it was read here and was not yet in the other one has changed the counter.
    FullFence();
    if (LoadAcquire32(moves) == before) return found;
  }
}

WEFT_FN Found Find(IndexRef index, LogRef log, Key key) {
  return FindAny(index, log, key, false, 0);
}

// The entry that names exactly `location`, whatever its key: for an owner of the object.
WEFT_FN Found FindLocationInTable(IndexRef index, TableRef table, u64 hash, u64 location) {
  Found found = {0, 0};
  const u64 tag = TagOfHash(hash);
  u64 bucket = FirstBucket(hash, table.bucket_count);
  for (u32 side = 0; side < 2; side++) {
    for (u32 i = 0; i < kBucketSlots; i++) {
      WEFT_GLOBAL u64* slot = &table.buckets[bucket].slots[i];
      const u64 word = LoadAcquire64(slot);
      if (word != 0 && SlotLocation(word) == location && SlotTag(word) == tag) {
        found.slot = slot;
        found.word = word;
        return found;
      }
    }
    bucket = OtherBucket(index.policy, bucket, tag, table.bucket_count);
  }
  return found;
}

WEFT_FN Found FindLocation(IndexRef index, u64 hash, u64 location) {
  WEFT_GLOBAL const u32* moves = &index.move_counts[MoveStripe(TagOfHash(hash))];
  for (;;) {  // Ends as FindAny does.
    const u32 before = LoadAcquire32(moves);
    Found found = FindLocationInTable(index, index.older, hash, location);
    if (found.slot != 0) return found;
    if (index.newer.buckets != 0) {
      found = FindLocationInTable(index, index.newer, hash, location);
      if (found.slot != 0) return found;
    }
    FullFence();  // Pairs as in FindAny.
    if (LoadAcquire32(moves) == before) return found;
  }
}

WEFT_TASK_END
