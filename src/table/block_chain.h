// table/block_chain.h: which of the blocks that a search has found belong to one table.
//
// A table's blocks lie one behind the other, and their keys ascend. Blocks of another table may lie
// between them, inside a value. Then only one of the two can be had: the table with most of the
// file's bytes.
//
// Threads   pure.
// Cost      n log n comparisons of n blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "table/format.h"
#include "table/key_order.h"

namespace weft::table {

// A block that may be a table's.
struct FoundBlock {
  BlockHandle handle;
  std::string first_key;
  std::string last_key;  // not before the first
  uint64_t entries = 0;

  uint64_t end() const { return handle.offset + handle.bytes + kBlockTrailerBytes; }
};

// Chooses from `blocks`, sorted by where they begin. Each chosen one begins behind the end of the
// one before, and its keys follow that one's. Returns the choice with the most bytes, in order.
std::vector<size_t> HeaviestChain(const KeyOrder& order, const std::vector<FoundBlock>& blocks);

}  // namespace weft::table
