// compaction/device/table_assembler.h: puts packed pieces into files, and tables' ends behind them.
//
// What a piece has of a table goes to its file in one write, or the device writes most of it by
// itself. Several tables of a piece are written,
// ended and read back at once, as the crew has threads; the next piece comes when all are done, for
// its memory is the last one's.
//
// Threads   one thread at a time, and its crew; but for what BeginTables says.
// Errors    as compaction/output_files.h says: the first table's.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/crew.h"
#include "compaction/device/packed_piece.h"
#include "compaction/device/table_end_maker.h"
#include "compaction/output_files.h"

namespace weft::compaction::device {

class TableAssembler {
 public:
  // What is given must outlive this.
  TableAssembler(const Job& job, const JobHost& host, JobStorage* storage)
      : job_(job), files_(job, host), storage_(*storage) {}

  // Where files are written in place: begins the tables that begin in the piece, and says where in
  // their files its parts go; piece->begun where that failed. Of pieces in their order; any thread
  // while another adds those before.
  void BeginTables(PackedPiece* piece);
  // The next piece of the job, which is ready.
  Status Add(const PackedPiece& piece, base::Crew* crew);
  OutputFiles* files() { return &files_; }

 private:
  struct OpenTable {
    size_t number = 0;  // of files_
    std::unique_ptr<TableEndMaker> end;
  };
  // What is to be written of a part.
  struct Part {
    OpenTable table;
    const TablePart* blocks = nullptr;
    const PackedPart* data = nullptr;  // null: it is there
    std::string_view largest;          // of a table that ends
  };
  // Tables that are open at once: a file each.
  static constexpr size_t kPartsMax = 64;

  Status BeginPart(const PackedPiece& piece, size_t* begun, PackedPart* part);
  Result<OpenTable> Open(const PackedPart& part, std::string_view smallest);
  Status WriteParts(const PackedPiece& piece, base::Crew* crew);
  Status Write(const PackedPiece& piece, Part* part);
  Status WriteData(const PackedPiece& piece, const PackedPart& part, WritableFile* file);
  bool IsWrittenByDevice(const PackedPiece& piece, const PackedPart& part, WritableFile* file);

  const Job& job_;
  OutputFiles files_;
  JobStorage& storage_;
  std::vector<Part> parts_;  // that are to be written
  std::optional<OpenTable> open_;
  std::optional<size_t> placed_;  // of files_: the one that BeginTables has left open
  Status placing_;                // its first error, which stays
  std::vector<std::unique_ptr<TableEndMaker>> makers_;  // that no open table has
};

}  // namespace weft::compaction::device
