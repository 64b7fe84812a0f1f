#include "lsm/table_check.h"

#include <algorithm>
#include <utility>

#include "table/block.h"

namespace weft::lsm {

namespace {

// The name of a store's bloom filter does not tell its bits; a policy of any number reads all.
constexpr int kAnyBits = 10;

}  // namespace

TableCheck::TableCheck(const table::InternalComparator& comparator, std::string path,
                       const Problem& problem, const FilterPolicy* filter)
    : comparator_(comparator),
      path_(std::move(path)),
      problem_(problem),
      bloom_(NewBloomFilterPolicy(kAnyBits)),
      own_filter_(filter) {}

Status TableCheck::Run(FileSystem* files, const Progress& progress) {
  const uint64_t bytes_max = expected_ != nullptr ? expected_->bytes : bytes_max_;
  auto table = table::TableFile::Open(files, path_, bytes_max);
  if (!table) return Take(table.error());
  bytes_ = (*table)->bytes();
  if (expected_ != nullptr && bytes_ < expected_->bytes) {
    problem_(path_ + ": it is " + std::to_string(bytes_) + " bytes long, but the manifest says " +
             std::to_string(expected_->bytes));
  }
  if (Status status = CheckFilter(**table); !status.ok()) return status;
  auto blocks = (*table)->ReadHandles((*table)->footer().index);
  if (!blocks) return Take(blocks.error());
  for (const auto& [separator, handle] : *blocks) {
    if (Status status = CheckBlock(**table, handle, separator); !status.ok()) return status;
    if (progress != nullptr) progress(handle.offset + handle.bytes);
  }
  CheckEnds();
  return {};
}

Status TableCheck::Take(const Status& status) {
  if (!IsOfTheFile(status)) return status;
  problem_(std::string(status.message()));
  return {};
}

void TableCheck::Tell(uint64_t offset, const std::string& what) {
  problem_(path_ + ": block at " + std::to_string(offset) + ": " + what);
}

Status TableCheck::CheckFilter(const table::TableFile& table) {
  auto meta = table.ReadHandles(table.footer().metaindex);
  if (!meta) return Take(meta.error());
  for (const auto& [name, handle] : *meta) {
    auto block = table.Read(handle);
    if (!block) {
      if (Status status = Take(block.error()); !status.ok()) return status;
      continue;
    }
    const FilterPolicy* policy = nullptr;
    if (name == std::string("filter.") + bloom_.Name()) policy = &bloom_;
    if (own_filter_ != nullptr && name == std::string("filter.") + own_filter_->Name()) {
      policy = own_filter_;
    }
    if (policy == nullptr) continue;
    filter_contents_ = std::move(block->contents);
    filter_ = table::FilterBlockReader(policy, filter_contents_.data);
    if (filter_.empty()) Tell(handle.offset, "bad filter block");
  }
  return {};
}

Status TableCheck::CheckBlock(const table::TableFile& table, const table::BlockHandle& handle,
                              const std::string& separator) {
  auto block = table.Read(handle);
  if (!block) {
    blocks_whole_ = false;
    floor_ = separator;
    const bool has_place = block.error().code() != Code::kIoError;
    if (has_place || !IsOfTheFile(block.error())) return Take(block.error());
    Tell(handle.offset, std::string(block.error().message()));
    return {};
  }
  table::BlockIterator it(table::KeyOrder(&comparator_), block->contents.data);
  const char* wrong = nullptr;
  for (it.SeekToFirst(); it.Valid() && wrong == nullptr; it.Next()) {
    wrong = CheckEntry(it.key(), handle.offset);
    if (wrong != nullptr) continue;
    if (entries_++ == 0) first_key_ = it.key();
    last_key_.assign(it.key());
  }
  if (it.damaged()) wrong = "bad entry";
  if (wrong == nullptr && entries_ > 0 && comparator_.Compare(last_key_, separator) > 0) {
    wrong = "keys above what the index says";
  }
  if (wrong != nullptr) {
    blocks_whole_ = false;
    Tell(handle.offset, wrong);
  }
  floor_ = separator;
  return {};
}

const char* TableCheck::CheckEntry(std::string_view key, uint64_t block_offset) {
  table::ParsedKey parsed;
  if (!table::ParseInternalKey(key, &parsed)) return "an entry's key is not a key of a store";
  if (entries_ > 0 && comparator_.Compare(last_key_, key) >= 0) return "keys out of order";
  if (!floor_.empty() && comparator_.Compare(floor_, key) >= 0) {
    return "keys not above what the index says of the block before";
  }
  if (parsed.sequence > last_sequence_)
    return "an entry is newer than the manifest's last sequence number";
  if (!filter_.empty() && !filter_.KeyMayMatch(block_offset, key)) {
    return "the filter denies a key that is in it";
  }
  newest_ = std::max(newest_, parsed.sequence);
  return nullptr;
}

// Only of a table that is whole: behind damage its ends are others.
void TableCheck::CheckEnds() {
  if (!blocks_whole_) return;
  if (entries_ == 0) {
    problem_(path_ + ": it is empty");
  } else if (expected_ != nullptr &&
             (first_key_ != expected_->smallest || last_key_ != expected_->largest)) {
    problem_(path_ + ": its first or last key is not what the manifest says");
  }
}

}  // namespace weft::lsm
