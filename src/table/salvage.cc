#include "table/salvage.h"

#include <algorithm>
#include <utility>

#include "base/coding.h"
#include "base/crc32c.h"
#include "base/read_on.h"
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
  Status status = base::ReadOnAt(**file, 0, contents->size(), &read, contents->data());
  if (!status.ok()) return status;
  if (read.data() != contents->data()) {
    contents->assign(read);
  } else {
    contents->resize(read.size());
  }
  return {};
}

// Polynomials over bits as CRC-32C has them: the top bit is the constant, and what is beyond x^31
// is taken modulo this.
constexpr uint32_t kPolynomial = 0x82f63b78;
constexpr uint32_t kOne = uint32_t{1} << 31;

uint32_t TimesX(uint32_t a) { return (a >> 1) ^ ((a & 1) != 0 ? kPolynomial : 0); }

uint32_t OverX8(uint32_t a) {
  for (int i = 0; i < 8; i++) a = (a & kOne) != 0 ? ((a ^ kPolynomial) << 1) | 1 : a << 1;
  return a;
}

uint32_t Multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (; b != 0; b <<= 1, a = TimesX(a)) {
    if ((b & kOne) != 0) product ^= a;
  }
  return product;
}

}  // namespace

Status TableSalvage::Run(FileSystem* files, const std::string& path) {
  if (Status status = ReadAll(files, path, &file_); !status.ok()) return status;
  size_t start = 0;
  while (start + kBlockTrailerBytes < file_.size()) {
    const size_t bytes = BlockAt(start);
    Status status;
    if (bytes == kNone) {
      const size_t next = FindDataBlock(start + 1);
      skipped_bytes_ += next - start;
      start = next;
      continue;
    }
    // Else a filter's, or an index.
    if (!TakeBlock(start, bytes, &status)) skipped_bytes_ += bytes + kBlockTrailerBytes;
    if (!status.ok()) return status;
    start += bytes + kBlockTrailerBytes;
  }
  skipped_bytes_ += file_.size() - start;
  return {};
}

size_t TableSalvage::BlockAt(size_t start) const {
  const char* const block = file_.data() + start;
  const size_t bytes_max = file_.size() - start - kBlockTrailerBytes;
  uint32_t crc = 0;
  for (size_t bytes = 0; bytes <= bytes_max; bytes++) {
    // The checksum is over the block's bytes and the one behind them: its compression.
    crc = base::ExtendCrc32c(crc, block + bytes, 1);
    if (static_cast<uint8_t>(block[bytes]) > static_cast<uint8_t>(Compression::kZstd)) continue;
    if (base::DecodeFixed32(block + bytes + 1) == base::MaskCrc32c(crc)) return bytes;
  }
  return kNone;
}

size_t TableSalvage::FindDataBlock(size_t from) const {
  for (; from + kBlockTrailerBytes < file_.size(); from += kStartsBytes) {
    for (const auto& [start, bytes] : BlocksThatBeginIn(from)) {
      if (ReadDataBlock(start, bytes)) return start;
    }
  }
  return file_.size();
}

// A checksum is linear: with P(i) the register after the first i bytes, and each further byte a
// multiplication by x^8, the checksum of [a, b) is P(b) + (P(a) + P(0)) x^8(b-a). So
// (P(a) + P(0)) x^-8a  =  (P(b) + what is stored behind b) x^-8b  where a block is, and each side
// is of one position: one look-up a position finds all pairs.
std::vector<std::pair<size_t, size_t>> TableSalvage::BlocksThatBeginIn(size_t from) const {
  const size_t last = std::min(file_.size() - kBlockTrailerBytes + 1, from + kBlockBytesMax);
  std::vector<std::pair<uint32_t, size_t>> starts;
  std::vector<std::pair<size_t, size_t>> found;
  uint32_t power = kOne;  // x^-8i, of the i bytes since `from`
  uint32_t crc = 0;       // of these bytes
  for (size_t i = from; i < last && i < from + kStartsBytes; i++) {
    starts.emplace_back(Multiply(~crc ^ ~uint32_t{0}, power), i);
    crc = base::ExtendCrc32c(crc, file_.data() + i, 1);
    power = OverX8(power);
  }
  std::ranges::sort(starts);
  power = kOne;
  crc = 0;
  for (size_t i = from; i < last; i++) {  // the byte of the compression, the last that is summed up
    const char* const at = file_.data() + i;
    crc = base::ExtendCrc32c(crc, at, 1);
    power = OverX8(power);
    if (static_cast<uint8_t>(*at) > static_cast<uint8_t>(Compression::kZstd)) continue;
    const uint32_t stored = base::UnmaskCrc32c(base::DecodeFixed32(at + 1));
    const uint32_t key = Multiply(~crc ^ ~stored, power);
    auto start = std::ranges::lower_bound(starts, std::pair(key, size_t{0}));
    for (; start != starts.end() && start->first == key && start->second <= i; ++start) {
      found.emplace_back(start->second, i - start->second);
    }
  }
  std::ranges::sort(found);
  return found;
}

std::optional<BlockContents> TableSalvage::ReadDataBlock(size_t start, size_t bytes) const {
  const std::string path;
  BlockFile file;
  file.path = &path;
  file.bytes = file_.size();
  file.mapped = file_;
  auto contents = ReadBlock(file, {start, bytes}, true);
  if (!contents || contents->data.size() < sizeof(uint32_t)) return std::nullopt;
  if (IsIndex(contents->data, start)) return std::nullopt;
  BlockIterator check(order_, contents->data);
  ParsedKey parsed;
  for (check.SeekToFirst(); check.Valid(); check.Next()) {
    if (!ParseInternalKey(check.key(), &parsed)) return std::nullopt;
  }
  if (check.damaged()) return std::nullopt;
  return std::move(*contents);
}

bool TableSalvage::TakeBlock(size_t start, size_t bytes, Status* status) {
  const std::optional<BlockContents> contents = ReadDataBlock(start, bytes);
  if (!contents) return false;
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
