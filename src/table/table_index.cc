#include "table/table_index.h"

#include <algorithm>

#include "base/check.h"
#include "base/coding.h"
#include "table/block.h"

namespace weft::table {

namespace {

Status Damaged(const char* what) { return {Code::kCorruption, what}; }

bool InFile(const BlockHandle& handle, uint64_t data_end) {
  return handle.bytes <= UINT32_MAX && data_end >= kBlockTrailerBytes &&
         handle.bytes <= data_end - kBlockTrailerBytes &&
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

// How many of the numbers are below `number`. They ascend, but counting needs no branches.
template <size_t kNumbers>
size_t CountBelow(const std::array<int64_t, kNumbers>& numbers, int64_t number) {
  int64_t below = 0;
  for (size_t i = 0; i < kNumbers; ++i) below += numbers[i] < number ? 1 : 0;
  return static_cast<size_t>(below);
}

void PrefetchLines(const void* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch(static_cast<const char*>(from) + at);
}

}  // namespace

Status TableIndex::TakeEntry(std::string_view key, std::string_view value, uint64_t data_end,
                             uint32_t index_at) {
  if (order_.is_internal() && key.size() < kTrailerBytes) return Damaged("bad index key");
  BlockHandle handle;
  if (!handle.TakeFrom(&value) || !InFile(handle, data_end)) return Damaged("bad index handle");
  // Otherwise few blocks would be read as if they were many.
  if (size_ > 0) {
    const BlockHandle before = At(size_ - 1).handle();
    if (handle.offset < before.offset + before.bytes + kBlockTrailerBytes) {
      return Damaged("index handles are not ascending");
    }
  }
  if (size_ % kLeaf == 0) leaves_.emplace_back().numbers.fill(INT64_MAX);
  leaves_.back().entries[size_ % kLeaf] = {handle.offset, static_cast<uint32_t>(handle.bytes),
                                           index_at, 0, kNoFilter};
  ++size_;
  return {};
}

Status TableIndex::Parse(const KeyOrder& order, std::string_view block, uint64_t data_end) {
  order_ = order;
  const size_t restored_max = RestoredKeysBytesMax(block.size());
  BlockIterator it(order, block);
  if (it.damaged()) return Damaged("bad index block");
  bool whole = true;  // every key so far stands whole in the block
  std::string last;
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    const std::string_view key = it.key();
    if (size_ > 0 && order.is_bytewise() && order.Compare(last, key) >= 0) {
      return Damaged("index keys out of order");
    }
    last.assign(key);
    const auto in_block = static_cast<uint32_t>(it.entry() - block.data());
    if (whole && !it.key_stands_whole()) {
      restored_.assign(block.data(), in_block);
      whole = false;
    }
    const uint32_t index_at = whole ? in_block : static_cast<uint32_t>(restored_.size());
    Status status = TakeEntry(key, it.value(), data_end, index_at);
    if (!status.ok()) return status;
    if (whole) continue;
    AppendEntry(key, it.value(), &restored_);
    if (restored_.size() > restored_max) return Damaged("index keys too long");
  }
  if (it.damaged()) return Damaged("bad entry in the index block");
  const std::string_view entries = whole ? block : std::string_view(restored_);
  block_ = entries.data();
  end_ = entries.data() + entries.size();
  leaves_.shrink_to_fit();
  if (order.is_bytewise() && size_ > 0) BuildLevels();
  return {};
}

void TableIndex::TakeFilters(const FilterBlockReader& filters) {
  for (size_t i = 0; i < size_; ++i) {
    Entry& entry = leaves_[i / kLeaf].entries[i % kLeaf];
    std::string_view filter;
    if (!filters.FilterOf(entry.offset, &filter)) continue;
    entry.filter_at = static_cast<uint32_t>(filter.data() - filters.data());
    entry.filter_bytes = static_cast<uint32_t>(filter.size());
  }
}

std::string_view TableIndex::SeparatorAt(size_t i) const {
  // Parse has seen that all of this is there.
  uint32_t shared = 0;
  uint32_t key_bytes = 0;
  uint32_t value_bytes = 0;
  const char* at = block_ + At(i).index_at;
  at = base::DecodeVarint32(at, end_, &shared);
  at = base::DecodeVarint32(at, end_, &key_bytes);
  at = base::DecodeVarint32(at, end_, &value_bytes);
  return {at, key_bytes};
}

// The bytes of a key that are ordered as bytes.
std::string_view TableIndex::BytesOf(std::string_view key) const {
  return order_.is_internal() ? UserKey(key) : key;
}

// The eight bytes behind the common ones, so that numbers are ordered as the bytes are. Bytes that
// are not there count as zero: equal numbers do not mean equal bytes. The sign is turned, since
// processors compare several numbers at once only as signed ones.
// REQUIRES: bytes begin with common_
int64_t TableIndex::NumberOf(std::string_view bytes) const {
  const char* from = bytes.data() + common_.size();
  const size_t left = bytes.size() - common_.size();
  uint64_t number = 0;
  if (left >= 8) {
    number = LoadBigEndian64(from);
  } else {
    for (size_t i = 0; i < left; ++i) {
      number |= uint64_t{static_cast<uint8_t>(from[i])} << (56 - 8 * i);
    }
  }
  return static_cast<int64_t>(number ^ (uint64_t{1} << 63));
}

void TableIndex::BuildLevels() {
  // In order, so that what the ends share all share. The last separator is left out of it: it is
  // made short, and far above the keys, often.
  if (size_ > 1) {
    const std::string_view first = BytesOf(SeparatorAt(0));
    const std::string_view last = BytesOf(SeparatorAt(size_ - 2));
    const auto ends = std::mismatch(first.begin(), first.end(), last.begin(), last.end());
    common_.assign(first.begin(), ends.first);
  }
  for (size_t i = 0; i < size_; ++i) {
    const std::string_view bytes = BytesOf(SeparatorAt(i));
    leaves_[i / kLeaf].numbers[i % kLeaf] =
        bytes.starts_with(common_) ? NumberOf(bytes) : INT64_MAX;
  }
  std::vector<int64_t> lasts;  // of each group of what is below
  for (const Leaf& leaf : leaves_) lasts.push_back(leaf.numbers.back());
  while (lasts.size() > 1) {
    std::vector<Group> level((lasts.size() + kGroup - 1) / kGroup);
    for (Group& group : level) group.numbers.fill(INT64_MAX);
    for (size_t i = 0; i < lasts.size(); ++i) {
      level[i / kGroup].numbers[i % kGroup] = lasts[i];
    }
    lasts.clear();
    for (const Group& group : level) lasts.push_back(group.numbers.back());
    levels_.insert(levels_.begin(), std::move(level));
  }
  by_number_ = true;
}

// The number to search, or, and true, the result where none is needed: the key lies before or
// behind all that begins with common_, as all separators do but perhaps the last, or behind all
// separators' numbers.
bool TableIndex::Settle(std::string_view key, int64_t* number, size_t* result) const {
  *result = 0;
  if (order_.is_internal() && key.size() < kTrailerBytes) return true;
  const std::string_view bytes = BytesOf(key);
  const size_t shared = std::min(bytes.size(), common_.size());
  const int to_common = CompareBytes(bytes.substr(0, shared), {common_.data(), shared});
  if (to_common < 0 || (to_common == 0 && bytes.size() < common_.size())) return true;
  if (to_common > 0) {
    *result = LowerBoundByOrder(size_ - 1, size_, key);
    return true;
  }
  *number = NumberOf(bytes);
  *result = size_;
  return NumberAt(size_ - 1) < *number;
}

size_t TableIndex::FindLeaf(std::string_view key) const {
  int64_t number;
  size_t settled;
  if (!by_number_ || Settle(key, &number, &settled)) return 0;
  size_t at = 0;
  for (const std::vector<Group>& level : levels_) {
    // The last number of the group is not below: settled above for the first, then by the level
    // above. In the last group the numbers that fill it up are the largest there are.
    at = at * kGroup + CountBelow(level[at].numbers, number);
  }
  WEFT_DCHECK(at < leaves_.size());
  PrefetchLines(&leaves_[at], sizeof(Leaf));
  return at;
}

size_t TableIndex::LowerBoundIn(size_t leaf, std::string_view key) const {
  if (!by_number_) return LowerBoundByOrder(0, size_, key);
  int64_t number;
  size_t low;
  if (Settle(key, &number, &low)) return low;
  low = leaf * kLeaf + CountBelow(leaves_[leaf].numbers, number);
  if (low >= size_ || NumberAt(low) != number) return low;
  // Those with the same eight bytes: usually one.
  size_t high = low + 1;
  for (size_t step = 1; high < size_ && NumberAt(high) == number; step *= 2) high += step;
  return LowerBoundByOrder(low, std::min(high, size_), key);
}

size_t TableIndex::LowerBound(std::string_view key) const {
  return LowerBoundIn(FindLeaf(key), key);
}

size_t TableIndex::LowerBoundByOrder(size_t low, size_t high, std::string_view key) const {
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (order_.Compare(SeparatorAt(middle), key) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

size_t TableIndex::MemoryUsage() const {
  size_t bytes = leaves_.capacity() * sizeof(Leaf) + restored_.capacity();
  for (const std::vector<Group>& level : levels_) bytes += level.capacity() * sizeof(Group);
  return bytes;
}

}  // namespace weft::table
