// table/block_search.h: where blocks may lie in a file, judged only by their bytes.
//
// A block is a stretch of bytes followed by its compression and its checksum. One pass finds all of
// them, wherever they begin and whatever lies between them.
//
// Threads   pure.
// Cost      one pass over the file, whatever is damaged; then a search for each possible end of a
//           data block. Memory: 16 bytes for each place where one may begin or end; in ordinary
//           data, fewer than one byte in a hundred is such a place.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "table/format.h"

namespace weft::table {

// Larger blocks, which hold one large value, are not searched for.
inline constexpr size_t kSearchedBlockBytesMax = 64u << 20;

// Every stretch of `file` that is followed by its checksum, by their ends. It begins as a block
// does whose first key is an internal one, and ends as its compression requires. If many end in one
// place, which only happens on purpose, the shortest.
std::vector<BlockHandle> FindBlocks(std::string_view file);

}  // namespace weft::table
