#include "compaction/device/piece/table_end_maker.h"

#include <algorithm>

#include "base/coding.h"
#include "table/filter_block_builder.h"
#include "table/stored_block.h"

namespace weft::compaction::device {

void TableEndMaker::Add(const PackedPiece& piece, const TablePart& part) {
  const std::string_view index = piece.index_bytes.From(0);
  for (size_t block = part.first; block < part.end; block++) {
    const uint64_t at = piece.index_at[block];
    AddIndexEntry(index.substr(at, piece.index_at[block + 1] - at));
    entries_ += piece.entries[block];
  }
  const std::string_view filters = piece.filter_bytes.From(0);
  auto made = std::lower_bound(
      piece.filters.begin(), piece.filters.end(), part.first,
      [](const PackedFilter& filter, size_t block) { return filter.block < block; });
  for (; made != piece.filters.end() && made->block < part.end; ++made)
    AddFilter(made->window, filters.substr(made->at, made->bytes));
  file_bytes_ += part.bytes;
}

void TableEndMaker::AddIndexEntry(std::string_view entry) {
  index_entries_at_.push_back(static_cast<uint32_t>(index_.size()));
  index_.Append(entry);
}

// As FilterBlockBuilder: windows in which no block begins have empty filters.
void TableEndMaker::AddFilter(uint64_t window, std::string_view filter) {
  filters_at_.resize(window + 1, static_cast<uint32_t>(filter_.size()));
  filter_ += filter;
}

std::string_view TableEndMaker::Finish() {
  table::TableEnd end{.filter = {}, .index = FinishIndex(), .offset = file_bytes_};
  if (format_.filter != nullptr) end.filter = FinishFilter();
  file_bytes_ += table::AppendTableEnd(format_, end, &compressor_, &end_);
  return end_.From(0);
}

std::string_view TableEndMaker::FinishIndex() {
  std::string restarts;
  for (const uint32_t at : index_entries_at_) base::PutFixed32(&restarts, at);
  base::PutFixed32(&restarts, static_cast<uint32_t>(index_entries_at_.size()));
  index_.Append(restarts);
  return index_.From(0);
}

std::string_view TableEndMaker::FinishFilter() {
  // Those of windows that the last block has left behind.
  const uint64_t passed = file_bytes_ >> table::kFilterWindowBits;
  filters_at_.resize(std::max<uint64_t>(filters_at_.size(), passed),
                     static_cast<uint32_t>(filter_.size()));
  const auto offsets_at = static_cast<uint32_t>(filter_.size());
  for (const uint32_t at : filters_at_) base::PutFixed32(&filter_, at);
  base::PutFixed32(&filter_, offsets_at);
  filter_.push_back(static_cast<char>(table::kFilterWindowBits));
  return filter_;
}

void TableEndMaker::Clear() {
  file_bytes_ = 0;
  entries_ = 0;
  index_.Clear();
  index_entries_at_.clear();
  filter_.clear();
  filters_at_.clear();
  end_.Clear();
}

}  // namespace weft::compaction::device
