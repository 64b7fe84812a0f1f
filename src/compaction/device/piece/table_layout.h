// compaction/device/piece/table_layout.h: which table each block goes into, and where it stands
// there.
//
// A table ends with the block that reaches the job's size, before a key that the grandparents' rule
// names, or with the job. Blocks depend on that only through the grandparents' rule. So the host
// finds the ends once block sizes are known, with one addition a block.
//
// Threads   one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "compaction/device/kernel/pack_kernels.h"
#include "compaction/job.h"

namespace weft::compaction::device {

struct PackedBlock {
  uint32_t first = 0;          // entry
  uint32_t bytes = 0;          // uncompressed
  uint64_t stored_bytes = 0;   // as it will stand in the file, without trailer
  bool is_cut_behind = false;  // the grandparents' rule ends a table behind it
};

// Blocks that lie one behind the other in one table.
struct TablePart {
  size_t first = 0;
  size_t end = 0;
  uint64_t offset = 0;  // where the first one begins in the table's file
  uint64_t bytes = 0;   // as stored, with trailers
  bool begins_table = false;
  bool ends_table = false;
};

// The part of each table among the blocks.
std::vector<TablePart> PartsOf(const std::vector<BlockPlace>& places);

class TableLayout {
 public:
  // The job must outlive this.
  explicit TableLayout(const Job& job) : job_(job) {}

  // Places the next blocks. If more will follow (!are_last), the last ones whose filter may get
  // more keys are left out: they must be given again. Returns the places of the settled ones.
  std::vector<BlockPlace> Place(const std::vector<PackedBlock>& blocks, bool are_last);

 private:
  const Job& job_;
  uint64_t offset_ = 0;  // where the next block begins in its table
};

}  // namespace weft::compaction::device
