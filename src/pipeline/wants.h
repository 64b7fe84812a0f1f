// pipeline/wants.h: which queries of a batch the stages before the last may carry out.
//
// Those stages run the queries in any order, all at once, so they get only queries whose key no
// other query of the batch writes; the others, and whatever is not plain, are left to the last
// stage, which runs them one after the other in the batch's order and so sees every write before
// them. "No other query" is judged by a byte a hash, so it may err on the safe side: two keys that
// share a byte wait for each other.
//
// Threads   one at a time.
// Cost      two passes over the batch, and the table of bytes, which fits a second-level cache; a
//           batch of plain reads alone, where nobody waits, none.
// Source    the order within a batch: prior-systems.md, trap 7.
#pragma once

#include <vector>

#include "cache/session.h"
#include "pipeline/batch.h"

namespace weft::pipeline {

class WantMarker {
 public:
  explicit WantMarker(uint32_t queries_max);

  // Fills in Batch::wanted. `tasks`: those of the stages before the last (kRun...).
  // REQUIRES: `session` is inside; objects and graves are placed as `tasks` needs them
  // (CpuStage::PlaceForStages).
  void Mark(Batch* batch, const cache::Session& session, uint32_t tasks);

 private:
  uint8_t& MarkOf(uint64_t hash) { return marks_[(hash >> 20) & mask_]; }
  void CountKeys(const Batch& batch);
  uint8_t WantOf(Batch* batch, uint32_t i, const cache::Session& session, uint32_t tasks);
  uint8_t WantOfCommand(Batch* batch, uint32_t i, const cache::Session& session, uint32_t tasks);

  uint64_t mask_;
  std::vector<uint8_t> marks_;          // by hash: queries, and whether one of them writes
  std::vector<uint32_t> reads_before_;  // by source: reads so far
};

}  // namespace weft::pipeline
