#include "compaction/device/piece_loader.h"

#include <string_view>

namespace weft::compaction::device {

namespace {

Status LoadBlock(const table::BlockFile& file, const table::BlockHandle& handle,
                 LoadedPiece* loaded, LoadedBlock* block) {
  if (handle.bytes > file.bytes || handle.offset > file.bytes - handle.bytes ||
      file.bytes - handle.bytes - handle.offset < table::kBlockTrailerBytes) {
    return table::BlockCorruption(file, handle.offset, "lies outside the file");
  }
  const uint64_t stored = handle.bytes + table::kBlockTrailerBytes;
  loaded->bytes_read += stored;
  block->at = loaded->bytes.size();
  char* const to = loaded->bytes.Reserve(stored);
  std::string_view read;
  Status status = file.file->Read(handle.offset, stored, &read, to);
  if (!status.ok()) return status;
  if (read.size() != stored) return table::BlockCorruption(file, handle.offset, "ends early");
  if (read[handle.bytes] == static_cast<char>(Compression::kNone)) {
    block->bytes = static_cast<uint32_t>(handle.bytes);
    block->is_stored = true;
    if (read.data() == to) {
      loaded->bytes.CommitTo(to + stored);
    } else {
      loaded->bytes.Append(read);
    }
    return Status::Ok();
  }
  Result<table::BlockContents> opened = table::ReadBlock(file, handle, true);
  if (!opened) return opened.error();
  block->bytes = static_cast<uint32_t>(opened->data.size());
  loaded->bytes.Append(opened->data);
  return Status::Ok();
}

}  // namespace

Status LoadPiece(const PiecePlan& plan, const Piece& piece, LoadedPiece* loaded) {
  loaded->bytes.Clear();
  loaded->blocks.clear();
  loaded->run_blocks.assign(1, 0);
  loaded->bytes_read = 0;
  const Status too_large(Code::kUnsupported, "a piece of the job is too large for a device");
  if (piece.bytes > kPieceBytesMax) return too_large;
  for (size_t run = 0; run < piece.runs.size(); run++) {
    for (const PieceBlock& from : piece.runs[run].blocks) {
      LoadedBlock& block = loaded->blocks.emplace_back();
      Status status = LoadBlock(plan.file(from.table), from.handle, loaded, &block);
      if (!status.ok()) return status;
      if (loaded->bytes.size() > kPieceBytesMax) return too_large;
    }
    loaded->run_blocks.push_back(static_cast<uint32_t>(loaded->blocks.size()));
  }
  return Status::Ok();
}

}  // namespace weft::compaction::device
