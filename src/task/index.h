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
// Threads   the view is constant; the tables it points at are shared and atomic.
#pragma once

#include "task/bucket.h"

WEFT_TASK_BEGIN

#define kMoveStripes 1024

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

// The table that new entries go to.
WEFT_FN TableRef InsertTable(IndexRef index) {
  return index.insert_newer != 0 ? index.newer : index.older;
}

WEFT_TASK_END
