// task/key.h: a key as searches and inserts take it, by value.
//
// Threads   a value; the bytes stay the caller's.
#pragma once

#include "task/portable.h"

WEFT_TASK_BEGIN

typedef struct Key {
  u64 hash;
  WEFT_GLOBAL const u8* bytes;
  u32 length;  // in bytes
} Key;

WEFT_STATIC_ASSERT(sizeof(Key) <= 24, "three registers");

WEFT_TASK_END
