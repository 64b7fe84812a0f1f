// processor/cuda/tile_compare.h: task KC. Keys of one length of 1, 2 or 4 words are compared by the
// lane that owns the query: each reads the head of its own candidate, so 32 objects are in flight a
// warp, and no value is read for a wrong one. Other keys may be long: a lane that read one by
// itself would wait for the bus, where the keys lie in the host's memory, word by word. They are
// compared by the lanes of the tile, a word each.
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

WEFT_LANE_FN task::Key WholeKey(const TableJob& job, u32 i) {
  return {job.hash[i], KeyAt(job, i), KeyBytesOf(job, i)};
}

// First word of an object: shape, and above it access. REQUIRES: it is here
template <class Warp>
WEFT_LANE_FN u64 LoadHead(task::LogRef log, u64 location) {
  return Warp::Load(task::ObjectAt(log, location));
}

// The entry of the query's key, looked for among all candidates.
WEFT_LANE_FN task::Found FindExactly(const TableJob& job, u32 i) {
  return task::Find(job.index, job.log, WholeKey(job, i));
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

// Up to 8 bytes at any address, of the aligned words that they lie in: low first, then high, which
// counts only where the bytes reach into it. Those behind them are 0.
WEFT_LANE_FN u64 JoinWords(u64 low, u64 high, u32 phase, u32 bytes) {
  const u64 word = phase == 0 ? low : low >> (8 * phase) | high << (64 - 8 * phase);
  return bytes >= 8 ? word : word & ((1ul << (8 * bytes)) - 1);
}

// Whether bytes from `phase` on in a word reach into the next.
WEFT_LANE_FN bool ReachesNext(u32 phase, u32 bytes) { return phase + (bytes < 8 ? bytes : 8) > 8; }

// (together) Bit j: the key of lane j of the tile, `bytes` at `key`, differs from those at `other`.
// The addresses are any.
template <class Warp>
WEFT_LANE_FN u32 DifferentKeys(const Warp& warp, u64 key, u64 other, u32 bytes) {
  constexpr u32 kAtOnce = kTileLanes / 2;  // registers are few
  const u32 bytes_max = warp.Max(bytes);
  u32 different = 0;
  for (u32 begin = 0; begin < bytes_max; begin += 8 * kTileLanes) {
    const u32 at = begin + 8 * (warp.lane() % kTileLanes);
    for (u32 first = 0; first < kTileLanes; first += kAtOnce) {
      u64 low[kAtOnce], high[kAtOnce], other_low[kAtOnce], other_high[kAtOnce];
      u32 phases[kAtOnce], left[kAtOnce];
      WEFT_UNROLL
      for (u32 n = 0; n < kAtOnce; n++) {
        const u64 from = warp.TileGet(key, first + n) + at;
        const u64 other_from = warp.TileGet(other, first + n) + at;
        const u32 count = warp.TileGet(bytes, first + n);
        const u32 phase = static_cast<u32>(from & 7);
        const u32 other_phase = static_cast<u32>(other_from & 7);
        left[n] = at < count ? count - at : 0;
        phases[n] = phase | other_phase << 8;
        low[n] = high[n] = other_low[n] = other_high[n] = 0;
        if (left[n] == 0) continue;
        const u64* words = reinterpret_cast<const u64*>(from - phase);
        const u64* other_words = reinterpret_cast<const u64*>(other_from - other_phase);
        low[n] = Warp::LoadOnce(words);
        if (ReachesNext(phase, left[n])) high[n] = Warp::LoadOnce(words + 1);
        other_low[n] = Warp::Load(other_words);
        if (ReachesNext(other_phase, left[n])) other_high[n] = Warp::Load(other_words + 1);
      }
      WEFT_UNROLL
      for (u32 n = 0; n < kAtOnce; n++) {
        const bool differs = JoinWords(low[n], high[n], phases[n] & 7, left[n]) !=
                             JoinWords(other_low[n], other_high[n], phases[n] >> 8, left[n]);
        different |= (warp.TileBallot(differs) != 0 ? 1u : 0u) << (first + n);
      }
    }
  }
  return different;
}

// (together) Whether the object that the query's word names has its key, of any length, and its
// first word. An object that is not here has not.
template <class Warp>
WEFT_LANE_FN bool HasKeyByTile(const Warp& warp, const TableJob& job, const Query& query, bool asks,
                               u64* head) {
  const u64 location = task::SlotLocation(query.word);
  u64 key = 0, other = 0;
  u32 bytes = 0;
  if (asks && query.word != 0 && task::IsHere(job.log, location)) {
    *head = LoadHead<Warp>(job.log, location);
    const u32 shape = static_cast<u32>(*head);
    const u32 key_bytes = KeyBytesOf(job, query.i);
    if (task::KeyBytes(shape) == key_bytes) {
      bytes = key_bytes;
      key = reinterpret_cast<u64>(KeyAt(job, query.i));
      other = reinterpret_cast<u64>(task::ObjectAt(job.log, location)) + task::KeyOffset(shape);
    }
  }
  const u32 different = DifferentKeys(warp, key, other, bytes);
  return bytes != 0 && (different >> warp.lane() % kTileLanes & 1) == 0;
}

// (together) Task KC of the queries that ask, to which Search gave a candidate, or none: afterwards
// the word is the entry of its key, or 0. Returns the first word of its object. kWords: of the
// keys, where all have as many; 0: lengths vary.
template <class Warp, u32 kWords>
WEFT_LANE_FN u64 Confirm(const Warp& warp, const TableJob& job, Query& query, bool asks) {
  u64 head = 0;
  bool same = false;
  if constexpr (kWords == 0) same = HasKeyByTile(warp, job, query, asks, &head);
  if (!asks || query.word == 0) return head;
  if constexpr (kWords != 0)
    same = task::IsHere(job.log, task::SlotLocation(query.word)) &&
           HasKeyOfWords<Warp, kWords>(job, query, &head);
  if (same) return head;
  const task::Found found = FindExactly(job, query.i);
  query.word = found.word;
  if (found.slot == nullptr) return 0;
  query.position = task::PositionOf(job.index, found.slot);
  return LoadHead<Warp>(job.log, task::SlotLocation(found.word));
}

}  // namespace weft::processor::tile
