#include "table/table_index.h"

#include <algorithm>

#include "base/coding.h"
#include "table/block.h"

namespace weft::table {

namespace {

// What restoring a compressed index block may cost: as many times its size, at least a mebibyte.
constexpr size_t kRestoredGainMax = 16;
constexpr size_t kRestoredBytesMin = 1u << 20;

Status Damaged(const char* what) { return {Code::kCorruption, what}; }

bool InFile(const BlockHandle& handle, uint64_t data_end) {
  return data_end >= kBlockTrailerBytes && handle.bytes <= data_end - kBlockTrailerBytes &&
         handle.offset <= data_end - kBlockTrailerBytes - handle.bytes;
}

// Appends an entry whose key stands whole.
void AppendEntry(std::string_view key, std::string_view value, std::string* to) {
  base::PutVarint32(to, 0);
  base::PutVarint32(to, static_cast<uint32_t>(key.size()));
  base::PutVarint32(to, static_cast<uint32_t>(value.size()));
  to->append(key);
  to->append(value);
}

}  // namespace

Status TableIndex::Parse(const KeyOrder& order, std::string_view block, uint64_t data_end) {
  order_ = order;
  const size_t restored_max = std::max(kRestoredBytesMin, block.size() * kRestoredGainMax);
  BlockIterator it(order, block);
  if (it.damaged()) return Damaged("bad index block");
  bool whole = true;  // every key so far stands whole in the block
  std::string last;
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    const std::string_view key = it.key();
    if (order.is_internal() && key.size() < kTrailerBytes) return Damaged("bad index key");
    if (!offsets_.empty() && order.is_bytewise() && order.Compare(last, key) >= 0) {
      return Damaged("index keys out of order");
    }
    last.assign(key);
    std::string_view value = it.value();
    BlockHandle handle;
    if (!handle.TakeFrom(&value) || !InFile(handle, data_end)) return Damaged("bad index handle");

    if (whole && it.key_stands_whole()) {
      offsets_.push_back(static_cast<uint32_t>(it.entry() - block.data()));
      continue;
    }
    if (whole) {
      restored_.assign(block.data(), static_cast<size_t>(it.entry() - block.data()));
      whole = false;
    }
    offsets_.push_back(static_cast<uint32_t>(restored_.size()));
    AppendEntry(key, it.value(), &restored_);
    if (restored_.size() > restored_max) return Damaged("index keys too long");
  }
  if (it.damaged()) return Damaged("bad entry in the index block");
  const std::string_view entries = whole ? block : std::string_view(restored_);
  block_ = entries.data();
  end_ = entries.data() + entries.size();
  offsets_.shrink_to_fit();
  if (order.is_bytewise() && !offsets_.empty()) BuildPrefixes();
  return {};
}

TableIndex::Entry TableIndex::At(size_t i) const {
  // Parse has seen that all of this is there.
  uint32_t shared = 0;
  uint32_t key_bytes = 0;
  uint32_t value_bytes = 0;
  const char* at = block_ + offsets_[i];
  at = base::DecodeVarint32(at, end_, &shared);
  at = base::DecodeVarint32(at, end_, &key_bytes);
  at = base::DecodeVarint32(at, end_, &value_bytes);
  Entry entry;
  entry.separator = {at, key_bytes};
  at = base::DecodeVarint64(at + key_bytes, end_, &entry.handle.offset);
  base::DecodeVarint64(at, end_, &entry.handle.bytes);
  return entry;
}

// The bytes of a key that are ordered as bytes.
std::string_view TableIndex::BytesOf(std::string_view key) const {
  return order_.is_internal() ? UserKey(key) : key;
}

// The eight bytes behind the common ones; bytes that are not there count as zero, so that equal
// numbers do not mean equal bytes. REQUIRES: bytes begin with common_.
uint64_t TableIndex::PrefixOf(std::string_view bytes) const {
  const char* from = bytes.data() + common_.size();
  const size_t left = bytes.size() - common_.size();
  if (left >= 8) return LoadBigEndian64(from);
  uint64_t prefix = 0;
  for (size_t i = 0; i < left; ++i) {
    prefix |= uint64_t{static_cast<uint8_t>(from[i])} << (56 - 8 * i);
  }
  return prefix;
}

void TableIndex::BuildPrefixes() {
  // In order, so that what the ends share all share.
  const std::string_view first = BytesOf(At(0).separator);
  const std::string_view last = BytesOf(At(size() - 1).separator);
  const auto ends = std::mismatch(first.begin(), first.end(), last.begin(), last.end());
  common_.assign(first.begin(), ends.first);
  prefixes_.resize(size());
  for (size_t i = 0; i < size(); ++i) prefixes_[i] = PrefixOf(BytesOf(At(i).separator));
}

size_t TableIndex::LowerBound(std::string_view key) const {
  if (!prefixes_.empty()) return LowerBoundBytewise(key);
  size_t low = 0;
  size_t high = size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (order_.comparator()->Compare(At(middle).separator, key) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

size_t TableIndex::LowerBoundBytewise(std::string_view key) const {
  if (order_.is_internal() && key.size() < kTrailerBytes) return 0;
  const std::string_view bytes = BytesOf(key);
  const size_t shared = std::min(bytes.size(), common_.size());
  const int to_common = CompareBytes(bytes.substr(0, shared), {common_.data(), shared});
  if (to_common > 0) return size();
  if (to_common < 0 || bytes.size() < common_.size()) return 0;

  const uint64_t prefix = PrefixOf(bytes);
  const uint64_t* base = prefixes_.data();
  for (size_t left = size(); left > 1;) {
    const size_t half = left / 2;
    base = base[half - 1] < prefix ? base + half : base;
    left -= half;
  }
  auto low = static_cast<size_t>(base - prefixes_.data());
  low += *base < prefix;
  if (low == size() || prefixes_[low] != prefix) return low;
  // Those with the same eight bytes: usually one.
  size_t high = low + 1;
  if (high < size() && prefixes_[high] == prefix) {
    high = static_cast<size_t>(std::upper_bound(prefixes_.begin() + static_cast<ptrdiff_t>(high),
                                                prefixes_.end(), prefix) -
                               prefixes_.begin());
  }
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (order_.Compare(At(middle).separator, key) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

size_t TableIndex::MemoryUsage() const {
  return offsets_.capacity() * sizeof(uint32_t) + prefixes_.capacity() * sizeof(uint64_t) +
         restored_.capacity();
}

}  // namespace weft::table
