// processor/cuda/tile_read.h: task RD: gathers the values of the queries that were found.
#pragma once

#include "processor/cuda/tile_compare.h"
#include "processor/cuda/tile_copy.h"

namespace weft::processor::tile {

// Value, flags and length of an object whose first word is `head`; no record if it has ended or is
// too long.
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

// Units that a record takes. Memory first reads the rest of a sector of which only a part is
// written, so sectors are written whole; over a bus, filler is a burden.
WEFT_LANE_FN u32 RoomOf(const TableJob& job, const Record& record) {
  return job.mirrored != 0 ? (record.units + 1) & ~1u : PaddedUnits(record.units);
}

// (together) Where the record goes, in units; one without room has no units afterwards.
template <class Warp>
WEFT_LANE_FN u64 TakeRoom(const Warp& warp, const TableJob& job, u32 i, Record& record) {
  u64 at = 0;
  if (job.value_stride != 0) {
    at = static_cast<u64>(i) * job.value_stride;
    if (record.units > job.value_stride) record.units = 0;
    const u32 units = RoomOf(job, record);
    record.room = units < job.value_stride ? units : job.value_stride;
  } else {
    const u32 units = RoomOf(job, record);
    at = job.values_begin + warp.Reserve(job.values_used, units);
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

// Sets the answer of a read whose record lies at `at`.
WEFT_LANE_FN void SayRead(const TableJob& job, Query& query, u64 at) {
  query.result = kResultRead;
  u32 note = 0;
  if (job.notes != 0 || job.mirrored != 0) {
    task::Object* object = task::ObjectAt(job.log, task::SlotLocation(query.word));
    const u32 access = task::LoadRelaxed32(&object->access);
    if (job.mirrored != 0 && task::WantsReadNote(access, job.now_s)) {
      task::NoteRead(object, job.now_s);
      note = kValueNoteBit;
      query.is_noted = true;
    }
    if (job.notes != 0) NoteReadOf(job, query, access);
  }
  if (job.value_at != nullptr) job.value_at[query.i] = static_cast<u32>(at) | note;
}

// (together) Task RD of the queries that were found. `head`: of the object. kLists: the records are
// left in `list`, to be copied later; otherwise they are copied here.
template <class Warp, bool kLists>
WEFT_LANE_FN void ReadValues(const Warp& warp, const TableJob& job, Query& query, bool found,
                             u64 head, RecordList* list) {
  Record record;
  if (found) record = RecordOf(job, task::SlotLocation(query.word), head);
  const u64 at = TakeRoom(warp, job, query.i, record);
  if constexpr (kLists) {
    ListRecords(warp, record, list);
  } else {
    CopyRecords(warp, record);
  }
  if (record.units != 0) SayRead(job, query, at);
}

}  // namespace weft::processor::tile
