// compaction/device/table_assembler.h: puts packed pieces into files, and tables' ends behind them.
//
// What a piece has of a table goes to its file in one write. Several tables of a piece are written,
// ended and read back at once, as the crew has threads; the next piece comes when all are done, for
// its memory is the last one's.
//
// Threads   one thread at a time, and its crew.
// Errors    as compaction/output_files.h says: the first table's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/crew.h"
#include "compaction/device/packed_piece.h"
#include "compaction/output_files.h"
#include "table/compress.h"
#include "table/output_buffer.h"

namespace weft::compaction::device {

class TableAssembler {
 public:
  // What is given must outlive this.
  TableAssembler(const Job& job, const JobHost& host);

  // Where files are written in place: begins the tables that begin in the piece, and says where in
  // their files its parts go; piece->begun where that failed. Of pieces in their order; any thread
  // while another adds those before.
  void BeginTables(PackedPiece* piece);
  // The next piece of the job, which is ready.
  Status Add(const PackedPiece& piece, base::Crew* crew);
  OutputFiles* files() { return &files_; }

 private:
  // What is to be written of a part.
  struct Part {
    size_t table = 0;       // of files_
    std::string_view data;  // of the piece; empty: it is there
    // Where the table ends:
    bool is_last = false;
    table::OutputBuffer end;  // what follows its data blocks
    std::string_view largest;
    uint64_t entries = 0;
    uint64_t file_bytes = 0;
  };
  // That are open at once: a file each.
  static constexpr size_t kPartsMax = 64;

  Status OpenTable(const PackedPart& part, std::string_view smallest);
  void AddBlocks(const PackedPiece& piece, const TablePart& part, size_t* filter);
  Status WriteParts(base::Crew* crew);
  Status Write(const Part& part);
  void AddIndexEntry(std::string_view entry);
  void AddFilter(uint64_t window, std::string_view filter);
  void EndTable(std::string_view largest, Part* part);
  std::string_view FinishIndex();
  std::string_view FinishFilter();

  const Job& job_;
  OutputFiles files_;
  table::BlockCompressor compressor_;
  std::vector<Part> parts_;  // that are to be written
  // Of the open table.
  std::optional<size_t> open_;    // of files_
  std::optional<size_t> placed_;  // the same, of BeginTables
  uint64_t data_bytes_ = 0;
  uint64_t entries_ = 0;
  table::OutputBuffer index_;
  std::vector<uint32_t> index_entries_at_;
  std::string filter_;
  std::vector<uint32_t> filters_at_;
};

}  // namespace weft::compaction::device
