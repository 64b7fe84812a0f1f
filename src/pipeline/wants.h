// pipeline/wants.h: marks the queries of a batch that the stages before the last may carry out.
//
// Those stages run the queries in any order, all at once. So they get only plain queries whose key
// no other query of the batch writes. The last stage runs the others one after the other in the
// batch's order, and so sees every write before them. "No other query" is judged by a byte a hash,
// so it may err on the safe side: two keys that share a byte wait for each other.
//
// Threads   one at a time.
// Cost      two passes over the batch, and a look into the table of bytes for each query. The table
//           fits a second-level cache and is written if there are commands. A batch of only plain
//           reads, none of which waits, costs nothing.
// Source    the order within a batch: docs/references.md, trap 7.
#pragma once

#include <span>
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
  struct Change {
    uint32_t query;
    // Before it, from its source: reads that show a value, and commands that rewrite their item.
    uint32_t reads_before, rewrites_before;
  };

  uint8_t& MarkOf(uint64_t hash) { return marks_[(hash >> 20) & mask_]; }
  std::span<Change> changes() { return {changes_.data(), changes_count_}; }
  void MarkWritten(const Batch& batch);
  void MarkReads(Batch* batch, uint32_t begin, uint32_t end);
  uint8_t WantOfCommand(Batch* batch, const Change& change, const cache::Session& session,
                        uint32_t tasks);

  uint64_t mask_;
  std::vector<uint8_t> marks_;   // by hash; 0: nobody writes it; all 0 between batches
  std::vector<Change> changes_;  // the batch's commands: the first changes_count_
  size_t changes_count_ = 0;
  int64_t reply_bytes_max_ = 0;
  // By source, so far.
  std::vector<uint32_t> reads_before_, rewrites_before_;
};

}  // namespace weft::pipeline
