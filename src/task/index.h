// task/index.h: a view of the index that any processor may receive by value.
//
// A key has two candidate buckets in a table. Policy kCuckoo: the second is computed from the first
// and the tag alone, either way round, so an entry can be displaced without reading its key. Policy
// kSetAssociative: the two are neighbours (one set of sixteen ways); nothing is ever displaced.
// Growth    while the index grows there are two tables: `older` is drained into `newer`
//           (cache/index.h has the phases). A search looks into older first, then newer; entries
//           move only that way, so it cannot miss one. In the steady state `newer.buckets` is null.
// Moves     within a table an entry may move against the order of a search. Each move adds to one
//           of kMoveStripes counters, chosen by tag, after the copy is made and before the original
//           goes. A search that found nothing looks again if its counter changed.
// Mirrors   if a device works on a copy of the table (processor/mirror/mirror.h), whoever is about
//           to change a bucket announces that first. A session does so in its ring
//           (task/change_ring.h). Without one, as a device, or without room there, a mark is set
//           within the epoch of the change. Changes of recency alone are not announced.
// Threads   the view is constant; the tables it points at are shared and atomic.
#pragma once

#include "task/bucket.h"
#include "task/change_ring.h"

WEFT_TASK_BEGIN

#define kMoveStripes 1024

#define kMarkLineWords 16u  // of marks, in a row, that share a bit of the summary: a line
#define kMarkLineBuckets (32u * kMarkLineWords)

#define kPolicyCuckoo 0u
#define kPolicySetAssociative 1u

typedef struct TableRef {
  WEFT_GLOBAL Bucket* buckets;
  u64 bucket_count;
} TableRef;

typedef struct IndexRef {
  TableRef older;                // searched first; the only one unless growing
  TableRef newer;                // buckets null unless growing
  WEFT_GLOBAL u32* move_counts;  // kMoveStripes counters
  u32 policy;                    // kPolicyCuckoo or kPolicySetAssociative
  u32 insert_newer;              // 1: new entries go to `newer`
  WEFT_GLOBAL u32* marks;        // a bit for each bucket of `older`, followed by the summary of the
                                 // marks; null: no mirror
  // Where the owner of this view announces changes of `older`; null: only by marks. A view with a
  // ring belongs to one thread at a time. Unused if `marks` is null.
  WEFT_GLOBAL ChangeRing* changes;
} IndexRef;

// The bucket that a hash names first: the low 48 bits as a fraction of the table.
WEFT_FN u64 FirstBucket(u64 hash, u64 bucket_count) { return MulHigh64(hash << 16, bucket_count); }

// The other candidate of an entry that has `tag` and lies in `bucket`. Its own inverse.
WEFT_FN u64 OtherBucket(u32 policy, u64 bucket, u64 tag, u64 bucket_count) {
  if (policy == kPolicySetAssociative) return bucket ^ 1;
  // A sum that depends only on the tag, spread over the table by an odd multiplier.
  const u64 sum = MulHigh64(tag * 0x9e3779b97f4a7c15ul, bucket_count);
  return sum >= bucket ? sum - bucket : sum + bucket_count - bucket;
}

WEFT_FN u32 MoveStripe(u64 tag) { return (u32)(tag & (kMoveStripes - 1)); }

// Lines of marks of a table: kMarkLineWords words each.
WEFT_FN u64 MarkLines(u64 bucket_count) { return bucket_count / kMarkLineBuckets + 1; }

// Words of a table's marks and their summary.
WEFT_FN u64 MarkWords(u64 bucket_count) {
  return MarkLines(bucket_count) * kMarkLineWords + (MarkLines(bucket_count) + 31) / 32;
}

// A bit for each line of marks. REQUIRES: index.marks is not null
WEFT_FN WEFT_GLOBAL u32* MarkSummary(IndexRef index) {
  return index.marks + MarkLines(index.older.bucket_count) * kMarkLineWords;
}

// Sets a bit of a word that may be set already: then a look is enough.
WEFT_FN void SetMark(WEFT_GLOBAL u32* words, u64 number) {
  const u32 bit = 1u << (number % 32);
  if ((LoadSequential32(&words[number / 32]) & bit) == 0) FetchOr32(&words[number / 32], bit);
}

// Says that `bucket` of `table` is about to change. A mark that is set already was set before this
// look. It is taken only by a thread that then waits for the epochs of that time
// (processor/mirror/mirror.h). The summary is checked even then: the thread that set the mark may
// not have come to it yet. processor/mirror/take_marks.h relies on the mark coming first.
WEFT_FN void MarkBucket(IndexRef index, TableRef table, u64 bucket) {
  if (index.marks == 0 || table.buckets != index.older.buckets) return;
  if (index.changes != 0 && AnnounceChange(index.changes, bucket)) return;
  SetMark(index.marks, bucket);
  SetMark(MarkSummary(index), bucket / kMarkLineBuckets);
}

// The same for the bucket that `slot` of either table lies in.
WEFT_FN void MarkSlot(IndexRef index, WEFT_GLOBAL const u64* slot) {
  WEFT_GLOBAL const u64* first = &index.older.buckets[0].slots[0];
  if (index.marks == 0 || slot < first || slot >= first + index.older.bucket_count * kBucketSlots)
    return;
  MarkBucket(index, index.older, (u64)(slot - first) / kBucketSlots);
}

// The table that new entries go to.
WEFT_FN TableRef InsertTable(IndexRef index) {
  return index.insert_newer != 0 ? index.newer : index.older;
}

WEFT_TASK_END
