#include "table/salvage.h"

#include <algorithm>
#include <utility>

#include "base/coding.h"
#include "base/crc32c.h"
#include "table/block.h"
#include "table/block_reader.h"
#include "table/format.h"
#include "table/internal_key.h"

namespace weft::table {

namespace {

Status ReadAll(FileSystem* files, const std::string& path, std::string* contents) {
  auto bytes = files->GetFileSize(path);
  if (!bytes) return bytes.error();
  auto file = files->NewRandomAccessFile(path);
  if (!file) return file.error();
  contents->resize(*bytes);
  std::string_view read;
  Status status = (*file)->Read(0, contents->size(), &read, contents->data());
  if (!status.ok()) return status;
  if (read.data() != contents->data()) {
    contents->assign(read);
  } else {
    contents->resize(read.size());
  }
  return {};
}

}  // namespace

Status TableSalvage::Run(FileSystem* files, const std::string& path) {
  if (Status status = ReadAll(files, path, &file_); !status.ok()) return status;
  size_t start = 0;
  bool in_step = true;  // the byte before was the end of a whole block
  while (start + kBlockTrailerBytes < file_.size()) {
    const size_t rest = file_.size() - start - kBlockTrailerBytes;
    const size_t bytes = BlockAt(start, in_step ? rest : std::min(rest, kSearchBytes));
    Status status;
    if (bytes != kNone && TakeBlock(start, bytes, &status)) {
      if (!status.ok()) return status;
      start += bytes + kBlockTrailerBytes;
      in_step = true;
    } else if (bytes != kNone && in_step) {  // a filter's, or an index
      start += bytes + kBlockTrailerBytes;
      skipped_bytes_ += bytes + kBlockTrailerBytes;
    } else {
      start++;
      skipped_bytes_++;
      in_step = false;
    }
  }
  skipped_bytes_ += file_.size() - start;
  return {};
}

size_t TableSalvage::BlockAt(size_t start, size_t bytes_max) const {
  const char* const block = file_.data() + start;
  uint32_t crc = 0;
  for (size_t bytes = 0; bytes <= bytes_max; bytes++) {
    // The checksum is over the block's bytes and the one behind them: its compression.
    crc = base::ExtendCrc32c(crc, block + bytes, 1);
    if (static_cast<uint8_t>(block[bytes]) > static_cast<uint8_t>(Compression::kZstd)) continue;
    if (base::DecodeFixed32(block + bytes + 1) == base::MaskCrc32c(crc)) return bytes;
  }
  return kNone;
}

bool TableSalvage::TakeBlock(size_t start, size_t bytes, Status* status) {
  const std::string path;
  BlockFile file;
  file.path = &path;
  file.bytes = file_.size();
  file.mapped = file_;
  auto contents = ReadBlock(file, {start, bytes}, true);
  if (!contents || contents->data.size() < sizeof(uint32_t)) return false;
  if (IsIndex(contents->data, start)) return false;
  BlockIterator check(order_, contents->data);
  ParsedKey parsed;
  for (check.SeekToFirst(); check.Valid(); check.Next()) {
    if (!ParseInternalKey(check.key(), &parsed)) return false;
  }
  if (check.damaged()) return false;
  BlockIterator entries(order_, contents->data);
  for (entries.SeekToFirst(); entries.Valid() && status->ok(); entries.Next()) {
    if (entries_ > 0 && order_.Compare(last_key_, entries.key()) >= 0) continue;
    last_key_.assign(entries.key());
    entries_++;
    *status = take_(entries.key(), entries.value());
  }
  blocks_++;
  return true;
}

// An index block's values are the handles of the data blocks, which lie before it one behind the
// other.
bool TableSalvage::IsIndex(std::string_view block, size_t start) const {
  BlockIterator entries(order_, block);
  uint64_t end = 0;
  bool first = true;
  for (entries.SeekToFirst(); entries.Valid(); entries.Next()) {
    std::string_view value = entries.value();
    BlockHandle handle;
    if (!handle.TakeFrom(&value) || !value.empty()) return false;
    if (first ? handle.offset != 0 : handle.offset != end) return false;
    if (handle.bytes > start || handle.offset + handle.bytes + kBlockTrailerBytes > start) {
      return false;
    }
    end = handle.offset + handle.bytes + kBlockTrailerBytes;
    first = false;
  }
  return !first && !entries.damaged();
}

}  // namespace weft::table
