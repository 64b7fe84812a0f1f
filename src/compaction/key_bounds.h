// compaction/key_bounds.h: user keys that divide a job into parts of about the same size.
//
// Threads   pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compaction/job.h"
#include "compaction/table_input.h"

namespace weft::compaction {

// The job's own range, as views into it.
UserKeyRange RangeOfJob(const Job& job);
// Of all its tables.
uint64_t BytesOfJob(const Job& job);

// Blocks of some table in a row. The user key lies in their middle, so that what counts as before a
// bound is as much too little for one table as it is too much for another.
struct KeyStretch {
  std::string user_key;
  uint64_t bytes;
};

// Where parts end, ascending, none of them twice: fewer than parts_max, and as few as leave each
// part_bytes_min or about that.
std::vector<std::string> FindKeyBounds(const Job& job, std::vector<KeyStretch> stretches,
                                       uint64_t parts_max, uint64_t part_bytes_min);

}  // namespace weft::compaction
