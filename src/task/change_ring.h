// task/change_ring.h: which buckets of the index one session is about to change, in its order, told
// to who keeps a mirror (processor/mirror/mirror.h).
//
// Layout    numbers of buckets in a ring, and three counts of them that only grow:
//             head  announced; each before its change is begun
//             done  announced, and by now changed or given up
//             tail  read for the last time by who follows
//           head and done are the session's to write, tail the follower's. What lies in [tail,
//           head) stays where it is.
// Promise   who follows reads `done`, then `head`, then looks at the buckets in [tail, head), and
//           sets tail to that `done`. So it looks at each bucket at least once after its change:
//           what was done is seen by that look, and what was not is looked at again next time.
// Full      where there is no room the announcement is not made here, but by a mark (task/index.h).
// Threads   one writer, the session's; one follower. Both beside each other.
// Cost      two stores for an announcement, on lines of the writer's own.
#pragma once

#include "task/portable.h"

WEFT_TASK_BEGIN

// What some batches announce: a store is two or three changes.
#define kChangeRingNumbers 32768u

typedef struct ChangeRing {
  // The writer's.
  u64 head;
  u64 done;
  u64 seen_tail;  // as last looked at: the writer's own
  u64 filler[13];
  // The follower's. Two lines on, for processors fetch lines by pairs.
  u64 tail;
  u64 more_filler[15];
  u32 numbers[kChangeRingNumbers];  // number n of all announced lies at n modulo the size
} ChangeRing;

// Announces that the bucket is about to change. False: it was not, for want of room or because the
// number is too large. REQUIRES: the caller is the ring's writer
WEFT_FN bool AnnounceChange(WEFT_GLOBAL ChangeRing* ring, u64 bucket) {
  const u64 head = ring->head;
  if (bucket >> 32 != 0) return false;
  if (head - ring->seen_tail == kChangeRingNumbers) {
    // Acquire: the follower has read what is overwritten next (cache::ChangeRings::Read).
    ring->seen_tail = LoadAcquire64(&ring->tail);
    if (head - ring->seen_tail == kChangeRingNumbers) return false;
  }
  ring->numbers[head % kChangeRingNumbers] = (u32)bucket;
  // Release: the number is there, for the follower; and whoever sees the change that comes next,
  // and tells the follower, has it see this head, for the change is a release, too.
  StoreRelease64(&ring->head, head + 1);
  return true;
}

// Says that all that was announced so far is done. REQUIRES: it is; the caller is the ring's writer
WEFT_FN void NoteChangesDone(WEFT_GLOBAL ChangeRing* ring) {
  // Release: who sees this sees the changes.
  if (ring->done != ring->head) StoreRelease64(&ring->done, ring->head);
}

WEFT_TASK_END
