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

  friend bool operator==(const PackedFilter&, const PackedFilter&) = default;
};

// What was computed twice was not the same.
inline Status TwoAnswers() {
  return {Code::kCorruption, "a device has made two things of one piece"};
}

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

  // Where the piece is computed twice, of all blocks, not only those in `places`: the checksum of
  // the block uncompressed, and its bytes as stored.
  std::vector<uint32_t> checksums;
  std::vector<uint64_t> stored_bytes;

  uint64_t entries_read = 0;
  uint64_t entries_dropped = 0;
  uint64_t entries_ended = 0;
  uint64_t entries_unparsed = 0;

  // Whether both were made of one piece: but for `data`, of which one of them has none.
  bool IsLike(const PackedPiece& other) const {
    return places == other.places && entries == other.entries && checksums == other.checksums &&
           index_at == other.index_at && index_bytes == other.index_bytes &&
           filters == other.filters && filter_bytes == other.filter_bytes &&
           smallest == other.smallest && largest == other.largest &&
           entries_read == other.entries_read && entries_dropped == other.entries_dropped &&
           entries_ended == other.entries_ended && entries_unparsed == other.entries_unparsed;
  }
  // Empty again, with the room that it has.
  void Clear() {
    for (auto* const bytes : {&index_bytes, &filter_bytes}) bytes->clear();
    data.Clear();
    data_ready = nullptr;
    places.clear();
    entries.clear();
    checksums.clear();
    stored_bytes.clear();
    index_at.clear();
    filters.clear();
    smallest.clear();
    largest.clear();
    entries_read = entries_dropped = entries_ended = entries_unparsed = 0;
  }
};

}  // namespace weft::compaction::device
