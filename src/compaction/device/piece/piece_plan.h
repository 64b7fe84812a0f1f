// compaction/device/piece/piece_plan.h: divides a job into pieces that a device does one after the
// other.
//
// A piece is a range of user keys and the blocks that hold them: of each run blocks that lie one
// behind the other, of which the first and the last may hold keys of the neighbouring pieces, too.
// Those are read twice; all else is read once.
//
// Threads   one thread at a time; but any may read the files at once.
// Errors    those of reading footers and index blocks (compaction/table_input.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/crew.h"
#include "compaction/job.h"
#include "compaction/table_input.h"

namespace weft::compaction::device {

struct PieceBlock {
  uint32_t table = 0;  // PiecePlan::file
  table::BlockHandle handle;
};

struct Piece {
  // User keys in [first, end); none: no bound.
  std::optional<std::string> first;
  std::optional<std::string> end;
  // By run of the job. Only a run's first block may hold keys before the range, and only where it
  // begins before; only its last one keys behind it, and only where it reaches beyond.
  struct Run {
    std::vector<PieceBlock> blocks;
    bool begins_before = false;
    bool reaches_beyond = false;
  };
  std::vector<Run> runs;
  // Blocks are in no piece: the ends of tables are not what the job says, and keys would be lost.
  bool has_lost_blocks = false;
  uint64_t bytes = 0;  // of its blocks as stored
};

class PiecePlan {
 public:
  // Reads the footers and index blocks of all tables, several at once as the crew has threads.
  // Pieces have piece_bytes or about that. The job must outlive this. REQUIRES: piece_bytes > 0
  static Result<std::unique_ptr<PiecePlan>> Make(const Job& job, uint64_t piece_bytes,
                                                 base::Crew* crew);

  size_t pieces() const { return bounds_.size() + 1; }
  // Pieces in their order. REQUIRES: called no more than pieces() times
  Piece NextPiece();
  const table::BlockFile& file(uint32_t table) const { return inputs_[table]->file(); }
  // Of footers and index blocks.
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct IndexedBlock {
    PieceBlock block;
    uint64_t separator_at;  // in the table's; user key
    uint32_t separator_bytes;
    bool is_short;  // the separator has no trailer: it is below all bounds
  };
  struct IndexedTable {
    const JobTable* table = nullptr;
    std::vector<IndexedBlock> blocks;
    std::string separators;
    size_t next = 0;             // the next piece's first, or one that ends before it
    bool next_is_taken = false;  // by a piece before
  };
  struct IndexedRun {
    std::vector<IndexedTable> tables;
    size_t next = 0;  // as of blocks
  };

  explicit PiecePlan(const Job& job) : job_(job) {}
  Status ReadIndexes(base::Crew* crew);
  Status ReadIndex(uint32_t number, IndexedTable* table);
  void ChooseBounds(uint64_t piece_bytes);
  static std::string_view Separator(const IndexedTable& table, const IndexedBlock& block) {
    return std::string_view(table.separators).substr(block.separator_at, block.separator_bytes);
  }
  // Of the piece that NextPiece makes.
  bool is_first_piece() const { return next_piece_ == 1; }
  bool is_last_piece() const { return next_piece_ == pieces(); }
  // Of the table's block `number`.
  bool EndsBefore(const IndexedTable& table, size_t number,
                  const std::optional<std::string>& bound) const;
  bool EndsBefore(const JobTable& table, const std::optional<std::string>& bound) const;
  bool BeginsBehind(const JobTable& table, const std::optional<std::string>& bound) const;
  void TakeBlocks(Piece* piece, IndexedTable* table, Piece::Run* run) const;
  void PassTables(Piece* piece, IndexedRun* run) const;

  const Job& job_;
  std::vector<std::unique_ptr<TableInput>> inputs_;
  std::vector<IndexedRun> runs_;
  std::vector<std::string> bounds_;
  size_t next_piece_ = 0;
  uint64_t bytes_read_ = 0;
};

}  // namespace weft::compaction::device
