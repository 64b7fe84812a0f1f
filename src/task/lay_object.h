// task/lay_object.h: task MM's last step: an object is laid out in space that was taken for it.
//
// For processors that are handed keys and values; cache/object_writer.h does more, on the CPU.
// Threads   the space belongs to the caller until the object is published.
#pragma once

#include "task/object.h"

WEFT_TASK_BEGIN

// Shape of an object without client flags and version. `ends`: it has an expiry.
// REQUIRES: value_bytes <= kShapeValueMask
WEFT_FN u32 ShapeOfPlain(u32 key_bytes, u32 value_bytes, bool ends) {
  return value_bytes | key_bytes << kShapeKeyShift | (ends ? kShapeHasExpiry : 0);
}

// Bytes that it takes in the log, filler included.
WEFT_FN u32 LaidBytes(u32 key_bytes, u32 value_bytes, bool ends) {
  return (8 + (ends ? 4 : 0) + key_bytes + value_bytes + 7) & ~7u;
}

// Writes it, filler and all. `expiry` 0: it never ends.
WEFT_FN void LayObject(WEFT_GLOBAL Object* at, WEFT_GLOBAL const u8* key, u32 key_bytes,
                       WEFT_GLOBAL const u8* value, u32 value_bytes, u32 expiry) {
  WEFT_GLOBAL u8* to = (WEFT_GLOBAL u8*)at;
  // The filler, under what comes after.
  ((WEFT_GLOBAL u64*)to)[LaidBytes(key_bytes, value_bytes, expiry != 0) / 8 - 1] = 0;
  at->shape = ShapeOfPlain(key_bytes, value_bytes, expiry != 0);
  at->access = 0;
  to += 8;
  if (expiry != 0) {
    *(WEFT_GLOBAL u32*)to = expiry;
    to += 4;
  }
  CopyBytes(to, key, key_bytes);
  CopyBytes(to + key_bytes, value, value_bytes);
}

WEFT_TASK_END
