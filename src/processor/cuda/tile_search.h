// processor/cuda/tile_search.h: task IN.search by eight lanes a bucket. Each lane owns a query, and
// its tile of eight lanes fetches the buckets of their eight queries, one line a step.
//
// So each line is one access of 64 bytes, and the eight steps are in flight at once: all loads are
// issued before the first is looked at. A ballot compares the tags.
//
// The code uses the verbs of a warp: processor/cuda/cuda_warp.cuh has those of a device,
// processor/cuda/fiber_warp_test_kit.h those of a CPU, for tests. All lanes of a warp take every
// branch around a verb together.
//
// Source: a tile of lanes a bucket is known from WarpCore and BGHT. Ours is that lanes own queries
// and lend each other their loads, so that the loads of eight queries overlap.
#pragma once

#include "processor/cuda/table_job.h"

namespace weft::processor::tile {

using task::u32;
using task::u64;
using task::u8;

inline constexpr u32 kTileLanes = 8;
static_assert(kTileLanes == kBucketSlots, "a lane a slot");

// Two words at a multiple of 16, low address first.
struct Words2 {
  u64 low, high;
};

// A lane's own query on its way.
struct Query {
  u32 i = 0;       // which
  u32 wanted = 0;  // kWants...; kWantsNothing also if no task has anything to do
  u64 hash = 0;
  u64 first = 0, second = 0;  // its buckets
  // What Search found: the slot word (0: none) and where it stands.
  u64 word = 0;
  u64 position = 0;
  u32 empties = 0;  // slots seen empty: bit 0..7 of the first bucket, 8..15 of the second
  u32 result = 0;
  bool is_noted = false;  // its record has kValueNoteBit
};

// What a lane learned of a bucket.
struct Probe {
  u32 matches = 0;  // bit i: slot i has the tag and may be seen
  u32 empties = 0;
  u64 word = 0;  // of the lowest match
};

// A bucket and a tag as one word, which lanes exchange; 0: nothing is asked.
WEFT_LANE_FN u64 Ask(u64 bucket, u64 tag) { return tag << kTagShift | bucket; }

// (together) Fetches the slots asked for: lines[j] of lane l is slot l of the bucket that lane j of
// the tile asks for. `all`: most lanes ask, so that a lane that does not may fetch bucket 0 instead
// of nothing.
template <class Warp>
WEFT_LANE_FN void FetchLines(const Warp& warp, const task::Bucket* buckets, u64 asked, bool all,
                             u64 (&lines)[kTileLanes]) {
  const u64* slots = &buckets->slots[warp.lane() % kTileLanes];
  WEFT_UNROLL
  for (u32 j = 0; j < kTileLanes; j++) {
    const u64 ask = warp.TileGet(asked, j);
    lines[j] = 0;
    if (all || ask != 0)
      lines[j] = Warp::Load(slots + (ask & ((1ul << kTagShift) - 1)) * kBucketSlots);
  }
}

// (together) The caller's result from the lines that its tile fetched. `tentative_too`: unfinished
// inserts count.
template <class Warp>
WEFT_LANE_FN Probe ReadLines(const Warp& warp, u64 asked, const u64 (&lines)[kTileLanes],
                             bool tentative_too) {
  Probe probe;
  // The compiler also moves no use of a line before this branch, so all loads are under way.
  if (!warp.Any(asked != 0)) return probe;
  const u32 tags = static_cast<u32>(asked >> 32);
  WEFT_UNROLL
  for (u32 j = 0; j < kTileLanes; j++) {
    const u32 tag = warp.TileGet(tags, j) >> (kTagShift - 32);
    const u64 line = lines[j];
    const bool seen = tentative_too || task::SlotState(line) != kSlotTentative;
    const u32 matches = warp.TileBallot(task::SlotTag(line) == tag && seen);
    const u32 empties = warp.TileBallot(line == kSlotEmpty);
    const u64 word = warp.TileGet(line, matches == 0 ? 0 : task::LowestBit64(matches));
    if (warp.lane() % kTileLanes == j && asked != 0) {
      probe.matches = matches;
      probe.empties = empties;
      probe.word = matches == 0 ? 0 : word;
    }
  }
  return probe;
}

// Whether any of kTasks has something to do for a query that came as far as `result`:
// task::NeedsStage and NeedsSearch.
template <u32 kTasks>
WEFT_LANE_FN bool HasTask(u32 wanted, u32 result) {
  constexpr bool kReads = (kTasks & kRunRead) != 0;
  const bool reads = wanted == kWantsRead;
  if (kTasks == kRunRead) return reads && result == kResultFound;
  if (result != kResultNone && !(kReads && result == kResultFound)) return false;
  return (kTasks & kRunSearch) != 0 || reads;
}

// The query of a lane. Without Search, its hash is filled in only once it is searched for. Lanes
// past the end of the batch want nothing and go along.
template <class Warp, u32 kTasks>
WEFT_LANE_FN Query BeginQuery(const TableJob& job, u32 i) {
  Query query;
  query.i = i;
  if (i >= job.count) return query;
  const u32 wanted = job.wanted != nullptr ? job.wanted[i] : job.wanted_all;
  if (job.result != nullptr) query.result = job.result[i];
  query.wanted = HasTask<kTasks>(wanted, query.result) ? wanted : kWantsNothing;
  if constexpr ((kTasks & kRunSearch) != 0) query.hash = Warp::LoadOnce(job.hash + i);
  return query;
}

// (together) Looks for a candidate of the queries that ask, in both buckets. `early`: the second is
// fetched with the first, for queries that mostly need both. `all`: most lanes ask.
template <class Warp>
WEFT_LANE_FN void SearchBoth(const Warp& warp, const TableJob& job, Query& query, bool asks,
                             bool early, bool all) {
  const task::TableRef table = job.index.older;
  const u64 tag = task::TagOfHash(query.hash);
  query.first = task::FirstBucket(query.hash, table.bucket_count);
  query.second = task::OtherBucket(job.index.policy, query.first, tag, table.bucket_count);
  const u64 asked_first = asks ? Ask(query.first, tag) : 0;
  u64 asked_second = asks && early ? Ask(query.second, tag) : 0;
  u64 first_lines[kTileLanes], second_lines[kTileLanes];
  FetchLines(warp, table.buckets, asked_first, all, first_lines);
  if (early) FetchLines(warp, table.buckets, asked_second, all, second_lines);
  const Probe first = ReadLines(warp, asked_first, first_lines, false);
  if (!early) {
    asked_second = asks && first.matches == 0 ? Ask(query.second, tag) : 0;
    FetchLines(warp, table.buckets, asked_second, false, second_lines);
  }
  const Probe second = ReadLines(warp, asked_second, second_lines, false);
  query.empties = first.empties | second.empties << kBucketSlots;
  if (first.matches != 0) {
    query.word = first.word;
    query.position = query.first * kBucketSlots + task::LowestBit64(first.matches);
  } else if (second.matches != 0) {
    query.word = second.word;
    query.position = query.second * kBucketSlots + task::LowestBit64(second.matches);
  }
}

// The entry that the columns name, as a stage before this one left it.
template <class Warp>
WEFT_LANE_FN void TakeEntry(const TableJob& job, Query& query) {
  query.word = Warp::LoadOnce(job.word + query.i);
  query.position = Warp::LoadOnce(job.position + query.i);
}

// Whether it still stands there.
template <class Warp>
WEFT_LANE_FN bool Stands(const TableJob& job, const Query& query) {
  if (query.word == 0 || query.position >= job.index.older.bucket_count * kBucketSlots)
    return false;
  const u64 word = Warp::Load(&job.index.older.buckets[0].slots[0] + query.position);
  return task::SameEntry(word, query.word);
}

}  // namespace weft::processor::tile
