// processor/cuda/tile_tasks.h: the tuned form of task::RunQuery: 32 queries by the lanes of a warp,
// any mix of reads, stores and deletes in one pass.
//
// Cost      a read that hits: 1.3 bucket lines on average, the lines of its object, its record
//           written once. A store of a new key: two bucket lines, one compare-and-swap, the object
//           written once.
#pragma once

#include "processor/cuda/tile_read.h"
#include "processor/cuda/tile_store.h"

namespace weft::processor::tile {

// Query i of the lane, which is base + lane for a base that is a multiple of 32.
// kWords: 8-byte words of every key, where all have as many; 0: any lengths.
// kTasks: kRun... that the job may want; leaving some out makes a smaller kernel.
template <class Warp, u32 kWords, u32 kTasks>
WEFT_LANE_FN void RunGroup(const Warp& warp, const TableJob& job, u32 i) {
  constexpr bool kCompares = (kTasks & kRunCompare) != 0;
  constexpr bool kReads = (kTasks & kRunRead) != 0;
  constexpr bool kStores = (kTasks & kRunInsert) != 0;
  constexpr bool kDeletes = (kTasks & kRunDelete) != 0;
  Query query = BeginQuery<Warp>(job, i);
  // A batch of stores alone mostly brings new keys, which need both buckets.
  SearchBoth(warp, job, query, kStores && !kReads && !kDeletes);
  if constexpr (kCompares) {
    // Acquire: the objects' bytes are those that their entries were published with.
    if constexpr (kStores) warp.Fence();
    const u64 head = Confirm<Warp, kWords>(job, query);
    if (query.wanted == kWantsRead) query.result = query.word != 0 ? kResultFound : kResultMissed;
    if constexpr (kReads) ReadValues(warp, job, query, head);
    if constexpr (kDeletes) DeleteEntry<Warp>(job, query);
    if constexpr (kStores) StoreObjects<Warp, kWords>(warp, job, query);
  }
  if (i >= job.count) return;
  if (kCompares) job.result[i] = static_cast<u8>(query.result);
  if (job.word != nullptr) Warp::StoreOnce(job.word + i, query.word);
  if (job.position != nullptr) Warp::StoreOnce(job.position + i, query.position);
}

}  // namespace weft::processor::tile
