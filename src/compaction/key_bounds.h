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

// The job's key range, as views into it.
UserKeyRange RangeOfJob(const Job& job);
// Bytes of all its tables.
uint64_t BytesOfJob(const Job& job);

// Neighbouring blocks of some table. The user key lies in their middle, so that the errors of a
// bound about cancel out: too little counts as before it in one table, too much in another.
struct KeyStretch {
  std::string user_key;
  uint64_t bytes;
};

// Where parts end, ascending, without repeats: fewer than parts_max, and so few that each part has
// about part_bytes_min or more.
std::vector<std::string> FindKeyBounds(const Job& job, std::vector<KeyStretch> stretches,
                                       uint64_t parts_max, uint64_t part_bytes_min);

}  // namespace weft::compaction
