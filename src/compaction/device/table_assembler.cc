#include "compaction/device/table_assembler.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/coding.h"
#include "table/filter_block_builder.h"
#include "table/stored_block.h"

namespace weft::compaction::device {

TableAssembler::TableAssembler(const Job& job, const JobHost& host)
    : job_(job), files_(job, host), compressor_(job.format.compression, job.format.zstd_level) {}

void TableAssembler::BeginTables(PackedPiece* piece) {
  size_t begun = 0;
  for (PackedPart& part : piece->parts) {
    if (part.blocks.begins_table) {
      Result<size_t> table = files_.Begin(piece->smallest[begun++]);
      if (!table) return piece->begun = table.error(), void();
      placed_ = *table;
    }
    part.table = *placed_;
    Result<char*> room = files_.file(part.table)->Extend(part.blocks.bytes);
    if (!room) return piece->begun = room.error(), void();
    part.room = *room;
  }
}

Status TableAssembler::OpenTable(const PackedPart& part, std::string_view smallest) {
  if (part.room != nullptr) {
    open_ = part.table;
    return Status::Ok();
  }
  Result<size_t> table = files_.Begin(smallest);
  if (!table) return table.error();
  open_ = *table;
  return Status::Ok();
}

// Their index entries and filters. *filter: the first that is not a block's before them.
void TableAssembler::AddBlocks(const PackedPiece& piece, const TablePart& part, size_t* filter) {
  const std::string_view filters = piece.filter_bytes.From(0);
  const std::string_view index = piece.index_bytes.From(0);
  for (size_t block = part.first; block < part.end; block++) {
    for (; *filter < piece.filters.size() && piece.filters[*filter].block == block; ++*filter) {
      const PackedFilter& made = piece.filters[*filter];
      AddFilter(made.window, filters.substr(made.at, made.bytes));
    }
    const uint64_t at = piece.index_at[block];
    AddIndexEntry(index.substr(at, piece.index_at[block + 1] - at));
    entries_ += piece.entries[block];
  }
  data_bytes_ += part.bytes;
}

Status TableAssembler::Add(const PackedPiece& piece, base::Crew* crew) {
  if (!piece.begun.ok()) return piece.begun;
  size_t filter = 0;
  size_t begun = 0;
  size_t ended = 0;
  uint64_t taken = 0;  // of piece.data
  for (const PackedPart& packed : piece.parts) {
    const TablePart& blocks = packed.blocks;
    if (blocks.begins_table) {
      Status status = OpenTable(packed, piece.smallest[begun++]);
      if (!status.ok()) return status;
    }
    AddBlocks(piece, blocks, &filter);
    Part& part = parts_.emplace_back();
    part.table = *open_;
    if (packed.room == nullptr) {
      part.data = piece.data.From(0).substr(taken, blocks.bytes);
      taken += blocks.bytes;
    }
    if (blocks.ends_table) EndTable(piece.largest[ended++], &part);
    if (parts_.size() < kPartsMax && &packed != &piece.parts.back()) continue;
    if (Status status = WriteParts(crew); !status.ok()) return status;
  }
  return Status::Ok();
}

Status TableAssembler::WriteParts(base::Crew* crew) {
  std::vector<Status> written(parts_.size());
  crew->ForEach(parts_.size(), [&](size_t i) { written[i] = Write(parts_[i]); });
  parts_.clear();
  const auto error =
      std::find_if(written.begin(), written.end(), [](const Status& each) { return !each.ok(); });
  return error == written.end() ? Status::Ok() : *error;
}

Status TableAssembler::Write(const Part& part) {
  WritableFile* const file = files_.file(part.table);
  Status status = part.data.empty() ? Status::Ok() : file->Append(part.data);
  if (!part.is_last) return status;
  if (status.ok()) status = file->Append(part.end.From(0));
  return files_.End(part.table, std::move(status), part.largest, part.entries, part.file_bytes);
}

void TableAssembler::AddIndexEntry(std::string_view entry) {
  index_entries_at_.push_back(static_cast<uint32_t>(index_.size()));
  index_.Append(entry);
}

// As FilterBlockBuilder: windows in which no block begins have empty filters.
void TableAssembler::AddFilter(uint64_t window, std::string_view filter) {
  filters_at_.resize(window + 1, static_cast<uint32_t>(filter_.size()));
  filter_ += filter;
}

void TableAssembler::EndTable(std::string_view largest, Part* part) {
  table::TableEnd end{.filter = {}, .index = FinishIndex(), .offset = data_bytes_};
  if (job_.format.filter != nullptr) end.filter = FinishFilter();
  part->is_last = true;
  part->file_bytes =
      data_bytes_ + table::AppendTableEnd(job_.format, end, &compressor_, &part->end);
  part->largest = largest;
  part->entries = entries_;
  open_.reset();
  data_bytes_ = 0;
  entries_ = 0;
  index_.Clear();
  index_entries_at_.clear();
  filter_.clear();
  filters_at_.clear();
}

std::string_view TableAssembler::FinishIndex() {
  std::string restarts;
  for (const uint32_t at : index_entries_at_) base::PutFixed32(&restarts, at);
  base::PutFixed32(&restarts, static_cast<uint32_t>(index_entries_at_.size()));
  index_.Append(restarts);
  return index_.From(0);
}

std::string_view TableAssembler::FinishFilter() {
  // Those of windows that the last block has left behind.
  const uint64_t passed = data_bytes_ >> table::kFilterWindowBits;
  filters_at_.resize(std::max<uint64_t>(filters_at_.size(), passed),
                     static_cast<uint32_t>(filter_.size()));
  const auto offsets_at = static_cast<uint32_t>(filter_.size());
  for (const uint32_t at : filters_at_) base::PutFixed32(&filter_, at);
  base::PutFixed32(&filter_, offsets_at);
  filter_.push_back(static_cast<char>(table::kFilterWindowBits));
  return filter_;
}

}  // namespace weft::compaction::device
