// task/columns.h: what the tasks of a batch read and write, one array a property.
//
// A batch of queries as the index tasks see it: no protocol, no sockets, no owner. The owner of
// the arrays (pipeline/batch.h for the server, cache/multi.cc for the embedded store) hands this
// view to any processor. Entry i of every array belongs to query i.
//
// Units     key_at: bytes from `keys`. position: see SlotAtPosition.
// Threads   one processor works on a range of queries at a time.
#pragma once

#include "task/search.h"

WEFT_TASK_BEGIN

typedef struct Columns {
  // In.
  WEFT_GLOBAL const u64* hash;
  WEFT_GLOBAL const u32* key_at;
  WEFT_GLOBAL const u8* key_bytes;
  WEFT_GLOBAL const u8* keys;
  // Out of Search, checked by KC: the slot word (0: none) and where it stands.
  WEFT_GLOBAL u64* word;
  WEFT_GLOBAL u64* position;
} Columns;

// The key of query i.
WEFT_FN Key KeyOfQuery(Columns columns, u32 i) {
  const Key key = {columns.hash[i], columns.keys + columns.key_at[i], columns.key_bytes[i]};
  return key;
}

// Bit that tells the table an entry stands in.
#define kPositionNewer (1ul << 63)

// Where a slot stands, the same number on every processor: bucket * 8 + slot.
WEFT_FN u64 PositionInTable(TableRef table, WEFT_GLOBAL const u64* slot) {
  return (u64)(slot - &table.buckets[0].slots[0]);
}

WEFT_FN WEFT_GLOBAL u64* SlotAtPosition(IndexRef index, u64 position) {
  WEFT_GLOBAL Bucket* buckets =
      (position & kPositionNewer) != 0 ? index.newer.buckets : index.older.buckets;
  return &buckets[0].slots[0] + (position & ~kPositionNewer);
}

WEFT_FN u64 PositionOf(IndexRef index, WEFT_GLOBAL const u64* slot) {
  WEFT_GLOBAL const u64* first = &index.older.buckets[0].slots[0];
  if (slot >= first && slot < first + index.older.bucket_count * kBucketSlots)
    return PositionInTable(index.older, slot);
  return PositionInTable(index.newer, slot) | kPositionNewer;
}

WEFT_TASK_END
