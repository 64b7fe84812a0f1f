// processor/cuda/tile_store.h: tasks MM, IN.insert and IN.delete on a device: objects are written
// to the log by tiles, then each lane publishes its own by one compare-and-swap.
//
// Two passes. The first needs no search for room: it replaces the entry that Search found, or takes
// an empty slot of the key's buckets. Nothing moves meanwhile, so a search that finds nothing is
// exact without the counters of task/index.h. The rest (both buckets full, a lost race) is left to
// the second pass, FinishStore. That is the single-source insert with its displacements, in a
// launch of its own kernel.
//
// If no two queries of the batch store one key, a new entry goes in live at once. If they may
// (TableJob::repeats), it goes in tentative and looks again, as task/insert.h says.
#pragma once

#include "processor/cuda/tile_compare.h"
#include "processor/cuda/tile_copy.h"
#include "task/delete.h"
#include "task/insert.h"
#include "task/lay_object.h"

namespace weft::processor::tile {

// An object to write, as its lane knows it.
struct NewObject {
  const u8* value = nullptr;
  u32 value_bytes = 0;
  u32 expiry = 0;
  u64 location = 0;  // 0: none
};

WEFT_LANE_FN NewObject NewObjectOf(const TableJob& job, u32 i) {
  NewObject object;
  object.value_bytes = job.store_bytes != nullptr ? job.store_bytes[i] : job.store_bytes_all;
  const u64 at = job.store_at != nullptr ? static_cast<u64>(job.store_at[i]) * 8
                                         : static_cast<u64>(i) * RoundUp8(job.store_bytes_all);
  object.value = job.store_values + at;
  object.expiry = job.store_expiry != nullptr ? job.store_expiry[i] : 0;
  return object;
}

// Whether a tile writes objects together: if all keys and values are whole words.
template <u32 kWords>
WEFT_LANE_FN bool WritesByTile(const TableJob& job) {
  return kWords != 0 && job.store_bytes == nullptr && job.store_at == nullptr &&
         job.store_expiry == nullptr && job.store_bytes_all % 8 == 0 && job.log_align % 2 == 0;
}

// `units` of an object, with the filler up to the next, so that no sector is written in part:
// memory would have to read that first.
WEFT_LANE_FN u32 UnitsInLog(const TableJob& job, u32 bytes) {
  return (bytes / 8 + job.log_align - 1) / job.log_align * job.log_align;
}

// (together) Writes the objects of all lanes, each by its tile in 16-byte pairs.
// REQUIRES: WritesByTile
template <class Warp, u32 kWords>
WEFT_LANE_FN void WriteByTile(const Warp& warp, const TableJob& job, u32 i, u64 location,
                              u32 units) {
  const u32 lane = warp.lane() % kTileLanes;
  const u32 value_words = job.store_bytes_all / 8;
  const u32 words = 1 + kWords + value_words;
  const u64 head = task::ShapeOfPlain(8 * kWords, job.store_bytes_all, false);
  const u64* keys = reinterpret_cast<const u64*>(job.keys);
  const u64* values = reinterpret_cast<const u64*>(job.store_values);
  for (u32 begin = 0; 2 * begin < units; begin += kTileLanes) {
    Words2 pairs[kTileLanes];
    const u32 pair = begin + lane;
    WEFT_UNROLL
    for (u32 j = 0; j < kTileLanes; j++) {
      const bool writes = warp.TileGet(location, j) != 0;
      const u64 query = i - lane + j;
      u64 two[2] = {0, 0};
      WEFT_UNROLL
      for (u32 side = 0; side < 2; side++) {
        const u32 word = 2 * pair + side;
        if (word == 0) {
          two[side] = head;
        } else if (writes && word <= kWords) {
          two[side] = Warp::LoadOnce(keys + query * kWords + (word - 1));
        } else if (writes && word < words) {
          two[side] = Warp::LoadOnce(values + query * value_words + (word - 1 - kWords));
        }
      }
      pairs[j] = {two[0], two[1]};
    }
    WEFT_UNROLL
    for (u32 j = 0; j < kTileLanes; j++) {
      const u64 to = warp.TileGet(location, j);
      if (to != 0 && 2 * pair < units)
        Warp::StoreOnce2(job.log.base + to * 8 + 16ul * pair, pairs[j].low, pairs[j].high);
    }
  }
}

// (together) The same if every lane of the warp stores: the objects lie end to end, and the warp
// writes them as one array. `location`: of the lane's own.
template <class Warp, u32 kWords>
WEFT_LANE_FN void WriteByWarp(const Warp& warp, const TableJob& job, u32 i, u64 location,
                              u32 units) {
  constexpr u32 kAtOnce = 4;
  const u32 lane = warp.lane();
  const u32 value_words = job.store_bytes_all / 8;
  const u32 words = 1 + kWords + value_words;
  const u64 head = task::ShapeOfPlain(8 * kWords, job.store_bytes_all, false);
  const u64 query = i - lane;
  const u64* keys = reinterpret_cast<const u64*>(job.keys) + query * kWords;
  const u64* values = reinterpret_cast<const u64*>(job.store_values) + query * value_words;
  u8* to = job.log.base + (location - static_cast<u64>(lane) * units) * 8;
  const u32 pairs = units / 2;  // of an object
  u32 object = lane / pairs, pair = lane % pairs;
  for (u32 at = lane; at < kWarpLanes * pairs; at += kAtOnce * kWarpLanes) {
    u64 two[kAtOnce][2];
    bool writes[kAtOnce];
    WEFT_UNROLL
    for (u32 n = 0; n < kAtOnce; n++) {
      writes[n] = object < kWarpLanes;
      WEFT_UNROLL
      for (u32 side = 0; side < 2; side++) {
        const u32 word = 2 * pair + side;
        const u64* from = word <= kWords ? keys + (object * kWords + word - 1)
                                         : values + (object * value_words + word - 1 - kWords);
        two[n][side] = word == 0 ? head : 0;
        if (writes[n] && word != 0 && word < words) two[n][side] = Warp::LoadOnce(from);
      }
      pair += kWarpLanes % pairs;
      object += kWarpLanes / pairs;
      if (pair >= pairs) {
        pair -= pairs;
        object++;
      }
    }
    WEFT_UNROLL
    for (u32 n = 0; n < kAtOnce; n++)
      if (writes[n]) Warp::StoreOnce2(to + 16ul * (at + n * kWarpLanes), two[n][0], two[n][1]);
  }
}

// (together) Task MM: takes room in the log and writes the objects. Location 0: nothing written.
template <class Warp, u32 kWords>
WEFT_LANE_FN u64 WriteObjects(const Warp& warp, const TableJob& job, const Query& query) {
  const bool stores = query.wanted == kWantsStore;
  NewObject object;
  u32 units = 0;
  if (stores) {
    object = NewObjectOf(job, query.i);
    const u32 bytes =
        task::LaidBytes(KeyBytesOf(job, query.i), object.value_bytes, object.expiry != 0);
    units = UnitsInLog(job, bytes);
    if (object.value_bytes > kShapeValueMask) units = 0;  // not an object of this log
  }
  const u64 location = warp.Reserve(job.log_next, units);
  if (units != 0 && location + units <= job.log_end) object.location = location;
  if (WritesByTile<kWords>(job)) {
    if constexpr (kWords != 0) {
      const u32 all = UnitsInLog(job, task::LaidBytes(8 * kWords, job.store_bytes_all, false));
      if (!warp.Any(object.location == 0)) {
        WriteByWarp<Warp, kWords>(warp, job, query.i, object.location, all);
      } else {
        WriteByTile<Warp, kWords>(warp, job, query.i, object.location, all);
      }
    }
  } else if (object.location != 0) {
    task::LayObject(task::ObjectAt(job.log, object.location), KeyAt(job, query.i),
                    KeyBytesOf(job, query.i), object.value, object.value_bytes, object.expiry);
  }
  if (stores && job.placed != nullptr) job.placed[query.i] = object.location;
  return object.location;
}

// Puts `word` into one of the slots that Search saw empty. False: none is empty any more.
template <class Warp>
WEFT_LANE_FN bool TakeEmpty(const TableJob& job, Query& query, u64 word) {
  for (u32 empties = query.empties; empties != 0; empties &= empties - 1) {
    const u32 n = task::LowestBit64(empties);
    const u64 bucket = n < kBucketSlots ? query.first : query.second;
    query.position = bucket * kBucketSlots + n % kBucketSlots;
    if (Warp::Swap(task::SlotAtPosition(job.index, query.position), kSlotEmpty, word)) return true;
  }
  return false;
}

// task::SettleInsert for the query's tentative word at `position`.
WEFT_LANE_FN bool SettleAlone(const TableJob& job, u32 i, u64 position, u64 word) {
  return task::SettleInsert(job.index, job.log, WholeKey(job, i),
                            task::SlotAtPosition(job.index, position), word) == kInsertDone;
}

// (together) Makes those tentative entries live whose keys no other query has entered meanwhile;
// `word` 0: the lane has none. Returns whether the lane's is live; if not, it is gone.
template <class Warp>
WEFT_LANE_FN bool SettleTogether(const Warp& warp, const TableJob& job, const Query& query,
                                 u64 word) {
  // Pairs with itself in the other warp: if two entered one key, at least one sees the other.
  warp.FullFence();
  const u64 tag = task::TagOfHash(query.hash);
  const u64 asked_first = word != 0 ? Ask(query.first, tag) : 0;
  const u64 asked_second = word != 0 ? Ask(query.second, tag) : 0;
  u64 lines[kTileLanes];
  FetchLines(warp, job.index.older.buckets, asked_first, false, lines);
  const Probe first = ReadLines(warp, asked_first, lines, true);
  FetchLines(warp, job.index.older.buckets, asked_second, false, lines);
  const Probe second = ReadLines(warp, asked_second, lines, true);
  if (word == 0) return false;
  const u32 own = 1u << (query.position % kBucketSlots);
  const u64 bucket = query.position / kBucketSlots;
  const u32 others = (bucket == query.first ? first.matches & ~own : first.matches) |
                     (bucket == query.second ? second.matches & ~own : second.matches);
  if (others != 0) return SettleAlone(job, query.i, query.position, word);
  u64* slot = task::SlotAtPosition(job.index, query.position);
  return Warp::Swap(slot, word, task::WithState(word, kSlotLive));
}

// (together) Stores of the first pass: enters the object that WriteObjects wrote to `location`, 0:
// none. REQUIRES: a fence since; Search fetched both buckets of a query without an entry, or leaves
// its empties out
template <class Warp, u32 kWords>
WEFT_LANE_FN void StoreObjects(const Warp& warp, const TableJob& job, Query& query, u64 location) {
  const u64 replaced = query.word;
  bool pending = false;
  u64 tentative = 0;
  if (location != 0) {
    if (replaced != 0) {
      u64* slot = task::SlotAtPosition(job.index, query.position);
      pending = task::SlotState(replaced) != kSlotLive ||
                !Warp::Swap(slot, replaced, task::WithLocation(replaced, location));
    } else {
      const u64 state = job.repeats != 0 ? kSlotTentative : kSlotLive;
      const u64 word = task::MakeSlot(task::TagOfHash(query.hash), state, 0, location);
      pending = !TakeEmpty<Warp>(job, query, word);
      if (!pending && job.repeats != 0) tentative = word;
    }
  }
  if (job.repeats != 0) {
    const bool settled = SettleTogether(warp, job, query, tentative);
    if (tentative != 0 && !settled) pending = true;
  }
  if (warp.Any(pending)) {
    const u64 at = warp.Reserve(job.pending_count, pending ? 1 : 0);
    if (pending) job.pending[at] = query.i;
  }
  if (location != 0 && !pending) query.result = kResultStored;
}

// Rounds of a store or delete that loses races, or loses room that others free.
inline constexpr u32 kRounds = 16;

// The second pass: a store that the first left. Its object lies at `placed`.
WEFT_LANE_FN void FinishStore(const TableJob& job, u32 i) {
  const u64 location = job.placed[i];
  for (u32 round = 0; round < kRounds; round++) {
    const task::Found found = FindExactly(job, i);
    if (found.slot != nullptr) {
      if (task::SlotState(found.word) != kSlotLive) continue;
      if (!task::ReplaceEntry(found.slot, found.word, task::WithLocation(found.word, location)))
        continue;
      if (job.word != nullptr) job.word[i] = found.word;
      job.result[i] = kResultStored;
      return;
    }
    const task::Inserted inserted =
        task::Insert(job.index, job.log, WholeKey(job, i), location, false);
    if (inserted.status != kInsertDone) continue;
    if (job.word != nullptr) job.word[i] = 0;
    job.result[i] = kResultStored;
    return;
  }
}

// Deletes the entry that KC confirmed, unless it has ended.
template <class Warp>
WEFT_LANE_FN void DeleteEntry(const TableJob& job, Query& query) {
  if (query.wanted != kWantsDelete) return;
  for (u32 round = 0; round < kRounds && query.word != 0; round++) {
    const u64 location = task::SlotLocation(query.word);
    const task::Object* object = task::ObjectAt(job.log, location);
    if (task::IsEnded(job.log, location, object, job.now_s)) return;
    u64* slot = task::SlotAtPosition(job.index, query.position);
    if (task::SlotState(query.word) == kSlotLive && Warp::Swap(slot, query.word, kSlotEmpty)) {
      query.result = kResultDeleted;
      return;
    }
    const task::Found found = FindExactly(job, query.i);
    query.word = found.word;
    if (found.slot != nullptr) query.position = task::PositionOf(job.index, found.slot);
  }
}

}  // namespace weft::processor::tile
