// task/bucket.h: one bucket of the index: a 64-byte line of eight slots.
//
// Layout    bytes 8*i .. 8*i+7 hold slot i (task/slot.h), i in 0..7. Nothing else: no lock, no
//           count, no chain, so that one line fetch answers a search.
// Threads   any number of CPU threads and device lanes; each slot by itself is atomic.
// Cost      one line.
#pragma once

#include "task/slot.h"

WEFT_TASK_BEGIN

#define kBucketSlots 8

typedef struct Bucket {
  u64 slots[kBucketSlots];
} Bucket;

WEFT_STATIC_ASSERT(sizeof(Bucket) == 64, "a bucket is one cache line");

// Slots whose tag is `tag`, as bits 7, 15, .. 63 of the result (slot i at bit 8*i+7). A hint:
// the caller loads a slot again before it uses it.
WEFT_FN u64 MatchTags(WEFT_GLOBAL const Bucket* bucket, u64 tag) {
#if WEFT_VECTOR_MATCH
  Touch(bucket, sizeof(Bucket));
  // The tag is the top 16-bit lane of each slot: compare all lanes, keep the top byte's bit.
  const auto* lanes = reinterpret_cast<const WeftLanes*>(bucket->slots);
  const WeftLanes wanted = WeftLanes{} + static_cast<unsigned short>(tag);
  const u32 low_bits = WeftEqualLanes(lanes[0], wanted);
  const u32 high_bits = WeftEqualLanes(lanes[1], wanted);
  return ((static_cast<u64>(high_bits) << 32) | low_bits) & 0x8080808080808080ul;
#else
  u64 matches = 0;
  for (u32 i = 0; i < kBucketSlots; i++) {
    const u64 word = LoadAcquire64(&bucket->slots[i]);
    if (SlotTag(word) == tag) matches |= 0x80ul << (8 * i);
  }
  return matches;
#endif
}

// Slot number of the lowest match. REQUIRES: matches != 0
WEFT_FN u32 FirstMatch(u64 matches) { return LowestBit64(matches) >> 3; }
WEFT_FN u64 WithoutFirstMatch(u64 matches) { return matches & (matches - 1); }

WEFT_TASK_END
