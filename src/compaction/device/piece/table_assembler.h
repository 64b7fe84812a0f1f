// compaction/device/piece/table_assembler.h: puts packed pieces into files, and ends the tables.
//
// A piece's part of a table goes to its file in one write, or the device writes most of it by
// itself. Several tables of a piece are written, ended and read back at once, as the crew has
// threads. The next piece comes when all are done, because it uses the same memory.
//
// Threads   one thread at a time, and its crew, except as BeginTables says.
// Errors    as compaction/output_files.h says: the first table's.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/crew.h"
#include "compaction/device/piece/packed_piece.h"
#include "compaction/device/piece/table_end_maker.h"
#include "compaction/output_files.h"

namespace weft::compaction::device {

class TableAssembler {
 public:
  // The arguments must outlive this.
  TableAssembler(const Job& job, const JobHost& host, JobStorage* storage)
      : job_(job), files_(job, host), storage_(*storage) {}

  // If files are written in place: begins the tables that begin in the piece, and says where in
  // their files its parts go. If that failed, piece->begun says so. Pieces come in order; any
  // thread may call it while another adds earlier ones.
  void BeginTables(PackedPiece* piece);
  // The next piece of the job, which is ready.
  Status Add(const PackedPiece& piece, base::Crew* crew);
  OutputFiles* files() { return &files_; }

 private:
  struct OpenTable {
    size_t number = 0;  // of files_
    std::unique_ptr<TableEndMaker> end;
  };
  // A part that must be written.
  struct Part {
    OpenTable table;
    const TablePart* blocks = nullptr;
    const PackedPart* data = nullptr;  // null: it is in place already
    std::string_view largest;          // of a table that ends
  };
  // Tables that are open at once, each with a file.
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
  std::vector<Part> parts_;  // still to write
  std::optional<OpenTable> open_;
  std::optional<size_t> placed_;  // in files_: the one that BeginTables has left open
  Status placing_;                // its first error, which stays
  std::vector<std::unique_ptr<TableEndMaker>> makers_;  // free ones
};

}  // namespace weft::compaction::device
