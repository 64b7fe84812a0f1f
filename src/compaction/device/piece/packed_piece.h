// compaction/device/piece/packed_piece.h: what a device has made of a piece, on the host: all the
// parts of its tables' files.
//
// Threads   a value.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compaction/device/device_storage.h"
#include "compaction/device/kernel/pack_kernels.h"
#include "compaction/device/piece/table_layout.h"
#include "table/output_buffer.h"
#include "weft/status.h"

namespace weft::compaction::device {

struct PackedFilter {
  uint64_t window = 0;  // in the block's table
  uint32_t block = 0;   // the first block that begins in the window
  uint64_t at = 0;      // in filter_bytes
  uint64_t bytes = 0;

  friend bool operator==(const PackedFilter&, const PackedFilter&) = default;
};

// Two computations of the same piece differ.
inline Status TwoAnswers() {
  return {Code::kCorruption, "a device gave two different results for one piece"};
}

// The part of a piece that goes into one table.
struct PackedPart {
  TablePart blocks;
  char* room = nullptr;  // where the part's bytes go: into PackedPiece::data, or its file
  // If the device writes most of it by itself: the bytes before that, which begins and ends with a
  // page of the file; its bytes; and its place in PackedPiece::storage_range. It has room in
  // `room`, too, in case the device can't write it.
  uint64_t head_bytes = 0;
  uint64_t direct_bytes = 0;
  uint64_t direct_at = 0;
  // If the file system lets its files be written in place:
  bool is_in_place = false;
  size_t table = 0;  // of OutputFiles
};

struct PackedPiece {
  // Null: any memory of the host's; no storage.
  explicit PackedPiece(base::BufferMemory* memory = nullptr, DeviceStorage* storage = nullptr)
      : data(memory), storage_range(storage), index_bytes(memory), filter_bytes(memory) {}

  std::vector<BlockPlace> places;  // by block
  std::vector<uint32_t> entries;   // by block
  std::vector<PackedPart> parts;
  table::OutputBuffer data;  // the blocks as stored, with trailers, if parts have rooms in it;
                             // empty if the parts are in place
  StorageRange storage_range;
  std::vector<uint64_t> index_at;  // by block, one more at the end: its index entry in index_bytes
  table::OutputBuffer index_bytes;
  std::vector<PackedFilter> filters;
  table::OutputBuffer filter_bytes;
  // Waits until rooms, index_bytes and filter_bytes are filled; empty: they are.
  std::function<Status()> ready;
  Status begun;  // whether tables could be begun, if that was tried
  // In order: the first key of each table that begins here, the last key of each that ends here.
  std::vector<std::string> smallest;
  std::vector<std::string> largest;

  // If the piece is computed twice, for all blocks, not only those in `places`: the checksum of the
  // uncompressed block, and its bytes as stored.
  std::vector<uint32_t> checksums;
  std::vector<uint64_t> stored_bytes;

  uint64_t entries_read = 0;
  uint64_t entries_dropped = 0;
  uint64_t entries_ended = 0;
  uint64_t entries_unparsed = 0;

  // Whether both were made of one piece; `data` is not compared, because one of them has none.
  // REQUIRES: both are ready
  bool IsLike(const PackedPiece& other) const {
    return places == other.places && entries == other.entries && checksums == other.checksums &&
           index_at == other.index_at && index_bytes.From(0) == other.index_bytes.From(0) &&
           filters == other.filters && filter_bytes.From(0) == other.filter_bytes.From(0) &&
           smallest == other.smallest && largest == other.largest &&
           entries_read == other.entries_read && entries_dropped == other.entries_dropped &&
           entries_ended == other.entries_ended && entries_unparsed == other.entries_unparsed;
  }
  // Empty again; keeps its memory.
  void Clear() {
    for (auto* const bytes : {&data, &index_bytes, &filter_bytes}) bytes->Clear();
    ready = nullptr;
    begun = Status::Ok();
    places.clear();
    entries.clear();
    parts.clear();
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
