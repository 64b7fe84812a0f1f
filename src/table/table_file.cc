#include "table/table_file.h"

#include <algorithm>

#include "base/read_on.h"
#include "table/block.h"

namespace weft::table {

namespace {

// Of any numbers, as a damaged block may have them.
bool LiesBehind(const BlockHandle& after, const BlockHandle& before) {
  return after.offset >= before.offset && after.offset - before.offset >= kBlockTrailerBytes &&
         after.offset - before.offset - kBlockTrailerBytes >= before.bytes;
}

}  // namespace

Result<std::unique_ptr<TableFile>> TableFile::Open(FileSystem* files, const std::string& path,
                                                   uint64_t bytes_max) {
  auto bytes = files->GetFileSize(path);
  if (!bytes) return bytes.error();
  *bytes = std::min(*bytes, bytes_max);
  if (*bytes < kFooterBytes) {
    return Status(Code::kCorruption, path + ": too short for a table");
  }
  auto file = files->NewRandomAccessFile(path);
  if (!file) return file.error();
  // The constructor is private. Owned at once.
  std::unique_ptr<TableFile> table(new TableFile(path));
  table->file_ = std::move(*file);
  table->blocks_ = {table->file_.get(), &table->path_, *bytes, {}};
  char scratch[kFooterBytes];
  std::string_view footer;
  Status status =
      base::ReadOnAt(*table->file_, *bytes - sizeof scratch, sizeof scratch, &footer, scratch);
  if (!status.ok()) return status;
  if (footer.size() != sizeof scratch) return Status(Code::kCorruption, path + ": ends early");
  status = table->footer_.DecodeFrom(footer);
  if (!status.ok()) {
    return Status(Code::kCorruption, path + ": at byte " + std::to_string(*bytes - sizeof scratch) +
                                         ": " + std::string(status.message()));
  }
  return table;
}

Result<TableFile::Block> TableFile::Read(const BlockHandle& handle) const {
  auto contents = ReadBlock(blocks_, handle, true);
  if (!contents) return contents.error();
  char scratch;
  std::string_view type;
  Status status = file_->Read(handle.offset + handle.bytes, 1, &type, &scratch);
  if (!status.ok()) return status;
  Block block;
  block.contents = std::move(*contents);
  if (!type.empty()) block.compression = static_cast<Compression>(type.front());
  return block;
}

Result<std::vector<std::pair<std::string, BlockHandle>>> TableFile::ReadHandles(
    const BlockHandle& handle) const {
  auto block = Read(handle);
  if (!block) return block.error();
  std::vector<std::pair<std::string, BlockHandle>> handles;
  // It is walked, not searched: any order will do.
  BlockIterator entries(BytewiseComparator(), block->contents.data);
  size_t keys_bytes = 0;
  for (entries.SeekToFirst(); entries.Valid(); entries.Next()) {
    BlockHandle to;
    std::string_view value = entries.value();
    if (!to.TakeFrom(&value)) {
      return BlockCorruption(blocks_, handle.offset, "bad block handle");
    }
    keys_bytes += entries.key().size();
    if (keys_bytes > RestoredKeysBytesMax(block->contents.data.size())) {
      return BlockCorruption(blocks_, handle.offset, "index keys too long");
    }
    handles.emplace_back(entries.key(), to);
  }
  if (entries.damaged()) return BlockCorruption(blocks_, handle.offset, "bad entry");
  std::vector<BlockHandle> places;
  places.reserve(handles.size());
  for (const auto& [name, to] : handles) places.push_back(to);
  if (handle.offset != footer_.index.offset) std::ranges::sort(places, {}, &BlockHandle::offset);
  for (size_t i = 1; i < places.size(); i++) {
    if (!LiesBehind(places[i], places[i - 1])) {
      return BlockCorruption(blocks_, handle.offset, "overlapping block handles");
    }
  }
  return handles;
}

const char* CompressionName(Compression compression) {
  switch (compression) {
    case Compression::kNone: return "none";
    case Compression::kSnappy: return "snappy";
    case Compression::kZstd: return "zstd";
  }
  return "unknown";
}

}  // namespace weft::table
