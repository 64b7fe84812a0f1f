// processor/cuda/tile_tasks.h: the tuned form of task::RunQuery. The lanes of a warp run 32
// queries: any mix of reads, stores and deletes in one pass, or a stage's part of reads.
//
// Cost      a read that hits: 1.3 bucket lines on average, the lines of its object, its record
//           written once. A store of a new key: two bucket lines, one compare-and-swap, the object
//           written once.
#pragma once

#include "processor/cuda/tile_fetch.h"
#include "processor/cuda/tile_store.h"

namespace weft::processor::tile {

// Whether kTasks has KC, or a store or delete that begins with it, for the query.
template <u32 kTasks>
WEFT_LANE_FN bool Compares(const Query& query) {
  return (query.wanted == kWantsRead && (kTasks & kRunCompare) != 0) ||
         (query.wanted == kWantsStore && (kTasks & kRunInsert) != 0) ||
         (query.wanted == kWantsDelete && (kTasks & kRunDelete) != 0);
}

// (together) Search; or, without it in kTasks, the entry that the columns name, searched for again
// if it no longer stands.
template <class Warp, u32 kTasks>
WEFT_LANE_FN void FindEntries(const Warp& warp, const TableJob& job, Query& query) {
  const bool works = query.wanted != kWantsNothing;
  if constexpr ((kTasks & kRunSearch) != 0) {
    // A batch of only stores mostly brings new keys, which need both buckets.
    constexpr bool kEarly = kTasks == (kRunSearch | kRunCompare | kRunInsert);
    SearchBoth(warp, job, query, works, kEarly, true);
  } else if constexpr ((kTasks & kRunCompare) != 0) {
    if (works) TakeEntry<Warp>(job, query);
    const bool asks = works && !Stands<Warp>(job, query);
    if (!warp.Any(asks)) return;
    if (asks) {
      query.word = 0;
      query.hash = Warp::LoadOnce(job.hash + query.i);
    }
    SearchBoth(warp, job, query, asks, true, false);
  } else {
    if (works) TakeEntry<Warp>(job, query);
  }
}

// Query i of the lane, which is base + lane for a base that is a multiple of 32.
// kWords: 8-byte words of every key, if all have as many; 0: any lengths.
// kTasks: kRun... that the job may want; leaving some out makes a smaller kernel.
// `list`: null, or the list for the warp's records, which others copy (TableJob::shares_records);
// kLists says which.
template <class Warp, u32 kWords, u32 kTasks, bool kLists>
WEFT_LANE_FN void RunGroup(const Warp& warp, const TableJob& job, u32 i, RecordList* list) {
  constexpr bool kCompares = (kTasks & kRunCompare) != 0;
  constexpr bool kReads = (kTasks & kRunRead) != 0;
  constexpr bool kStores = (kTasks & kRunInsert) != 0;
  constexpr bool kDeletes = (kTasks & kRunDelete) != 0;
  Query query = BeginQuery<Warp, kTasks>(job, i);
  u64 placed = 0;
  // Before the search, so that the bytes are on their way long before their entry waits for them.
  if constexpr (kStores) placed = WriteObjects<Warp, kWords>(warp, job, query);
  FindEntries<Warp, kTasks>(warp, job, query);
  u64 head = 0;
  bool answered = false;
  if constexpr (kCompares) {
    // Acquire: the objects' bytes are those that their entries were published with. Release: the
    // bytes written here are seen before their entries.
    if constexpr (kStores) warp.Fence();
    if constexpr (kReads && !kLists && kWords != 0) {
      if (MayReadWhole<kWords>(job)) {
        if constexpr (kWords == 1) {
          answered = ReadShort(warp, job, query);
        } else {
          answered = ReadWhole<Warp, kWords>(warp, job, query);
        }
      }
    }
    const bool asks = !answered && Compares<kTasks>(query);
    head = Confirm<Warp, kWords>(warp, job, query, asks);
    if (asks) {
      const u32 missed = job.mirrored != 0 ? kResultNone : kResultMissed;
      if (query.wanted == kWantsRead) query.result = query.word != 0 ? kResultFound : missed;
    }
  }
  if constexpr (kReads) {
    bool found = !answered && query.wanted == kWantsRead && query.result == kResultFound;
    if constexpr (!kCompares) {
      const u64 location = task::SlotLocation(query.word);
      found = found && task::IsHere(job.log, location);
      if (found) head = LoadHead<Warp>(job.log, location);
    }
    if (warp.Any(found)) ReadValues<Warp, kLists>(warp, job, query, found, head, list);
  }
  if constexpr (kDeletes) DeleteEntry<Warp>(job, query);
  if constexpr (kStores) StoreObjects<Warp, kWords>(warp, job, query, placed);
  if (i >= job.count) return;
  if (kTasks != kRunSearch) job.result[i] = static_cast<u8>(query.result);
  // The results that earlier stages left for other queries stay.
  if (kTasks == kRunRead || query.wanted == kWantsNothing) return;
  if (kReads && job.sparse_entries != 0 && query.result == kResultRead && !query.is_noted &&
      !task::IsInNoteRow(job.note_row, i))
    return;
  if (job.word != nullptr) Warp::StoreOnce(job.word + i, query.word);
  if (job.position != nullptr) Warp::StoreOnce(job.position + i, query.position);
}

}  // namespace weft::processor::tile
