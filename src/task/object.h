// task/object.h: one object as it lies in the object log.
//
// Layout, low address first; sizes in bytes; an object starts at a multiple of 8.
//    0  4  shape   constant once published, see below
//    4  4  access  hints that readers update in place, see below
//    8  8  cas     the version, only with kShapeHasCas; otherwise it follows from the place
//                  (LogRef in task/log.h)
//    .  4  flags   the client's flags, only with kShapeHasFlags; otherwise 0
//    .  4  expiry  second at which it ends, only with kShapeHasExpiry; otherwise never
//    .  4  long    value bytes, only with kShapeLongValue
//    .  k  key     1 to 250 bytes
//    .  v  value
//    .  .  filler  up to the next multiple of 8
//
// shape, low bit first
//   bits  0..19  value bytes (0 with kShapeLongValue)
//   bits 20..27  key bytes
//   bit  28      kShapeHasFlags      bit 29  kShapeHasExpiry
//   bit  30      kShapeHasCas        bit 31  kShapeLongValue
//
// access, low bit first. The first three change only by appending a new version.
//   bit   0      kAccessStale    marked stale (md I): reads say so
//   bit   1      kAccessWinSent  somebody was asked to refresh it
//   bit   2      kAccessBinary   the key came as base64
//   bit   3      kAccessUnseen   laid for a stage that may be run again (task/query_job.h), and
//                               nobody has been about to take it out of the index; it means
//                               nothing once that batch is done
//   bit   4      kAccessFetched  read at least once
//   bit   5      kAccessCasSeen  a client was shown the version: it must outlive moves
//   bits  6..22  seconds of the last noted access, modulo 2^17 (36 hours)
//   bit  23      kAccessDead     no entry names it, nor ever will, unless a device that was left
//                               wakes up (Store::DistrustDeadMarks); only the CPU sets it
//   bit  24      kAccessCasOnce  a client was shown an earlier version of the key, so that later
//                               ones must rise
//   bit  25      kAccessLive    between a clean stop and the next start, while no server has the
//   log:
//                               an entry of the index named it (cache/restart.h)
//   bits 26..27  the recency of that entry (task/slot.h), as long as kAccessLive means anything
//   bits 28..31  0
//
// So the common object (no flags, never expires, version never asked for) costs 8 bytes of header
// and 8 of index; its peers cost 33 to 79 (docs/references.md).
#pragma once

#include "task/portable.h"

WEFT_TASK_BEGIN

#define kShapeValueMask 0xfffffu
#define kShapeKeyShift 20
#define kShapeHasFlags (1u << 28)
#define kShapeHasExpiry (1u << 29)
#define kShapeHasCas (1u << 30)
#define kShapeLongValue (1u << 31)

#define kAccessStale (1u << 0)
#define kAccessWinSent (1u << 1)
#define kAccessBinary (1u << 2)
#define kAccessUnseen (1u << 3)
#define kAccessFetched (1u << 4)
#define kAccessCasSeen (1u << 5)
#define kAccessTimeShift 6
#define kAccessTimeBits 17
#define kAccessTimeMask (((1u << kAccessTimeBits) - 1) << kAccessTimeShift)
#define kAccessDead (1u << 23)
#define kAccessCasOnce (1u << 24)
#define kAccessLive (1u << 25)
#define kAccessRecencyShift 26
#define kAccessRecencyMask (3u << kAccessRecencyShift)

typedef struct Object {
  u32 shape;
  u32 access;
} Object;

WEFT_STATIC_ASSERT(sizeof(Object) == 8, "the header every object has");

WEFT_FN u32 KeyBytes(u32 shape) { return (shape >> kShapeKeyShift) & 0xff; }

// True for the common object: no client flags, never expires, no version or length of its own.
WEFT_FN bool IsPlain(u32 shape) { return (shape >> 28) == 0; }

// Bytes from the start of the object to its key.
WEFT_FN u32 KeyOffset(u32 shape) {
  if (!WEFT_UNLIKELY(!IsPlain(shape))) return 8;
  return 8 + ((shape & kShapeHasCas) != 0 ? 8 : 0) + ((shape & kShapeHasFlags) != 0 ? 4 : 0) +
         ((shape & kShapeHasExpiry) != 0 ? 4 : 0) + ((shape & kShapeLongValue) != 0 ? 4 : 0);
}

WEFT_FN WEFT_GLOBAL const u8* ObjectBytes(WEFT_GLOBAL const Object* object) {
  return (WEFT_GLOBAL const u8*)object;
}

WEFT_FN u32 LoadField32(WEFT_GLOBAL const Object* object, u32 offset) {
  return *(WEFT_GLOBAL const u32*)(ObjectBytes(object) + offset);
}

WEFT_FN u32 FlagsOffset(u32 shape) { return (shape & kShapeHasCas) != 0 ? 16 : 8; }
WEFT_FN u32 ExpiryOffset(u32 shape) {
  return FlagsOffset(shape) + ((shape & kShapeHasFlags) != 0 ? 4 : 0);
}
WEFT_FN u32 LongOffset(u32 shape) {
  return ExpiryOffset(shape) + ((shape & kShapeHasExpiry) != 0 ? 4 : 0);
}

WEFT_FN u32 ClientFlags(WEFT_GLOBAL const Object* object) {
  const u32 shape = object->shape;
  return (shape & kShapeHasFlags) != 0 ? LoadField32(object, FlagsOffset(shape)) : 0;
}

// Second at which it ends; 0: never.
WEFT_FN u32 ExpiryOf(WEFT_GLOBAL const Object* object) {
  const u32 shape = object->shape;
  return (shape & kShapeHasExpiry) != 0 ? LoadField32(object, ExpiryOffset(shape)) : 0;
}

WEFT_FN u32 ValueBytes(WEFT_GLOBAL const Object* object) {
  const u32 shape = object->shape;
  return WEFT_UNLIKELY((shape & kShapeLongValue) != 0) ? LoadField32(object, LongOffset(shape))
                                                       : (shape & kShapeValueMask);
}

// The stored version. REQUIRES: shape has kShapeHasCas
WEFT_FN u64 StoredCas(WEFT_GLOBAL const Object* object) {
  return *(WEFT_GLOBAL const u64*)(ObjectBytes(object) + 8);
}

WEFT_FN WEFT_GLOBAL const u8* KeyOf(WEFT_GLOBAL const Object* object) {
  return ObjectBytes(object) + KeyOffset(object->shape);
}

WEFT_FN WEFT_GLOBAL const u8* ValueOf(WEFT_GLOBAL const Object* object) {
  const u32 shape = object->shape;
  return ObjectBytes(object) + KeyOffset(shape) + KeyBytes(shape);
}

// The value of an object that IsPlain.
WEFT_FN WEFT_GLOBAL const u8* PlainValue(WEFT_GLOBAL const Object* object) {
  return ObjectBytes(object) + 8 + KeyBytes(object->shape);
}

// Bytes of the whole object in the log, including the filler.
WEFT_FN u64 StoredBytes(WEFT_GLOBAL const Object* object) {
  const u32 shape = object->shape;
  return ((u64)KeyOffset(shape) + KeyBytes(shape) + ValueBytes(object) + 7) & ~7ul;
}

WEFT_FN u32 AccessTime(u32 access) { return (access & kAccessTimeMask) >> kAccessTimeShift; }
WEFT_FN u32 WithAccessTime(u32 access, u32 now_s) {
  return (access & ~kAccessTimeMask) | ((now_s << kAccessTimeShift) & kAccessTimeMask);
}
// Seconds since the noted access, modulo 36 hours.
WEFT_FN u32 SecondsSinceAccess(u32 access, u32 now_s) {
  return (now_s - AccessTime(access)) & ((1u << kAccessTimeBits) - 1);
}

// Seconds between two notes of plain reads: a read dirties the object's line once in that time.
#define kAccessNoteSeconds 60

// Whether a read must be noted in the object: the first, and then one a minute.
WEFT_FN bool WantsReadNote(u32 access, u32 now_s) {
  return ((access & kAccessFetched) == 0) |
         (SecondsSinceAccess(access, now_s) >= kAccessNoteSeconds);
}

// Notes a read in the object: the fetched bit and the time. A lost race is a lost hint; no bit that
// another thread sets is ever lost. A locked write, as NoteAccess in task/slot.h.
WEFT_FN void NoteRead(WEFT_GLOBAL Object* object, u32 now_s) {
  const u32 access = LoadRelaxed32(&object->access);
  const u32 noted = WithAccessTime(access | kAccessFetched, now_s);
  if (noted != access) CompareAndSwap32(&object->access, access, noted);
}

// Whoever found the object in the index and is about to take it out, replace it or move it
// elsewhere says so first. So when the object's owner does not find it there any more, it knows
// that it was there (kAccessUnseen). Moving its entry within the index does not count, because the
// entry can be found all the while.
WEFT_FN void NoteSeen(WEFT_GLOBAL Object* object) {
  for (;;) {  // Ends: each further round means that another thread noted a read or this.
    const u32 access = LoadRelaxed32(&object->access);
    if (!WEFT_UNLIKELY((access & kAccessUnseen) != 0) ||
        CompareAndSwap32(&object->access, access, access & ~kAccessUnseen))
      return;
  }
}

WEFT_TASK_END
