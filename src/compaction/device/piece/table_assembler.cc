#include "compaction/device/piece/table_assembler.h"

#include <algorithm>
#include <utility>

namespace weft::compaction::device {

void TableAssembler::BeginTables(PackedPiece* piece) {
  size_t begun = 0;
  for (PackedPart& part : piece->parts) {
    if (placing_.ok()) placing_ = BeginPart(*piece, &begun, &part);
  }
  piece->begun = placing_;
}

Status TableAssembler::BeginPart(const PackedPiece& piece, size_t* begun, PackedPart* part) {
  if (part->blocks.begins_table) {
    Result<size_t> table = files_.Begin(piece.smallest[(*begun)++]);
    if (!table) return table.error();
    placed_ = *table;
  }
  part->table = *placed_;
  Result<char*> room = files_.file(part->table)->Extend(part->blocks.bytes);
  if (!room) return room.error();
  part->room = *room;
  part->is_in_place = true;
  return Status::Ok();
}

Result<TableAssembler::OpenTable> TableAssembler::Open(const PackedPart& part,
                                                       std::string_view smallest) {
  OpenTable table{.number = part.table, .end = nullptr};
  if (!part.is_in_place) {
    Result<size_t> begun = files_.Begin(smallest);
    if (!begun) return begun.error();
    table.number = *begun;
  }
  if (makers_.empty()) {
    table.end = std::make_unique<TableEndMaker>(job_.format);
  } else {
    table.end = std::move(makers_.back());
    makers_.pop_back();
  }
  return table;
}

Status TableAssembler::Add(const PackedPiece& piece, base::Crew* crew) {
  if (!piece.begun.ok()) return piece.begun;
  size_t begun = 0;
  size_t ended = 0;
  for (const PackedPart& packed : piece.parts) {
    const TablePart& blocks = packed.blocks;
    if (blocks.begins_table) {
      Result<OpenTable> table = Open(packed, piece.smallest[begun++]);
      if (!table) return table.error();
      open_ = std::move(*table);
    }
    Part& part = parts_.emplace_back();
    part.table = std::move(*open_);
    part.blocks = &blocks;
    if (!packed.is_in_place) part.data = &packed;
    if (blocks.ends_table) part.largest = piece.largest[ended++];
    if (parts_.size() < kPartsMax && &packed != &piece.parts.back()) continue;
    if (Status status = WriteParts(piece, crew); !status.ok()) return status;
  }
  return Status::Ok();
}

Status TableAssembler::WriteParts(const PackedPiece& piece, base::Crew* crew) {
  std::vector<Status> written(parts_.size());
  crew->ForEach(parts_.size(), [&](size_t i) { written[i] = Write(piece, &parts_[i]); });
  for (Part& part : parts_) {
    if (!part.blocks->ends_table) {
      open_ = std::move(part.table);
      continue;
    }
    part.table.end->Clear();
    makers_.push_back(std::move(part.table.end));
  }
  parts_.clear();
  const auto error =
      std::find_if(written.begin(), written.end(), [](const Status& each) { return !each.ok(); });
  return error == written.end() ? Status::Ok() : *error;
}

Status TableAssembler::WriteData(const PackedPiece& piece, const PackedPart& part,
                                 WritableFile* file) {
  const std::string_view data(part.room, part.blocks.bytes);
  if (part.direct_bytes == 0) return file->Append(data);
  Status status =
      part.head_bytes == 0 ? Status::Ok() : file->Append(data.substr(0, part.head_bytes));
  if (!status.ok()) return status;
  if (IsWrittenByDevice(piece, part, file))
    return file->Append(data.substr(part.head_bytes + part.direct_bytes));
  status = storage_.get()->CopyOut(part.room + part.head_bytes,
                                   piece.storage_range.data() + part.direct_at, part.direct_bytes);
  return status.ok() ? file->Append(data.substr(part.head_bytes)) : status;
}

bool TableAssembler::IsWrittenByDevice(const PackedPiece& piece, const PackedPart& part,
                                       WritableFile* file) {
  Result<DirectPlace> place = file->DirectEnd();
  if (!place) return false;
  Result<std::unique_ptr<DeviceStorage::File>> there = storage_.get()->Open(place->descriptor);
  if (!there) return false;
  if (!(*there)
           ->Write(place->offset, part.direct_bytes, piece.storage_range.data(), part.direct_at)
           .ok()) {
    return false;
  }
  file->AppendedDirect(part.direct_bytes);
  storage_.CountWritten(part.direct_bytes);
  return true;
}

Status TableAssembler::Write(const PackedPiece& piece, Part* part) {
  TableEndMaker* const end = part->table.end.get();
  WritableFile* const file = files_.file(part->table.number);
  end->Add(piece, *part->blocks);
  Status status = part->data == nullptr ? Status::Ok() : WriteData(piece, *part->data, file);
  if (!part->blocks->ends_table) return status;
  const std::string_view behind = end->Finish();
  if (status.ok()) status = file->Append(behind);
  return files_.End(part->table.number, std::move(status), part->largest, end->entries(),
                    end->file_bytes());
}

}  // namespace weft::compaction::device
