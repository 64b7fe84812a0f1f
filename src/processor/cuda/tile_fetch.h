// processor/cuda/tile_fetch.h: tasks KC and RD in one go. The eight lanes of a tile fetch the whole
// objects of their eight queries, 16 bytes a lane. From these they compare the keys and write the
// records.
//
// A random object costs the memory as much for one sector as for two. It costs the same again if
// its value is fetched after its key, so it is fetched once. If a value turns out longer than was
// fetched, the tile goes on.
//
// For keys of an even number of words: the object's pairs, counted from its start, are the record's
// pairs except for the header. Also for keys of one word with values of no more.
//
// An object at a multiple of 16 is loaded in pairs. If any of a warp's is not (a store lays objects
// at all multiples of 8), its words are loaded one by one: as many lines, twice the loads.
#pragma once

#include "processor/cuda/tile_read.h"

namespace weft::processor::tile {

inline constexpr u32 kPairBytes = 16;

// Whether the tile may: sizes are as said.
template <u32 kWords>
WEFT_LANE_FN bool MayReadWhole(const TableJob& job) {
  if (job.read_bytes == 0 || job.log.flush_floor != 0) return false;
  return kWords != 1 || job.read_bytes <= 2 * kPairBytes;
}

// Whether to fetch the query's candidate.
WEFT_LANE_FN bool AsksForObject(const TableJob& job, const Query& query) {
  return query.wanted == kWantsRead && query.word != 0 &&
         task::IsHere(job.log, task::SlotLocation(query.word));
}

// (together) ReadWhole for keys of one word: an object lies in two pairs, from one end of them or
// to the other, and two lanes fetch it.
template <class Warp>
WEFT_LANE_FN bool ReadShort(const Warp& warp, const TableJob& job, Query& query) {
  constexpr u32 kRounds = 2;
  constexpr u32 kObjects = kTileLanes / kRounds;  // a round
  const u32 lane = warp.lane() % kTileLanes;
  const bool asks = AsksForObject(job, query);
  const u64 location = task::SlotLocation(query.word);
  const u64 from = asks ? reinterpret_cast<u64>(task::ObjectAt(job.log, location)) / 16 * 16 : 0;
  const bool some_odd = warp.Any(asks && location % 2 != 0);
  Words2 pairs[kRounds];
  WEFT_UNROLL
  for (u32 n = 0; n < kRounds; n++) {
    const u64 at = warp.TileGet(from, n * kObjects + lane / 2);
    pairs[n] = {0, 0};
    if (at != 0) pairs[n] = Warp::Load2(reinterpret_cast<const u8*>(at) + kPairBytes * (lane % 2));
  }
  u64 own_key = 0;
  if (asks) own_key = Warp::LoadOnce(reinterpret_cast<const u64*>(job.keys) + query.i);
  u64 head = 0, key = 0, value = 0;
  WEFT_UNROLL
  for (u32 n = 0; n < kRounds; n++) {
    const u32 holder = lane % kObjects * 2;
    const u64 first = warp.TileGet(pairs[n].low, holder);
    const u64 second = warp.TileGet(pairs[n].high, holder);
    const u64 third = warp.TileGet(pairs[n].low, holder + 1);
    if (lane / kObjects != n) continue;
    head = first;
    key = second;
    value = third;
  }
  if (some_odd) {
    WEFT_UNROLL
    for (u32 n = 0; n < kRounds; n++) {
      const u64 last = warp.TileGet(pairs[n].high, lane % kObjects * 2 + 1);
      if (lane / kObjects != n || location % 2 == 0) continue;
      head = key;
      key = value;
      value = last;
    }
  }
  const u32 shape = static_cast<u32>(head);
  const u32 bytes = shape & kShapeValueMask;
  const bool same = asks && shape >> kShapeKeyShift == 8 && key == own_key && bytes <= 8;
  Record record;
  if (same) record.units = 1 + (bytes + 7) / 8;
  const u64 at = TakeRoom(warp, job, query.i, record);
  if (!same) return false;
  query.result = kResultFound;
  if (record.units == 0) return true;
  Warp::StoreOnce2(record.to, static_cast<u64>(bytes) << 32, value);
  SayRead(job, query, at);
  return true;
}

// A tile's objects on their way: pairs[j] of lane l is pair l of the object that lane j asked for.
// `some_odd`: not all of the warp's start at multiples of 16.
template <class Warp>
WEFT_LANE_FN void FetchPairs(const Warp& warp, u64 from, u32 pair, u32 pairs_own, bool some_odd,
                             Words2 (&pairs)[kTileLanes]) {
  WEFT_UNROLL
  for (u32 j = 0; j < kTileLanes; j++) {
    const u64 at = warp.TileGet(from, j);
    const u32 count = warp.TileGet(pairs_own, j);
    pairs[j] = {0, 0};
    if (pair >= count) continue;
    const u8* words = reinterpret_cast<const u8*>(at) + kPairBytes * pair;
    if (some_odd) {
      pairs[j] = {Warp::Load(words), Warp::Load(words + 8)};
    } else {
      pairs[j] = Warp::Load2(words);
    }
  }
}

// Whether the key in a lane's pair of an object differs from the query's.
template <u32 kWords>
WEFT_LANE_FN bool Differs(u32 lane, const Words2& pair, u32 shape, const u64 (&key)[kWords]) {
  bool differs = lane == 0 && shape >> kShapeKeyShift != 8 * kWords;
  WEFT_UNROLL
  for (u32 k = 0; k < kWords; k++) {  // word k + 1 of the object
    const u64 word = k % 2 == 0 ? pair.high : pair.low;
    differs = differs || (lane == (k + 1) / 2 && word != key[k]);
  }
  return differs;
}

// (together) Reads the values of the queries whose candidate has their key and whose object is
// plain. Returns whether the lane's is answered; nothing is said of the others.
template <class Warp, u32 kWords>
WEFT_LANE_FN bool ReadWhole(const Warp& warp, const TableJob& job, Query& query) {
  constexpr u32 kKeyPairs = kWords / 2;  // pairs that the record lacks
  const u32 lane = warp.lane() % kTileLanes;
  const bool asks = AsksForObject(job, query);
  const u64 location = task::SlotLocation(query.word);
  const u64 from = reinterpret_cast<u64>(task::ObjectAt(job.log, location));
  const bool some_odd = warp.Any(asks && location % 2 != 0);
  const u32 guess = job.read_bytes / kPairBytes;
  const u32 first = guess > kTileLanes ? kTileLanes : guess > kKeyPairs ? guess : kKeyPairs + 1;
  Words2 pairs[kTileLanes];
  FetchPairs(warp, from, lane, asks ? first : 0, some_odd, pairs);
  u64 own_key[kWords];
  const u64* column = reinterpret_cast<const u64*>(job.keys) + static_cast<u64>(query.i) * kWords;
  WEFT_UNROLL
  for (u32 k = 0; k < kWords; k += 2) {
    Words2 words = {0, 0};
    if (asks) words = Warp::LoadOnce2(column + k);
    own_key[k] = words.low;
    own_key[k + 1] = words.high;
  }
  bool same = false;
  u32 bytes = 0;
  WEFT_UNROLL
  for (u32 j = 0; j < kTileLanes; j++) {
    const u32 shape = warp.TileGet(static_cast<u32>(pairs[j].low), 0);
    u64 key[kWords];
    WEFT_UNROLL
    for (u32 k = 0; k < kWords; k++) key[k] = warp.TileGet(own_key[k], j);
    const u32 differs = warp.TileBallot(Differs<kWords>(lane, pairs[j], shape, key));
    if (lane == j) {
      same = asks && differs == 0;
      bytes = shape & kShapeValueMask;
    }
  }
  Record record;
  if (same && bytes <= kGatherBytesMax) record.units = (kGatherHeaderBytes + bytes + 7) / 8;
  const u64 at = TakeRoom(warp, job, query.i, record);
  // Lanes exchange small numbers: places in the tile's part of a strided array, or in all of a
  // packed one.
  const u64 base = static_cast<u64>(query.i - lane) * job.value_stride;
  const u32 place = static_cast<u32>(at - base);
  const u32 send = record.units != 0 ? bytes : 0;
  const u32 pairs_own = record.units != 0 ? kKeyPairs + (record.units + 1) / 2 : 0;
  const u32 stores_own = record.units != 0 ? kKeyPairs + record.room / 2 : 0;
  const u32 stores_max = warp.Max(stores_own);
  // Some are longer than guessed.
  if (first < kTileLanes && warp.Max(pairs_own) > first)
    FetchPairs(warp, from, lane, pairs_own, some_odd, pairs);
  for (u32 begin = 0;;) {
    const u32 pair = begin + lane;
    WEFT_UNROLL
    for (u32 j = 0; j < kTileLanes; j++) {
      const u64 header = static_cast<u64>(warp.TileGet(send, j)) << 32;
      u8* to = job.values + (base + warp.TileGet(place, j)) * 8;
      const u32 stores = warp.TileGet(stores_own, j);
      if (pair < kKeyPairs || pair >= stores) continue;
      const u64 low = pair == kKeyPairs ? header : pairs[j].low;
      Warp::StoreOnce2(to + kPairBytes * (pair - kKeyPairs), low, pairs[j].high);
    }
    begin += kTileLanes;
    if (begin >= stores_max) break;
    FetchPairs(warp, from, begin + lane, pairs_own, some_odd, pairs);
  }
  if (!same) return false;
  query.result = kResultFound;
  if (record.units != 0) SayRead(job, query, at);
  return true;
}

}  // namespace weft::processor::tile
