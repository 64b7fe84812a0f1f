// compaction/device/piece/piece_loader.h: the blocks of a piece, read into memory for the way to a
// device.
//
// Blocks that are uncompressed, or compressed by Snappy, are taken as they stand in the file,
// trailers included: the device checks and opens them. Others are checked and opened here. Blocks
// that lie one behind the other in a file are read together, up to kExtentBytes; several such
// extents at once, as the crew has threads.
// Where files lie in memory that the device copies from fastest, such blocks are not read at all:
// they go from where they are. Nor does the host read blocks where the device can read files
// (DeviceStorage) and the first one of the piece is uncompressed: it believes that all are. The
// device finds those that are not, and then has to be given the job without its storage.
//
// Threads   one thread at a time, and its crew.
// Errors    those of the files; kCorruption for blocks that end early, whose checksum differs or
//           that do not open; kUnsupported beyond kPieceBytesMax.
#pragma once

#include <cstdint>
#include <vector>

#include "base/crew.h"
#include "compaction/device/copies.h"
#include "compaction/device/device_storage.h"
#include "compaction/device/kernel/block_decode.h"
#include "compaction/device/piece/piece_plan.h"
#include "table/output_buffer.h"

namespace weft::compaction::device {

// A piece of more, uncompressed, is left to the CPU: many versions of one key, or an index that
// names blocks again and again.
inline constexpr uint64_t kPieceBytesMax = uint64_t{1} << 30;

inline constexpr uint64_t kExtentBytes = uint64_t{1} << 20;

struct LoadedPiece {
  // Null: any memory of the host's; no storage.
  explicit LoadedPiece(base::BufferMemory* memory = nullptr, DeviceStorage* storage = nullptr)
      : bytes(memory), storage_range(storage) {}

  std::vector<RangeIn> ranges;  // for the device, one behind the other: of `bytes`, or of files
  table::OutputBuffer bytes;
  table::OutputBuffer files;  // as read, where it seemed that not all goes to the device
  StorageRange storage_range;
  const char* on_device = nullptr;   // in storage_range: read by the device itself, no `ranges`
  std::vector<LoadedBlock> blocks;   // in what `ranges` name
  std::vector<uint32_t> run_blocks;  // by run, one more at the end: its first block
  uint64_t opened_bytes = 0;         // of blocks that the device opens
  uint64_t bytes_read = 0;           // of files
};

// memory: what the device copies from fastest; null: any.
Status LoadPiece(const PiecePlan& plan, const Piece& piece, base::Crew* crew,
                 const base::BufferMemory* memory, JobStorage* storage, LoadedPiece* loaded);

}  // namespace weft::compaction::device
