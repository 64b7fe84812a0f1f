// pipeline/prefetch.h: fetches lines ahead for a stage on the CPU, before its tasks look at them.
//
// WEFT_FN throughout: g++ drops a call of a function that only prefetches, as one without effect.
//
// Threads   any.
#pragma once

#include <algorithm>

#include "cache/session.h"
#include "cache/store.h"
#include "pipeline/batch.h"
#include "task/batch_tasks.h"

namespace weft::pipeline {

// What the group [begin, end) will look at first, except for queries that earlier stages have
// answered.
WEFT_FN void PrefetchUnanswered(const Batch& batch, const task::Columns& columns, uint32_t begin,
                                uint32_t end, uint32_t object_bytes,
                                const cache::Session& session) {
  if (!batch.searched() && batch.UnansweredEnd(begin, end) == end) {
    task::PrefetchBuckets(session.index(), columns, begin, end);
    return;
  }
  for (uint32_t i = begin; i < end; i++) {
    if (batch.result(i) > kResultFound) continue;
    const uint64_t word = batch.word(i);
    if (!batch.searched() || word == 0) {
      task::PrefetchBuckets(session.index(), columns, i, i + 1);
      continue;
    }
    // An earlier stage knows where the object lies that KC will look at.
    task::Prefetch(task::SlotAtPosition(session.index(), batch.position(i)));
    task::PrefetchObject(session.log(), task::SlotLocation(word), object_bytes);
  }
}

// The ghosts that the stores in [begin, end) look at when their objects are placed.
WEFT_FN void PrefetchGhosts(const Batch& batch, uint32_t begin, uint32_t end,
                            const cache::Ghosts& ghosts) {
  if (!batch.has_commands()) return;
  for (uint32_t i = begin; i < end; i++)
    if (batch.kind(i) == QueryKind::kCommand) ghosts.Prefetch(batch.hash(i));
}

// What the group of up to `queries` from `begin` on will look at before it is searched.
WEFT_FN void PrefetchGroup(Batch& batch, uint32_t begin, uint32_t queries,
                           cache::Session& session) {
  const cache::Store& store = session.store();
  if (!store.options().prefetch) return;
  const uint32_t end = std::min(batch.size(), begin + queries);
  PrefetchUnanswered(batch, batch.columns(), begin, end, store.expected_object_bytes(), session);
  PrefetchGhosts(batch, begin, end, session.store().ghosts());
}

}  // namespace weft::pipeline
