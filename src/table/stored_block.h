// table/stored_block.h: puts finished blocks into a table's file: compressed where that is better,
// with their trailers; and all that follows a table's data blocks.
//
// Layout    table/format.h.
// Threads   one thread at a time for a compressor and a buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "table/compress.h"
#include "table/format.h"
#include "table/output_buffer.h"

namespace weft::table {

// Completes the stored block that reaches from `start` to the end of *out. Returns its bytes,
// without the trailer.
uint64_t AppendBlockTrailer(size_t start, Compression stored_as, OutputBuffer* out);

// These return the bytes that the block has there, without the trailer.
uint64_t AppendBlockAsIs(std::string_view raw, OutputBuffer* out);
uint64_t AppendBlock(std::string_view raw, BlockCompressor* compressor, OutputBuffer* out);

// What a table's end is made of.
struct TableEnd {
  std::optional<std::string_view> filter;  // the filter block; none: the format has no filter
  std::string_view index;                  // the index block
  uint64_t offset = 0;                     // in the file, where the data blocks end
};
// Appends filter block, metaindex block, index block and footer, and returns their bytes.
uint64_t AppendTableEnd(const TableFormat& format, const TableEnd& end, BlockCompressor* compressor,
                        OutputBuffer* out);

}  // namespace weft::table
