// table/block_search.h: where in a file blocks may lie, told by their bytes alone.
//
// A block is a stretch of bytes with its compression and its checksum behind it. All of them are
// found in one pass, wherever they begin and whatever lies between them.
//
// Threads   pure.
// Cost      one pass over the file, whatever is damaged; then a search for each place where a data
//           block's end may be. Memory: 16 bytes for each place where one may begin or end, which
//           of ordinary data are fewer than one in a hundred.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "table/format.h"

namespace weft::table {

// Larger blocks, which one large value makes, are not searched for.
inline constexpr size_t kSearchedBlockBytesMax = 64u << 20;

// Every stretch of `file` that has its checksum behind it, begins as a block does whose first key
// is an internal one, and ends as its compression says; by their ends. Of the many that end in one
// place, which only somebody who wants it so can make, the shortest.
std::vector<BlockHandle> FindBlocks(std::string_view file);

}  // namespace weft::table
