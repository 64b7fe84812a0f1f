#include "table/table_iterator.h"

#include <algorithm>
#include <utility>

namespace weft::table {

namespace {
constexpr size_t kBlocksInRow = 2;  // before a scan is taken for one
constexpr uint64_t kFetchBytesMin = 64u << 10;
constexpr uint64_t kFetchBytesMax = 1u << 20;
}  // namespace

bool TableIterator::LoadBlock(size_t i) {
  block_index_ = i;
  const BlockHandle handle = table_->index_.At(i).handle();
  block_offset_ = handle.offset;
  block_.Clear();
  pin_.Reset();
  table_->Count(ReadCounters::kBlocksRead);
  Result<Table::PinnedBlock> block = table_->DataBlockAt(options_, handle);
  if (!block) {
    status_ = block.error();
    return false;
  }
  pin_ = std::move(block->pin);
  block_.Reset(table_->order_, block->data);
  return !FailedInBlock();
}

bool TableIterator::FailedInBlock() {
  if (!block_.damaged()) return false;
  status_ = BlockCorruption(table_->blocks_, block_offset_, "bad entry");
  return true;
}

void TableIterator::SeekToFirst() {
  status_ = {};
  blocks_in_row_ = 0;
  if (table_->index_.size() == 0) return block_.Clear();
  if (!LoadBlock(0)) return;
  block_.SeekToFirst();
  if (!block_.Valid()) GoToNextBlock();
}

void TableIterator::SeekToLast() {
  status_ = {};
  blocks_in_row_ = 0;
  if (table_->index_.size() == 0) return block_.Clear();
  if (!LoadBlock(table_->index_.size() - 1)) return;
  block_.SeekToLast();
  if (!block_.Valid()) GoToBlockBefore();
}

void TableIterator::Seek(std::string_view target) {
  status_ = {};
  blocks_in_row_ = 0;
  const size_t i = table_->index_.LowerBound(target);
  if (i == table_->index_.size()) return block_.Clear();
  if (!LoadBlock(i)) return;
  block_.Seek(target);
  if (!block_.Valid()) GoToNextBlock();
}

void TableIterator::GoToNextBlock() {
  if (FailedInBlock()) return;
  while (!block_.Valid()) {
    if (block_index_ + 1 >= table_->index_.size()) return block_.Clear();
    if (!LoadBlock(block_index_ + 1)) return;
    if (++blocks_in_row_ >= kBlocksInRow) FetchAhead();
    block_.SeekToFirst();
    if (FailedInBlock()) return;
  }
}

void TableIterator::GoToBlockBefore() {
  if (FailedInBlock()) return;
  blocks_in_row_ = 0;
  while (!block_.Valid()) {
    if (block_index_ == 0) return block_.Clear();
    if (!LoadBlock(block_index_ - 1)) return;
    block_.SeekToLast();
    if (FailedInBlock()) return;
  }
}

// Asks for the next stretch when less than half of the last is left.
void TableIterator::FetchAhead() {
  if (blocks_in_row_ == kBlocksInRow) {
    fetched_until_ = block_offset_;
    fetch_bytes_ = kFetchBytesMin / 2;
  }
  if (block_offset_ + fetch_bytes_ / 2 < fetched_until_) return;
  const uint64_t begin = std::max(fetched_until_, block_offset_);
  if (begin >= table_->blocks_.bytes) return;
  fetch_bytes_ = std::min(kFetchBytesMax, fetch_bytes_ * 2);
  const uint64_t bytes = std::min(fetch_bytes_, table_->blocks_.bytes - begin);
  table_->file_->WillNeed(begin, bytes);
  fetched_until_ = begin + bytes;
}

}  // namespace weft::table
