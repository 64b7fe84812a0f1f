#include "tool/table_file.h"

#include "table/block.h"

namespace weft::tool {

Result<std::unique_ptr<TableFile>> TableFile::Open(FileSystem* files, const std::string& path) {
  auto bytes = files->GetFileSize(path);
  if (!bytes) return bytes.error();
  if (*bytes < table::kFooterBytes) {
    return Status(Code::kCorruption, path + ": too short for a table");
  }
  auto file = files->NewRandomAccessFile(path);
  if (!file) return file.error();
  // The constructor is private. Owned at once.
  std::unique_ptr<TableFile> table(new TableFile(path));
  table->file_ = std::move(*file);
  table->blocks_ = {table->file_.get(), &table->path_, *bytes, {}};
  char scratch[table::kFooterBytes];
  std::string_view footer;
  Status status = table->file_->Read(*bytes - sizeof scratch, sizeof scratch, &footer, scratch);
  if (!status.ok()) return status;
  if (footer.size() != sizeof scratch) return Status(Code::kCorruption, path + ": ends early");
  status = table->footer_.DecodeFrom(footer);
  if (!status.ok()) {
    return Status(Code::kCorruption, path + ": at byte " + std::to_string(*bytes - sizeof scratch) +
                                         ": " + std::string(status.message()));
  }
  return table;
}

Result<TableFile::Block> TableFile::Read(const table::BlockHandle& handle) const {
  auto contents = table::ReadBlock(blocks_, handle, true);
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

Result<std::vector<std::pair<std::string, table::BlockHandle>>> TableFile::ReadHandles(
    const table::BlockHandle& handle) const {
  auto block = Read(handle);
  if (!block) return block.error();
  std::vector<std::pair<std::string, table::BlockHandle>> handles;
  // It is walked, not searched: any order will do.
  table::BlockIterator entries(BytewiseComparator(), block->contents.data);
  for (entries.SeekToFirst(); entries.Valid(); entries.Next()) {
    table::BlockHandle to;
    std::string_view value = entries.value();
    if (!to.TakeFrom(&value)) {
      return table::BlockCorruption(blocks_, handle.offset, "bad handle of a block");
    }
    handles.emplace_back(entries.key(), to);
  }
  if (entries.damaged()) return table::BlockCorruption(blocks_, handle.offset, "bad entry");
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

}  // namespace weft::tool
