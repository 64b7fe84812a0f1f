// task/displace.h: cuckoo displacement: moves entries to their other bucket to make room.
//
// One move, step by step; between any two steps a search still finds the entry and no update can
// land on one copy of two:
//   1. the original becomes moving      (updates of the key wait from here on)
//   2. a moving copy appears in the other bucket
//   3. the tag's move counter changes   (a search that saw neither copy looks again)
//   4. the original is cleared
//   5. the copy becomes live            (updates go on)
//
// Bounded: at most two levels, sixteen entries wide, so at most 16 + 16 * 8 buckets are read.
// Source: cuckoo hashing with four or more slots a bucket (paper 000, and docs/references.md,
// section 1); we move along the path from its empty end, so that no key is ever absent.
#pragma once

#include "task/index.h"

WEFT_TASK_BEGIN

// Places `word` into an empty slot of `bucket`; null if it has none.
WEFT_FN WEFT_GLOBAL u64* PlaceInBucket(WEFT_GLOBAL Bucket* bucket, u64 word) {
  for (u32 i = 0; i < kBucketSlots; i++) {
    WEFT_GLOBAL u64* slot = &bucket->slots[i];
    if (LoadAcquire64(slot) == kSlotEmpty && CompareAndSwap64(slot, kSlotEmpty, word)) return slot;
  }
  return 0;
}

WEFT_FN bool HasEmptySlot(WEFT_GLOBAL const Bucket* bucket) {
  for (u32 i = 0; i < kBucketSlots; i++)
    if (LoadAcquire64(&bucket->slots[i]) == kSlotEmpty) return true;
  return false;
}

// Moves the entry `word` from `slot` into `to`. False: it is no longer live there, or `to` is full.
WEFT_FN bool MoveEntry(IndexRef index, WEFT_GLOBAL u64* slot, u64 word, WEFT_GLOBAL Bucket* to) {
  // Nothing is announced or changed in vain: of the buckets that are tried most are full.
  if (SlotState(word) != kSlotLive || !HasEmptySlot(to)) return false;
  MarkSlot(index, slot);
  MarkSlot(index, &to->slots[0]);
  const u64 moving = WithState(word, kSlotMoving);
  if (!CompareAndSwap64(slot, word, moving)) return false;
  WEFT_GLOBAL u64* copy = PlaceInBucket(to, moving);
  if (copy == 0) {
    CompareAndSwap64(slot, moving, word);  // Nobody else changes a moving word: this succeeds.
    return false;
  }
  FetchAdd32(&index.move_counts[MoveStripe(SlotTag(word))], 1);
  CompareAndSwap64(slot, moving, kSlotEmpty);
  CompareAndSwap64(copy, moving, word);
  return true;
}

// Moves any one entry of `bucket` to where it has room. True if a slot became empty.
WEFT_FN bool MoveOneOut(IndexRef index, TableRef table, u64 bucket) {
  for (u32 i = 0; i < kBucketSlots; i++) {
    WEFT_GLOBAL u64* slot = &table.buckets[bucket].slots[i];
    const u64 word = LoadAcquire64(slot);
    if (word == kSlotEmpty) return true;
    const u64 other = OtherBucket(index.policy, bucket, SlotTag(word), table.bucket_count);
    if (other != bucket && MoveEntry(index, slot, word, &table.buckets[other])) return true;
  }
  return false;
}

// Moves any one entry of `bucket` after making room in its other bucket first.
WEFT_FN bool MoveOneOutDeeply(IndexRef index, TableRef table, u64 bucket) {
  for (u32 i = 0; i < kBucketSlots; i++) {
    WEFT_GLOBAL u64* slot = &table.buckets[bucket].slots[i];
    const u64 word = LoadAcquire64(slot);
    if (word == kSlotEmpty) return true;
    const u64 other = OtherBucket(index.policy, bucket, SlotTag(word), table.bucket_count);
    if (other != bucket && MoveOneOut(index, table, other) &&
        MoveEntry(index, slot, word, &table.buckets[other]))
      return true;
  }
  return false;
}

// Tries to make room in either bucket. Policy kSetAssociative never displaces.
WEFT_FN bool Displace(IndexRef index, TableRef table, u64 first, u64 second) {
  if (index.policy != kPolicyCuckoo) return false;
  return MoveOneOut(index, table, first) || MoveOneOut(index, table, second) ||
         MoveOneOutDeeply(index, table, first) || MoveOneOutDeeply(index, table, second);
}

WEFT_TASK_END
