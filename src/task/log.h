// task/log.h: a view of the object log that any processor may receive by value.
//
// The log is one range of addresses cut into segments of a power of two; a location (task/slot.h)
// counts 8-byte units from its start. Each segment has a version base, taken from one counter when
// the segment is opened. An object's version (cas) is that base plus its unit within the segment,
// unless it carries its own. Bases only grow, so a segment whose base is below `flush_floor` was
// opened before the last flush and holds nothing that counts.
//
// Mirrors   have some of the objects, and note which segments are asked for
//           (processor/mirror/mirror.h).
// Threads   constant; the segments' contents are immutable once published, except Object::access.
//           `uses` are words that anybody sets, in no order. `resident` of a mirror grows while
//           jobs run, after the units that it counts were written.
#pragma once

#include "task/object.h"
#include "task/slot.h"

WEFT_TASK_BEGIN

typedef struct LogRef {
  WEFT_GLOBAL u8* base;                  // address of location 0
  WEFT_GLOBAL const u64* version_bases;  // one a segment
  u64 flush_floor;                       // 0: no flush is being carried out
  u32 segment_shift;                     // log2 of a segment's 8-byte units
  u32 use_tick;                          // what `uses` is set to
  WEFT_GLOBAL const u32* resident;  // of a mirror: present units of each segment; otherwise null
  WEFT_GLOBAL u32* uses;            // of a mirror: tick of each segment's last use; null: unused
} LogRef;

WEFT_FN WEFT_GLOBAL Object* ObjectAt(LogRef log, u64 location) {
  return (WEFT_GLOBAL Object*)(log.base + location * 8);
}

// Whether the object at `location` may be looked at. The wish is noted either way, so that its
// segment may be brought. Acquire: present objects are read as they were written, even while the
// mirror is brought up to date.
WEFT_FN bool IsHere(LogRef log, u64 location) {
  if (log.resident == 0) return true;
  const u64 segment = location >> log.segment_shift;
  if (log.uses != 0 && LoadRelaxed32(&log.uses[segment]) != log.use_tick)
    StoreRelaxed32(&log.uses[segment], log.use_tick);
  return (location & ((1ul << log.segment_shift) - 1)) < LoadAcquire32(&log.resident[segment]);
}

// The version of the object at `location`.
WEFT_FN u64 CasOf(LogRef log, u64 location) {
  WEFT_GLOBAL const Object* object = ObjectAt(log, location);
  if ((object->shape & kShapeHasCas) != 0) return StoredCas(object);
  const u64 unit = location & ((1ul << log.segment_shift) - 1);
  return LoadAcquire64(&log.version_bases[location >> log.segment_shift]) + unit;
}

// True if a flush has emptied the segment of `location`.
WEFT_FN bool IsFlushed(LogRef log, u64 location) {
  return log.flush_floor != 0 &&
         LoadAcquire64(&log.version_bases[location >> log.segment_shift]) < log.flush_floor;
}

// True if no reader may see the object any more.
WEFT_FN bool IsEnded(LogRef log, u64 location, WEFT_GLOBAL const Object* object, u32 now_s) {
  const u32 expiry = ExpiryOf(object);
  return (expiry != 0 && expiry <= now_s) || WEFT_UNLIKELY(IsFlushed(log, location));
}

WEFT_TASK_END
