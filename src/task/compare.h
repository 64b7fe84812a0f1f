// task/compare.h: task KC: does the object have this very key? Lengths first, then every byte.
#pragma once

#include "task/log.h"

WEFT_TASK_BEGIN

// Equality of `bytes` bytes. Reads nothing past the end of either.
WEFT_FN bool SameBytes(WEFT_GLOBAL const u8* a, WEFT_GLOBAL const u8* b, u32 bytes) {
  if (bytes >= 8) {
    // The first and the last word, which may overlap, then what lies between them.
    u64 difference = (LoadBytes64(a) ^ LoadBytes64(b)) |
                     (LoadBytes64(a + bytes - 8) ^ LoadBytes64(b + bytes - 8));
    for (u32 i = 8; i + 8 < bytes; i += 8) difference |= LoadBytes64(a + i) ^ LoadBytes64(b + i);
    return difference == 0;
  }
  Touch(a, bytes);
  Touch(b, bytes);
  u32 difference = 0;
  for (u32 i = 0; i < bytes; i++) difference |= (u32)(a[i] ^ b[i]);
  return difference == 0;
}

WEFT_FN bool HasKey(WEFT_GLOBAL const Object* object, WEFT_GLOBAL const u8* key, u32 key_bytes) {
  TouchObject(object);
  return KeyBytes(object->shape) == key_bytes && SameBytes(KeyOf(object), key, key_bytes);
}

// Whether the object IsPlain and has this key: no other shape has just the key's length there.
// REQUIRES: 0 < key_bytes < 256
WEFT_FN bool HasPlainKey(WEFT_GLOBAL const Object* object, WEFT_GLOBAL const u8* key,
                         u32 key_bytes) {
  TouchObject(object);
  return (object->shape >> kShapeKeyShift) == key_bytes &&
         SameBytes(ObjectBytes(object) + 8, key, key_bytes);
}

WEFT_TASK_END
