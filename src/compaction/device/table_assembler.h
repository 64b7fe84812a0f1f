// compaction/device/table_assembler.h: puts packed pieces into files, and tables' ends behind them.
//
// Threads   one thread at a time.
// Errors    as compaction/output_files.h says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compaction/device/packed_piece.h"
#include "compaction/output_files.h"
#include "table/compress.h"
#include "table/output_buffer.h"

namespace weft::compaction::device {

class TableAssembler {
 public:
  // What is given must outlive this.
  TableAssembler(const Job& job, const JobHost& host);

  // The next piece of the job.
  Status Add(const PackedPiece& piece);
  OutputFiles* files() { return &files_; }

 private:
  void AddIndexEntry(std::string_view entry);
  void AddFilter(uint64_t window, std::string_view filter);
  Status EndTable(std::string_view largest);
  std::string_view FinishIndex();
  std::string_view FinishFilter();

  const Job& job_;
  OutputFiles files_;
  table::BlockCompressor compressor_;
  // Of the open table.
  uint64_t data_bytes_ = 0;
  uint64_t entries_ = 0;
  table::OutputBuffer index_;
  std::vector<uint32_t> index_entries_at_;
  std::string filter_;
  std::vector<uint32_t> filters_at_;
};

}  // namespace weft::compaction::device
