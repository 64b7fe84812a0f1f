// bench/durable/merge_input.h: the tables on which our own compactions are measured.
//
// Threads: pure, except for the files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/store/store.h"
#include "bench/workload/record.h"
#include "compaction/job.h"

namespace weft::bench {

struct MergeInput {
  std::vector<std::vector<compaction::JobTable>> runs;  // as a job wants them: newest first
  uint64_t bytes = 0;                                   // of the files
  uint64_t tables = 0;
};

// LevelDB's own tables in `dir`; `tables` names them level by level (StoreFigures). They may be
// merged as long as nobody has the store open.
Result<MergeInput> TablesOfLevelDb(const std::string& dir, const std::string& tables);

struct RunShape {
  uint64_t keys = 0;
  uint64_t run_bytes = 64u << 20;  // keys and values in one run
  uint64_t seed = 0;
  StoreCompression compression = StoreCompression::kNone;
  int bloom_bits = 10;
};

// Writes what random writes leave without compaction: overlapping tables of run_bytes each. There
// are `keys` writes in all, with the keys of a WritePass of that seed. `dir` is made.
Result<MergeInput> WriteRuns(const std::string& dir, const RunShape& shape,
                             const RecordFormat& records);

}  // namespace weft::bench
