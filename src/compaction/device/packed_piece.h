// compaction/device/packed_piece.h: what a device has made of a piece, on the host: all that its
// tables' files are put together from.
//
// Threads   a value.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compaction/device/pack_kernels.h"
#include "table/output_buffer.h"
#include "weft/status.h"

namespace weft::compaction::device {

struct PackedFilter {
  uint64_t window = 0;  // in the block's table
  uint32_t block = 0;   // the first that begins in the window
  uint64_t at = 0;      // in filter_bytes
  uint64_t bytes = 0;
};

struct PackedPiece {
  explicit PackedPiece(table::BufferMemory* memory = nullptr) : data(memory) {}

  std::vector<BlockPlace> places;      // by block
  std::vector<uint32_t> entries;       // by block
  table::OutputBuffer data;            // the blocks as stored, with trailers, one after the other
  std::function<Status()> data_ready;  // waits until `data` is there; empty: it is
  std::vector<uint64_t> index_at;  // by block, one more at the end: its index entry in index_bytes
  std::string index_bytes;
  std::vector<PackedFilter> filters;
  std::string filter_bytes;
  // In order: the first key of each table that begins here, the last key of each that ends here.
  std::vector<std::string> smallest;
  std::vector<std::string> largest;

  uint64_t entries_read = 0;
  uint64_t entries_dropped = 0;
  uint64_t entries_ended = 0;
  uint64_t entries_unparsed = 0;

  // Empty again, with the room that it has.
  void Clear() {
    for (auto* const bytes : {&index_bytes, &filter_bytes}) bytes->clear();
    data.Clear();
    data_ready = nullptr;
    places.clear();
    entries.clear();
    index_at.clear();
    filters.clear();
    smallest.clear();
    largest.clear();
    entries_read = entries_dropped = entries_ended = entries_unparsed = 0;
  }
};

}  // namespace weft::compaction::device
