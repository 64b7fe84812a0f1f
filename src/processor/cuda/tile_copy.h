// processor/cuda/tile_copy.h: how records (task/query_job.h says what one is) are copied from
// their objects to the values of a job.
//
// Three ways, for records of all kinds:
//   CopyShort  values of at most 8 bytes: each by its own lane.
//   CopyPairs  by tiles, 16 bytes a lane, eight records at once: where pairs of words of the
//              objects are pairs of the records, as with keys of 16 or 32 bytes and objects at
//              multiples of 16. Value and record start 8 bytes past such a multiple then, and
//              the first pair has its low word replaced.
//   CopySpots  all records of a warp, or of a block, as one row of pairs, lane after lane, whatever
//              the sizes are and wherever the values lie: 512 bytes in a row a store of a warp,
//              whole lines but for the ends, which is what a bus wants. A lane looks up which
//              record its pair belongs to.
#pragma once

#include "processor/cuda/tile_search.h"

namespace weft::processor::tile {

inline constexpr u32 kWarpLanes = 32;

// One record to be gathered, as its lane knows it. `units` 0: none.
struct Record {
  const u8* value = nullptr;
  u64 header = 0;  // flags, and above them the value's bytes
  u8* to = nullptr;
  u32 units = 0;
  u32 room = 0;  // units, even: with what filler there is behind it; 0 where units is
};

// A record's units with the filler that makes sectors of 32 bytes whole; the shortest have 16.
WEFT_LANE_FN u32 PaddedUnits(u32 units) {
  return units <= 2 ? (units + 1) & ~1u : (units + 3) & ~3u;
}

// Up to 8 bytes at any address; reads only the aligned words that they lie in.
template <class Warp>
WEFT_LANE_FN u64 LoadPart(const u8* at, u32 bytes) {
  const u32 phase = static_cast<u32>(reinterpret_cast<u64>(at) & 7);
  const u8* word = at - phase;
  u64 part = Warp::Load(word) >> (8 * phase);
  if (phase != 0 && bytes > 8 - phase) part |= Warp::Load(word + 8) << (64 - 8 * phase);
  return part;
}

template <class Warp>
WEFT_LANE_FN void CopyShort(const Record& own) {
  if (own.units == 0) return;
  u64* to = reinterpret_cast<u64*>(own.to);
  if (own.units == 1) {
    Warp::StoreOnce(to, own.header);
    return;
  }
  const u64 value = LoadPart<Warp>(own.value, static_cast<u32>(own.header >> 32));
  if (reinterpret_cast<u64>(to) % 16 == 0) {
    Warp::StoreOnce2(to, own.header, value);
  } else {
    Warp::StoreOnce(to, own.header);
    Warp::StoreOnce(to + 1, value);
  }
}

// (together) REQUIRES: own.to is a multiple of 16, own.value 8 past one. The last pair may reach 8
// bytes past the value's last word, which is still in its object's last 16.
template <class Warp>
WEFT_LANE_FN void CopyPairs(const Warp& warp, const Record& own, u32 room_max) {
  const u32 lane = warp.lane() % kTileLanes;
  const u64 from = reinterpret_cast<u64>(own.value) - 8;
  for (u32 begin = 0; 2 * begin < room_max; begin += kTileLanes) {
    const u32 pair = begin + lane;
    Words2 words[kTileLanes];
    WEFT_UNROLL
    for (u32 j = 0; j < kTileLanes; j++) {
      const u64 at = warp.TileGet(from, j);
      const u32 units = warp.TileGet(own.units, j);
      words[j] = {0, 0};
      if (2 * pair < units) words[j] = Warp::Load2(reinterpret_cast<const u8*>(at) + 16ul * pair);
    }
    WEFT_UNROLL
    for (u32 j = 0; j < kTileLanes; j++) {
      const u64 to = warp.TileGet(reinterpret_cast<u64>(own.to), j);
      const u64 header = warp.TileGet(own.header, j);
      const u32 room = warp.TileGet(own.room, j);
      const u64 low = pair == 0 ? header : words[j].low;
      if (2 * pair < room)
        Warp::StoreOnce2(reinterpret_cast<u64*>(to) + 2 * pair, low, words[j].high);
    }
  }
}

// A pair of a record: which, and of what record.
struct Spot {
  u64 value = 0;  // addresses
  u64 to = 0;
  u64 header = 0;
  u32 pair = 0;
};

// The records of a warp, each known to its lane: `begin` is the number of pairs before it.
template <class Warp>
struct WarpRecords {
  const Warp& warp;
  const Record& own;
  u32 begin;
};

// The same where other warps see them, too: in memory that a block shares.
struct RecordList {
  u64 value[kWarpLanes];
  u64 to[kWarpLanes];
  u64 header[kWarpLanes];
  u32 begin[kWarpLanes];
  u32 pairs;  // of all; 0 where nothing was listed
};

// (together) Whose pair it is: the last record that begins there or before. Past the end any.
template <class Warp>
WEFT_LANE_FN Spot SpotOf(const WarpRecords<Warp>& records, u32 pair) {
  const Warp& warp = records.warp;
  u32 at = 0;
  WEFT_UNROLL
  for (u32 step = kWarpLanes / 2; step > 0; step /= 2)
    at += warp.WarpGet(records.begin, at + step) <= pair ? step : 0;
  return {warp.WarpGet(reinterpret_cast<u64>(records.own.value), at),
          warp.WarpGet(reinterpret_cast<u64>(records.own.to), at),
          warp.WarpGet(records.own.header, at), pair - warp.WarpGet(records.begin, at)};
}

WEFT_LANE_FN Spot SpotOf(const RecordList& records, u32 pair) {
  u32 at = 0;
  WEFT_UNROLL
  for (u32 step = kWarpLanes / 2; step > 0; step /= 2)
    at += records.begin[at + step] <= pair ? step : 0;
  return {records.value[at], records.to[at], records.header[at], pair - records.begin[at]};
}

// A pair on its way: where to, and the aligned words that its bytes lie in, as they were loaded, so
// that several are under way at once.
struct SpotWords {
  u64 to = 0;  // 0: none
  u64 low = 0, high = 0, next = 0;
  u32 shift = 0;       // of the bytes in the words, in bits
  bool first = false;  // of its record: low is the header
};

// Reads no word without a byte of the value, but the one before it.
template <class Warp>
WEFT_LANE_FN SpotWords LoadSpot(const Spot& spot) {
  const u32 phase = static_cast<u32>(spot.value & 7);
  const u8* words = reinterpret_cast<const u8*>(spot.value - phase);
  const u32 count = (static_cast<u32>(spot.header >> 32) + phase + 7) / 8;
  // Behind the header, the pair's high word is word `at` of the value, its low one the word before.
  const u32 at = 2 * spot.pair;
  SpotWords loaded;
  loaded.to = spot.to + 16ul * spot.pair;
  loaded.shift = 8 * phase;
  loaded.first = spot.pair == 0;
  if (at < count && spot.value % 16 == 8) {
    const Words2 two = Warp::Load2(words + 8ul * at - 8);
    loaded.low = two.low;
    loaded.high = two.high;
  } else {
    if (at != 0 && at - 1 < count) loaded.low = Warp::Load(words + 8ul * at - 8);
    if (at < count) loaded.high = Warp::Load(words + 8ul * at);
    if (phase != 0 && at + 1 < count) loaded.next = Warp::Load(words + 8ul * at + 8);
  }
  if (loaded.first) loaded.low = spot.header;
  return loaded;
}

template <class Warp>
WEFT_LANE_FN void StoreSpot(const SpotWords& loaded) {
  const u32 shift = loaded.shift;
  u64 low = loaded.low, high = loaded.high;
  if (shift != 0) {
    if (!loaded.first) low = low >> shift | high << (64 - shift);
    high = high >> shift | loaded.next << (64 - shift);
  }
  Warp::StoreOnce2(reinterpret_cast<u8*>(loaded.to), low, high);
}

// Lane `first` of `lanes` copies the pairs first, first + lanes, ... of `pairs`, kAtOnce of them at
// once. Of WarpRecords (together), `lanes` are the warp's.
// REQUIRES: every Record::to is a multiple of 16
template <class Warp, u32 kAtOnce, class Records>
WEFT_LANE_FN void CopySpots(const Records& records, u32 pairs, u32 first, u32 lanes) {
  for (u32 begin = 0; begin < pairs; begin += kAtOnce * lanes) {
    SpotWords loaded[kAtOnce];
    WEFT_UNROLL
    for (u32 n = 0; n < kAtOnce; n++) {
      const u32 pair = begin + n * lanes + first;
      const Spot spot = SpotOf(records, pair);
      loaded[n] = SpotWords();
      if (pair < pairs) loaded[n] = LoadSpot<Warp>(spot);
    }
    WEFT_UNROLL
    for (u32 n = 0; n < kAtOnce; n++)
      if (loaded[n].to != 0) StoreSpot<Warp>(loaded[n]);
  }
}

// (together) The list of the records of all lanes. Others may look at it once they have met.
template <class Warp>
WEFT_LANE_FN void ListRecords(const Warp& warp, const Record& own, RecordList* list) {
  const u32 lane = warp.lane();
  const u32 begin = warp.SumBelow(own.room / 2);
  list->value[lane] = reinterpret_cast<u64>(own.value);
  list->to[lane] = reinterpret_cast<u64>(own.to);
  list->header[lane] = own.header;
  list->begin[lane] = begin;
  if (lane == kWarpLanes - 1) list->pairs = begin + own.room / 2;
}

// The share of lane `first` of `lanes` in copying what is listed; no verb that lanes meet in.
template <class Warp>
WEFT_LANE_FN void CopyListed(const RecordList& list, u32 first, u32 lanes) {
  constexpr u32 kAtOnce = 4;
  CopySpots<Warp, kAtOnce>(list, list.pairs, first, lanes);
}

// (together) The records of all lanes.
template <class Warp>
WEFT_LANE_FN void CopyRecords(const Warp& warp, const Record& own) {
  constexpr u32 kAtOnce = 2;  // registers are few
  if (warp.Max(own.units) <= 2) {
    CopyShort<Warp>(own);
    return;
  }
  const u64 phases = (reinterpret_cast<u64>(own.value) ^ 8) | reinterpret_cast<u64>(own.to);
  if (!warp.Any(own.units != 0 && phases % 16 != 0)) {
    CopyPairs(warp, own, warp.Max(own.room));
    return;
  }
  const u32 begin = warp.SumBelow(own.room / 2);
  const u32 pairs = warp.WarpGet(begin + own.room / 2, kWarpLanes - 1);
  const WarpRecords<Warp> records = {warp, own, begin};
  CopySpots<Warp, kAtOnce>(records, pairs, warp.lane(), kWarpLanes);
}

}  // namespace weft::processor::tile
