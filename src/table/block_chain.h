// table/block_chain.h: which of the blocks that a search has found were one table.
//
// A table's blocks lie one behind the other, and so do their keys. Blocks of another table may lie
// between them, where a value holds one; then both cannot be had, and the table is what most of the
// file's bytes belong to.
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

// Of `blocks`, by where they begin, those that have the most bytes among all choices in which each
// begins behind the end of the one before, and its keys come after that one's keys. In order.
std::vector<size_t> HeaviestChain(const KeyOrder& order, const std::vector<FoundBlock>& blocks);

}  // namespace weft::table
