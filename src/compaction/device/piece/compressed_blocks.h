// compaction/device/piece/compressed_blocks.h: what the host makes of a piece's blocks where tables
// are compressed.
//
// What a compressor makes of a block is no part of the format, and these are the bytes that the
// CPU's executor writes: so blocks are compressed here, by as many threads as there are.
//
// Threads   one thread at a time, and its crew.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/crew.h"
#include "compaction/device/piece/table_layout.h"
#include "table/compress.h"
#include "table/output_buffer.h"
#include "weft/status.h"

namespace weft::compaction::device {

class CompressedBlocks {
 public:
  explicit CompressedBlocks(const table::TableFormat& format)
      : kind_(format.compression), zstd_level_(format.zstd_level) {}

  // Blocks lie in `raw` one behind the other, with trailers: finds their stored_bytes. `checks`:
  // false where a block has not the checksum behind it.
  bool Make(std::string_view raw, bool checks, base::Crew* crew, std::vector<PackedBlock>* blocks);
  // The first `bytes` of what was made, with trailers. REQUIRES: they end with a block
  void CopyTo(char* to, uint64_t bytes, base::Crew* crew) const;

 private:
  // Blocks that one thread takes.
  static constexpr size_t kBlocksOfShare = 64;

  struct Share {
    size_t first = 0;
    size_t end = 0;
    uint64_t at = 0;  // in raw
    bool is_sound = true;
    table::OutputBuffer made;
  };

  void MakeShare(std::string_view raw, bool checks, std::vector<PackedBlock>* blocks,
                 Share* share) const;

  const Compression kind_;
  const int zstd_level_;
  std::vector<Share> shares_;  // beyond count_ with the room that they had
  size_t count_ = 0;
};

}  // namespace weft::compaction::device
