// processor/cuda/tile_read.h: task RD: the values of the queries that were found are gathered, each
// record (task/query_job.h says what one is) by the eight lanes of a tile.
//
// A record is written in whole 16-byte pairs where it can be: with keys of 16 or 32 bytes and
// objects at multiples of 16, value and record start 8 bytes past such a multiple, so that pairs of
// the object become pairs of the record, the first with its low word replaced.
#pragma once

#include "processor/cuda/tile_compare.h"

namespace weft::processor::tile {

// One record to be gathered, as its lane knows it. `units` 0: none.
struct Record {
  const u8* value = nullptr;
  u64 header = 0;  // flags, and above them the value's bytes
  u8* to = nullptr;
  u32 units = 0;
  u32 room = 0;  // units, even: with the filler that makes sectors whole
};

// Units that a record takes: whole sectors of 32 bytes, of which memory would have to read what is
// not written; the shortest whole 16 bytes.
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

// Values of at most 8 bytes: each by its own lane.
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

// (together) Values and records at any multiple of 1 and 8.
template <class Warp>
WEFT_LANE_FN void CopyWords(const Warp& warp, const Record& own, u32 units_max) {
  const u32 lane = warp.lane() % kTileLanes;
  for (u32 begin = 0; begin < units_max; begin += kTileLanes) {
    const u32 unit = begin + lane;
    u64 words[kTileLanes];
    WEFT_UNROLL
    for (u32 j = 0; j < kTileLanes; j++) {
      const u64 value = warp.TileGet(reinterpret_cast<u64>(own.value), j);
      const u64 header = warp.TileGet(own.header, j);
      const u32 units = warp.TileGet(own.units, j);
      words[j] = header;
      if (unit != 0 && unit < units) {
        const u32 offset = 8 * (unit - 1);
        words[j] = LoadPart<Warp>(reinterpret_cast<const u8*>(value) + offset,
                                  static_cast<u32>(header >> 32) - offset);
      }
    }
    WEFT_UNROLL
    for (u32 j = 0; j < kTileLanes; j++) {
      const u64 to = warp.TileGet(reinterpret_cast<u64>(own.to), j);
      const u32 units = warp.TileGet(own.units, j);
      if (unit < units) Warp::StoreOnce(reinterpret_cast<u64*>(to) + unit, words[j]);
    }
  }
}

// (together) The records of all lanes.
template <class Warp>
WEFT_LANE_FN void CopyRecords(const Warp& warp, const Record& own) {
  const u32 units_max = warp.Max(own.units);
  if (units_max <= 2) {
    CopyShort<Warp>(own);
    return;
  }
  const u64 phases = (reinterpret_cast<u64>(own.value) ^ 8) | reinterpret_cast<u64>(own.to);
  if (warp.Any(own.units != 0 && phases % 16 != 0)) {
    CopyWords(warp, own, units_max);
  } else {
    CopyPairs(warp, own, warp.Max(own.room));
  }
}

// Value, flags and length of an object whose first word is `head`; no record where it has ended or
// is too long.
WEFT_LANE_FN Record RecordOf(const TableJob& job, u64 location, u64 head) {
  Record record;
  const u32 shape = static_cast<u32>(head);
  const task::Object* object = task::ObjectAt(job.log, location);
  u64 bytes = shape & kShapeValueMask;
  if (task::IsPlain(shape)) {
    if (task::IsFlushed(job.log, location)) return record;
    record.value = task::PlainValue(object);
    record.header = bytes << 32;
  } else {
    if (task::IsEnded(job.log, location, object, job.now_s)) return record;
    bytes = task::ValueBytes(object);
    record.value = task::ValueOf(object);
    record.header = bytes << 32 | task::ClientFlags(object);
  }
  if (bytes <= kGatherBytesMax)
    record.units = static_cast<u32>((kGatherHeaderBytes + bytes + 7) / 8);
  return record;
}

// (together) Where the record goes, in units; one without room has no units afterwards.
template <class Warp>
WEFT_LANE_FN u64 TakeRoom(const Warp& warp, const TableJob& job, u32 i, Record& record) {
  u64 at = 0;
  if (job.value_stride != 0) {
    at = static_cast<u64>(i) * job.value_stride;
    if (record.units > job.value_stride) record.units = 0;
    record.room = PaddedUnits(record.units) < job.value_stride ? PaddedUnits(record.units)
                                                               : job.value_stride;
  } else {
    const u32 units = PaddedUnits(record.units);
    at = warp.Reserve(job.values_used, units);
    if (at + units > job.values_capacity) record.units = 0;
    record.room = units;
  }
  if (record.units == 0) record.room = 0;
  record.to = job.values + at * 8;
  return at;
}

// Notes the access as task::ReadTask does.
WEFT_LANE_FN void NoteReadOf(const TableJob& job, const Query& query, u32 access) {
  if (task::WantsAccessNote(query.word, job.dice + query.i))
    task::NoteAccess(task::SlotAtPosition(job.index, query.position), query.word);
  if (task::WantsReadNote(access, job.now_s))
    task::NoteRead(task::ObjectAt(job.log, task::SlotLocation(query.word)), job.now_s);
}

// What is to be said of a read whose record lies at `at`.
WEFT_LANE_FN void SayRead(const TableJob& job, Query& query, u64 at) {
  query.result = kResultRead;
  u32 note = 0;
  if (job.notes != 0 || job.mirrored != 0) {
    task::Object* object = task::ObjectAt(job.log, task::SlotLocation(query.word));
    const u32 access = task::LoadRelaxed32(&object->access);
    if (job.mirrored != 0 && task::WantsReadNote(access, job.now_s)) {
      task::NoteRead(object, job.now_s);
      note = kValueNoteBit;
    }
    if (job.notes != 0) NoteReadOf(job, query, access);
  }
  if (job.value_at != nullptr) job.value_at[query.i] = static_cast<u32>(at) | note;
}

// (together) Task RD of the queries that have been found. `head`: of the object.
template <class Warp>
WEFT_LANE_FN void ReadValues(const Warp& warp, const TableJob& job, Query& query, bool found,
                             u64 head) {
  Record record;
  if (found) record = RecordOf(job, task::SlotLocation(query.word), head);
  const u64 at = TakeRoom(warp, job, query.i, record);
  CopyRecords(warp, record);
  if (record.units != 0) SayRead(job, query, at);
}

}  // namespace weft::processor::tile
