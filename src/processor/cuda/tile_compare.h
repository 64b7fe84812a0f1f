// processor/cuda/tile_compare.h: task KC by the lane that owns the query: each lane reads the head
// of its own candidate, so 32 objects are in flight a warp, and no value is read for a wrong one.
//
// A candidate with another key, one chance in some 4,000 a query, goes on to task::Find, which
// compares the keys of every candidate.
#pragma once

#include "processor/cuda/tile_search.h"

namespace weft::processor::tile {

WEFT_LANE_FN u32 RoundUp8(u32 bytes) { return (bytes + 7) & ~7u; }

WEFT_LANE_FN u32 KeyBytesOf(const TableJob& job, u32 i) {
  return job.key_bytes != nullptr ? job.key_bytes[i] : job.key_bytes_all;
}

WEFT_LANE_FN const u8* KeyAt(const TableJob& job, u32 i) {
  const u64 at =
      job.key_at != nullptr ? job.key_at[i] : static_cast<u64>(i) * RoundUp8(job.key_bytes_all);
  return job.keys + at;
}

// First word of an object: shape, and above it access. REQUIRES: it is here
template <class Warp>
WEFT_LANE_FN u64 LoadHead(task::LogRef log, u64 location) {
  return Warp::Load(task::ObjectAt(log, location));
}

// The entry of the query's key, looked for among all candidates.
WEFT_LANE_FN task::Found FindExactly(const TableJob& job, u32 i) {
  return task::Find(job.index, job.log, job.hash[i], KeyAt(job, i), KeyBytesOf(job, i));
}

// Whether the object at `location` has the query's key, of whatever shape it is.
WEFT_LANE_FN bool HasKeyOfAnyShape(const TableJob& job, u32 i, u64 location) {
  return task::HasKey(task::ObjectAt(job.log, location), KeyAt(job, i), KeyBytesOf(job, i));
}

// Whether the object has the query's key of kWords words, and its first word. Objects that do not
// start at a multiple of 16 are read by single words.
template <class Warp, u32 kWords>
WEFT_LANE_FN bool HasKeyOfWords(const TableJob& job, const Query& query, u64* head) {
  u64 key[kWords];
  const u64* column = reinterpret_cast<const u64*>(job.keys) + static_cast<u64>(query.i) * kWords;
  if constexpr (kWords % 2 == 0) {
    WEFT_UNROLL
    for (u32 k = 0; k < kWords; k += 2) {
      const Words2 words = Warp::LoadOnce2(column + k);
      key[k] = words.low;
      key[k + 1] = words.high;
    }
  } else {
    WEFT_UNROLL
    for (u32 k = 0; k < kWords; k++) key[k] = Warp::LoadOnce(column + k);
  }
  const u64 location = task::SlotLocation(query.word);
  const u8* object = task::ObjectBytes(task::ObjectAt(job.log, location));
  u64 words[kWords + 1];
  if (location % 2 == 0) {
    WEFT_UNROLL
    for (u32 k = 0; k < kWords; k += 2) {
      const Words2 pair = Warp::Load2(object + 8 * k);
      words[k] = pair.low;
      words[k + 1] = pair.high;
    }
    if constexpr (kWords % 2 == 0) words[kWords] = Warp::Load(object + 8 * kWords);
  } else {
    WEFT_UNROLL
    for (u32 k = 0; k < kWords + 1; k++) words[k] = Warp::Load(object + 8 * k);
  }
  *head = words[0];
  // A shape with just the key's length above its value's is that of a plain object.
  const u32 shape = static_cast<u32>(words[0]);
  if (shape >> kShapeKeyShift != 8 * kWords) {
    if (task::IsPlain(shape)) return false;
    return HasKeyOfAnyShape(job, query.i, location);
  }
  u64 difference = 0;
  WEFT_UNROLL
  for (u32 k = 0; k < kWords; k++) difference |= key[k] ^ words[k + 1];
  return difference == 0;
}

// Whether the object that the query's word names has its key, and its first word. An object that is
// not here has not. kWords: of the keys, where all have as many; 0: lengths vary.
template <class Warp, u32 kWords>
WEFT_LANE_FN bool HasQueriedKey(const TableJob& job, const Query& query, u64* head) {
  const u64 location = task::SlotLocation(query.word);
  if (!task::IsHere(job.log, location)) return false;
  if constexpr (kWords != 0) {
    return HasKeyOfWords<Warp, kWords>(job, query, head);
  } else {
    *head = LoadHead<Warp>(job.log, location);
    const u32 key_bytes = KeyBytesOf(job, query.i);
    return task::KeyBytes(static_cast<u32>(*head)) == key_bytes &&
           task::HasKey(task::ObjectAt(job.log, location), KeyAt(job, query.i), key_bytes);
  }
}

// Task KC of a query that Search gave a candidate, or none: afterwards the word is the entry of its
// key, or 0. Returns the first word of its object.
template <class Warp, u32 kWords>
WEFT_LANE_FN u64 Confirm(const TableJob& job, Query& query) {
  u64 head = 0;
  if (query.word == 0 || HasQueriedKey<Warp, kWords>(job, query, &head)) return head;
  const task::Found found = FindExactly(job, query.i);
  query.word = found.word;
  if (found.slot == nullptr) return 0;
  query.position = task::PositionOf(job.index, found.slot);
  return LoadHead<Warp>(job.log, task::SlotLocation(found.word));
}

}  // namespace weft::processor::tile
