#include "compaction/device/piece/piece_plan.h"

#include <algorithm>
#include <utility>

#include "compaction/key_bounds.h"

namespace weft::compaction::device {

namespace {

// Of each piece this many stretches of blocks are looked at, so that pieces differ by some
// hundredths.
constexpr uint64_t kStretchesInPiece = 64;

}  // namespace

Result<std::unique_ptr<PiecePlan>> PiecePlan::Make(const Job& job, uint64_t piece_bytes,
                                                   base::Crew* crew) {
  std::unique_ptr<PiecePlan> plan(new PiecePlan(job));  // freed by the pointer
  Status status = plan->ReadIndexes(crew);
  if (!status.ok()) return status;
  plan->ChooseBounds(piece_bytes);
  return plan;
}

Status PiecePlan::ReadIndexes(base::Crew* crew) {
  std::vector<IndexedTable*> all;
  runs_.resize(job_.runs.size());
  for (size_t run = 0; run < runs_.size(); run++) {
    std::vector<IndexedTable>& tables = runs_[run].tables;
    tables.resize(job_.runs[run].size());
    for (size_t i = 0; i < tables.size(); i++) {
      tables[i].table = &job_.runs[run][i];
      all.push_back(&tables[i]);
    }
  }
  inputs_.resize(all.size());
  std::vector<Status> read(all.size());
  crew->ForEach(all.size(),
                [&](size_t i) { read[i] = ReadIndex(static_cast<uint32_t>(i), all[i]); });
  for (size_t i = 0; i < all.size(); i++) {
    if (!read[i].ok()) return read[i];
    bytes_read_ += inputs_[i]->bytes_read();
  }
  return Status::Ok();
}

Status PiecePlan::ReadIndex(uint32_t number, IndexedTable* table) {
  Result<std::unique_ptr<TableInput>> opened =
      TableInput::Open(job_, *table->table, RangeOfJob(job_));
  if (!opened) return opened.error();
  inputs_[number] = std::move(*opened);
  TableInput* const input = inputs_[number].get();
  for (;;) {
    IndexedBlock block{};
    block.block.table = number;
    Result<bool> more = input->NextHandle(&block.block.handle);
    if (!more) return more.error();
    if (!*more) return Status::Ok();
    const std::string_view separator = input->separator();
    block.is_short = separator.size() < table::kTrailerBytes;
    const std::string_view user_key = block.is_short ? "" : table::UserKey(separator);
    block.separator_at = table->separators.size();
    block.separator_bytes = static_cast<uint32_t>(user_key.size());
    table->separators += user_key;
    table->blocks.push_back(block);
  }
}

void PiecePlan::ChooseBounds(uint64_t piece_bytes) {
  const uint64_t stretch_bytes_min = piece_bytes / kStretchesInPiece;
  std::vector<KeyStretch> stretches;
  uint64_t total = 0;
  for (const IndexedRun& run : runs_) {
    uint64_t bytes = 0;
    for (const IndexedTable& table : run.tables) {
      for (const IndexedBlock& block : table.blocks) {
        bytes += block.block.handle.bytes;
        if (bytes <= stretch_bytes_min || block.is_short) continue;
        stretches.push_back({std::string(Separator(table, block)), bytes});
        total += bytes;
        bytes = 0;
      }
    }
  }
  bounds_ = FindKeyBounds(job_, std::move(stretches), total / piece_bytes + 1, 1);
}

// As TableInput has it: whether all keys of the block lie before `bound`.
bool PiecePlan::EndsBefore(const IndexedTable& table, size_t number,
                           const std::optional<std::string>& bound) const {
  if (!bound.has_value()) return false;
  const IndexedBlock& block = table.blocks[number];
  return block.is_short || job_.comparator->CompareUser(Separator(table, block), *bound) < 0;
}

// Of a table, by the ends that the job says it has. Keys without a trailer lie before all bounds.
bool PiecePlan::EndsBefore(const JobTable& table, const std::optional<std::string>& bound) const {
  return bound.has_value() && table.largest.size() >= table::kTrailerBytes &&
         job_.comparator->CompareUser(table::UserKey(table.largest), *bound) < 0;
}
bool PiecePlan::BeginsBehind(const JobTable& table, const std::optional<std::string>& bound) const {
  return bound.has_value() && table.smallest.size() >= table::kTrailerBytes &&
         job_.comparator->CompareUser(table::UserKey(table.smallest), *bound) >= 0;
}

// A separator at a table's end may lie beyond keys of the next table, which are asked for, too.
// Where the job says that the table ends within the piece, what is behind it in its last block
// belongs to no other piece: it counts as outside, and the CPU does the job.
void PiecePlan::TakeBlocks(Piece* piece, IndexedTable* table, Piece::Run* run) const {
  size_t& at = table->next;
  for (; at < table->blocks.size() && EndsBefore(*table, at, piece->first); at++) {
    if (!is_first_piece() && !table->next_is_taken) piece->has_lost_blocks = true;
    table->next_is_taken = false;
  }
  for (; at < table->blocks.size(); at++, table->next_is_taken = false) {
    if (run->blocks.empty()) run->begins_before = is_first_piece() || table->next_is_taken;
    run->blocks.push_back(table->blocks[at].block);
    table->next_is_taken = true;
    const bool may_reach_beyond = piece->end.has_value() && !EndsBefore(*table, at, piece->end);
    run->reaches_beyond =
        may_reach_beyond && (is_last_piece() || !EndsBefore(*table->table, piece->end));
    if (may_reach_beyond) return;  // the next piece may begin in this block
  }
}

// Leaves the tables behind that end before the piece: all of their blocks have been taken. What the
// job says of their ends is not believed at the job's own ends, where no other piece would miss
// blocks.
void PiecePlan::PassTables(Piece* piece, IndexedRun* run) const {
  if (is_first_piece()) return;
  for (; run->next < run->tables.size(); run->next++) {
    const IndexedTable& table = run->tables[run->next];
    if (!EndsBefore(*table.table, piece->first)) return;
    const size_t taken = table.next + (table.next_is_taken ? 1 : 0);
    if (taken < table.blocks.size()) piece->has_lost_blocks = true;
  }
}

Piece PiecePlan::NextPiece() {
  Piece piece;
  piece.first = next_piece_ == 0 ? job_.first_user_key : bounds_[next_piece_ - 1];
  piece.end = next_piece_ == bounds_.size() ? job_.end_user_key : bounds_[next_piece_];
  next_piece_++;
  for (IndexedRun& indexed : runs_) {
    Piece::Run& run = piece.runs.emplace_back();
    PassTables(&piece, &indexed);
    for (size_t i = indexed.next; i < indexed.tables.size(); i++) {
      if (!is_last_piece() && BeginsBehind(*indexed.tables[i].table, piece.end)) break;
      TakeBlocks(&piece, &indexed.tables[i], &run);
    }
    for (const PieceBlock& block : run.blocks) piece.bytes += block.handle.bytes;
  }
  return piece;
}

}  // namespace weft::compaction::device
