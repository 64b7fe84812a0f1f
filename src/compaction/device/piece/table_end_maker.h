// compaction/device/piece/table_end_maker.h: what follows the data blocks of one table, from what a
// device has made of its blocks: filter block, index block, footer.
//
// Threads   one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compaction/device/piece/packed_piece.h"
#include "table/compress.h"
#include "table/output_buffer.h"

namespace weft::compaction::device {

class TableEndMaker {
 public:
  explicit TableEndMaker(const table::TableFormat& format)
      : format_(format), compressor_(format.compression, format.zstd_level) {}

  // The table's next blocks. REQUIRES: the piece is ready
  void Add(const PackedPiece& piece, const TablePart& part);
  // All of them are there: the bytes behind them, until Clear.
  std::string_view Finish();
  // Of the whole file, once it is finished; of its data blocks before.
  uint64_t file_bytes() const { return file_bytes_; }
  uint64_t entries() const { return entries_; }
  // For another table, with the room that it has.
  void Clear();

 private:
  void AddIndexEntry(std::string_view entry);
  void AddFilter(uint64_t window, std::string_view filter);
  std::string_view FinishIndex();
  std::string_view FinishFilter();

  const table::TableFormat& format_;
  table::BlockCompressor compressor_;
  uint64_t file_bytes_ = 0;
  uint64_t entries_ = 0;
  table::OutputBuffer index_;
  std::vector<uint32_t> index_entries_at_;
  std::string filter_;
  std::vector<uint32_t> filters_at_;
  table::OutputBuffer end_;
};

}  // namespace weft::compaction::device
