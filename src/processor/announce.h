// processor/announce.h: a change that is stopped in the middle, as by a device that dies there: for
// drills and tests.
//
// Threads   as the tasks of task/query_job.h.
#pragma once

#include "task/query_job.h"

namespace weft::processor {

// Carries a change of query `i` as far as just before it takes effect: it is announced, and with
// `enters` the tentative word of a new key is in the index (task::InsertTask, task::DeleteTask).
// Nothing where the job does not get so far with it.
inline void AnnounceChange(const task::QueryJob& query, uint32_t i, bool enters) {
  const bool stores = query.wanted[i] == kWantsStore && (query.tasks & kRunInsert) != 0;
  const bool deletes = query.wanted[i] == kWantsDelete && (query.tasks & kRunDelete) != 0;
  if (!stores && !deletes) return;
  task::CompareOne(query.index, query.log, query.columns, i);
  const bool is_growing = query.index.newer.buckets != nullptr;
  if (query.columns.word[i] != 0) {
    if (stores || !is_growing) query.result[i] = stores ? kResultStored : kResultDeleted;
  } else if (stores && !is_growing) {
    query.result[i] = kResultStored;
    const uint64_t hash = query.columns.hash[i];
    uint64_t victim = 0;
    if (enters)
      task::PlaceWord(query.index, query.index.older, query.log, hash, task::EnteringWord(query, i),
                      false, &victim);
  }
}

}  // namespace weft::processor
