// task/batch_tasks.h: the index tasks over a range of a batch, with prefetch between them.
//
// On a CPU a batch of about 32 queries keeps enough lines in flight to hide memory latency
// (docs/design/0001-batches-and-prefetch.md): PrefetchBuckets, then Search, which asks for the
// candidate objects, then Compare. This is the software form of paper 004's prefetch: the address
// unit is the slot's location, the size unit the running mean of object sizes.
#pragma once

#include "task/columns.h"

WEFT_TASK_BEGIN

#define kCacheLineBytes 64
#define kPrefetchBytesMax 512u

// Asks for the first bucket of each query.
WEFT_FN void PrefetchBuckets(IndexRef index, Columns columns, u32 begin, u32 end) {
  for (u32 i = begin; i < end; i++) {
    Prefetch(&index.older.buckets[FirstBucket(columns.hash[i], index.older.bucket_count)]);
    if (index.newer.buckets != 0)
      Prefetch(&index.newer.buckets[FirstBucket(columns.hash[i], index.newer.bucket_count)]);
  }
}

// Asks for the lines that an object of `expected_bytes` at `location` lies on. Where in its line an
// object starts is random, so the number of requests must not follow from it: a branch on it would
// be guessed wrong every other time. The last request may repeat the one before it.
WEFT_FN void PrefetchObject(LogRef log, u64 location, u32 expected_bytes) {
  WEFT_GLOBAL const u8* at = (WEFT_GLOBAL const u8*)ObjectAt(log, location);
  const u32 bytes = expected_bytes < kPrefetchBytesMax ? expected_bytes : kPrefetchBytesMax;
  Prefetch(at);
  for (u32 offset = kCacheLineBytes; offset < bytes; offset += kCacheLineBytes)
    Prefetch(at + offset);
  Prefetch(at + bytes - 1);
}

// A query whose first bucket of the older table has no candidate: asks for its other bucket.
WEFT_FN void PrefetchOtherBucket(IndexRef index, TableRef table, u64 hash) {
  const u64 first = FirstBucket(hash, table.bucket_count);
  Prefetch(&table.buckets[OtherBucket(index.policy, first, TagOfHash(hash), table.bucket_count)]);
}

// Task IN.search, first round, of one query: a candidate in the first bucket. Word 0: none there.
WEFT_FN void SearchFirstOne(IndexRef index, LogRef log, Columns columns, u32 i,
                            u32 prefetch_bytes) {
  const u64 hash = columns.hash[i];
  const u64 bucket = FirstBucket(hash, index.older.bucket_count);
  const Found found = CandidateInBucket(&index.older.buckets[bucket], TagOfHash(hash));
  columns.word[i] = found.word;
  if (found.slot != 0) {
    columns.position[i] = PositionInTable(index.older, found.slot);
    if (prefetch_bytes != 0) PrefetchObject(log, SlotLocation(found.word), prefetch_bytes);
  } else if (prefetch_bytes != 0) {
    PrefetchOtherBucket(index, index.older, hash);
  }
}

// Task IN.search, second round, of one query: without a candidate it looks into the other bucket,
// and while the index grows into the newer table.
WEFT_FN void SearchSecondOne(IndexRef index, LogRef log, Columns columns, u32 i,
                             u32 prefetch_bytes) {
  if (columns.word[i] != 0) return;
  const u64 hash = columns.hash[i];
  const u64 tag = TagOfHash(hash);
  const u64 first = FirstBucket(hash, index.older.bucket_count);
  const u64 second = OtherBucket(index.policy, first, tag, index.older.bucket_count);
  Found found = CandidateInBucket(&index.older.buckets[second], tag);
  if (found.slot == 0 && index.newer.buckets != 0) {
    const u64 newer = FirstBucket(hash, index.newer.bucket_count);
    found = CandidateInBucket(&index.newer.buckets[newer], tag);
  }
  if (found.slot == 0) return;
  columns.word[i] = found.word;
  columns.position[i] = PositionOf(index, found.slot);
  if (prefetch_bytes != 0) PrefetchObject(log, SlotLocation(found.word), prefetch_bytes);
}

// Task IN.search over queries [begin, end). `prefetch_bytes`: expected size of an object, whose
// lines are asked for; 0 asks for nothing.
WEFT_FN void Search(IndexRef index, LogRef log, Columns columns, u32 begin, u32 end,
                    u32 prefetch_bytes) {
  for (u32 i = begin; i < end; i++) SearchFirstOne(index, log, columns, i, prefetch_bytes);
  for (u32 i = begin; i < end; i++) SearchSecondOne(index, log, columns, i, prefetch_bytes);
}

// Task KC for one query with this key: confirms the candidate, or searches exactly. Afterwards the
// word is the entry of the key, or 0. The slot is read again, so that the answer holds now: queries
// of the batch that ran since Search are seen.
WEFT_FN void CompareKey(IndexRef index, LogRef log, Columns columns, u32 i,
                        WEFT_GLOBAL const u8* key, u32 key_bytes) {
  if (columns.word[i] != 0) {
    const u64 word = LoadAcquire64(SlotAtPosition(index, columns.position[i]));
    if (SameEntry(word, columns.word[i]) && IsHere(log, SlotLocation(word)) &&
        HasKey(ObjectAt(log, SlotLocation(word)), key, key_bytes))
      return;
  }
  const Key looked_for = {columns.hash[i], key, key_bytes};  // not loaded before it is needed
  const Found found = Find(index, log, looked_for);
  columns.word[i] = found.word;
  if (found.slot != 0) columns.position[i] = PositionOf(index, found.slot);
}

// The same where the columns have the keys.
WEFT_FN void CompareOne(IndexRef index, LogRef log, Columns columns, u32 i) {
  CompareKey(index, log, columns, i, columns.keys + columns.key_at[i], columns.key_bytes[i]);
}

// Task KC over queries [begin, end).
WEFT_FN void Compare(IndexRef index, LogRef log, Columns columns, u32 begin, u32 end) {
  for (u32 i = begin; i < end; i++) CompareOne(index, log, columns, i);
}

// Whether the read of `object`, found by `word`, must be noted in either. The answer follows no
// pattern, so both are computed rather than branched upon.
WEFT_FN bool WantsNote(u64 word, WEFT_GLOBAL const Object* object, u32 now_s, u32 dice) {
  return ((u32)WantsAccessNote(word, dice) |
          (u32)WantsReadNote(LoadRelaxed32(&object->access), now_s)) != 0;
}

// Notes the read of query `i`, whose entry is in the columns, in the slot and in the object.
WEFT_FN void NoteHit(IndexRef index, LogRef log, Columns columns, u32 i, u32 now_s, u32 dice) {
  const u64 word = columns.word[i];
  WEFT_GLOBAL Object* object = ObjectAt(log, SlotLocation(word));
  if (WantsAccessNote(word, dice)) NoteAccess(SlotAtPosition(index, columns.position[i]), word);
  if (WantsReadNote(LoadRelaxed32(&object->access), now_s)) NoteRead(object, now_s);
}

WEFT_TASK_END
