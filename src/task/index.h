// task/index.h: a view of the index that any processor may be handed by value.
//
// A key has two candidate buckets in a table. Policy kCuckoo: the second is computed from the
// first and the tag alone, either way round, so an entry can be displaced without reading its
// key. Policy kSetAssociative: the two are neighbours (one set of sixteen ways); nothing is ever
// displaced.
//
// Growth    while the index grows there are two tables: `older` is drained into `newer`
//           (cache/index.h has the phases). A search looks into older first, then newer; entries
//           move only that way, so it cannot miss one. In the steady state `newer.buckets` is null.
// Moves     within a table an entry may move against the order of a search. Each move adds to one
//           of kMoveStripes counters, chosen by tag, after the copy stands and before the
//           original goes; a search that found nothing looks again if its counter changed.
// Mirrors   where a device works on a copy of the table (processor/mirror.h), whoever is about to
//           change a bucket marks it first, within the epoch in which it changes it. Changes of
//           recency alone are not marked.
// Threads   the view is constant; the tables it points at are shared and atomic.
#pragma once

#include "task/bucket.h"

WEFT_TASK_BEGIN

#define kMoveStripes 1024

#define kMarkBuckets 4u  // in a row that share a mark: 256 bytes, a good size of copy

#define kPolicyCuckoo 0u
#define kPolicySetAssociative 1u

typedef struct TableRef {
  WEFT_GLOBAL Bucket* buckets;
  u64 bucket_count;
} TableRef;

typedef struct IndexRef {
  TableRef older;               // searched first; the only one unless growing
  TableRef newer;               // buckets null unless growing
  WEFT_GLOBAL u32* move_counts;  // kMoveStripes counters
  u32 policy;                    // kPolicyCuckoo or kPolicySetAssociative
  u32 insert_newer;              // 1: new entries go to `newer`
  WEFT_GLOBAL u32* marks;        // a bit for kMarkBuckets buckets of `older`; null: no mirror
} IndexRef;

// The bucket a hash names first: the low 48 bits as a fraction of the table.
WEFT_FN u64 FirstBucket(u64 hash, u64 bucket_count) { return MulHigh64(hash << 16, bucket_count); }

// The other candidate of an entry that has `tag` and stands in `bucket`. Its own inverse.
WEFT_FN u64 OtherBucket(u32 policy, u64 bucket, u64 tag, u64 bucket_count) {
  if (policy == kPolicySetAssociative) return bucket ^ 1;
  // A sum that depends on the tag alone, spread over the table by an odd multiplier.
  const u64 sum = MulHigh64(tag * 0x9e3779b97f4a7c15ul, bucket_count);
  return sum >= bucket ? sum - bucket : sum + bucket_count - bucket;
}

WEFT_FN u32 MoveStripe(u64 tag) { return (u32)(tag & (kMoveStripes - 1)); }

// Says that `bucket` of `table` is about to change. A mark that is set already was set before this
// look at it, and is taken only by who then waits for the epochs of that time (processor/mirror.h).
WEFT_FN void MarkBucket(IndexRef index, TableRef table, u64 bucket) {
  if (index.marks == 0 || table.buckets != index.older.buckets) return;
  const u64 mark = bucket / kMarkBuckets;
  WEFT_GLOBAL u32* word = &index.marks[mark / 32];
  const u32 bit = 1u << (mark % 32);
  if ((LoadAcquire32(word) & bit) == 0) FetchOr32(word, bit);
}

// The same of the bucket that `slot` of either table lies in.
WEFT_FN void MarkSlot(IndexRef index, WEFT_GLOBAL const u64* slot) {
  WEFT_GLOBAL const u64* first = &index.older.buckets[0].slots[0];
  if (index.marks == 0 || slot < first ||
      slot >= first + index.older.bucket_count * kBucketSlots)
    return;
  MarkBucket(index, index.older, (u64)(slot - first) / kBucketSlots);
}

// The table that new entries go to.
WEFT_FN TableRef InsertTable(IndexRef index) {
  return index.insert_newer != 0 ? index.newer : index.older;
}

WEFT_TASK_END
