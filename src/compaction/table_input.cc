#include "compaction/table_input.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/read_on.h"
#include "compaction/read_ahead_file.h"
#include "table/block.h"

namespace weft::compaction {

Result<std::unique_ptr<TableInput>> TableInput::Open(const Job& job, const JobTable& table,
                                                     const UserKeyRange& range) {
  std::unique_ptr<TableInput> input(new TableInput(job, table, range));  // freed by the pointer
  Status status = input->OpenFile(job, table.bytes);
  if (status.ok()) status = input->ReadIndex();
  if (!status.ok()) return status;
  return input;
}

Status TableInput::OpenFile(const Job& job, uint64_t bytes_claimed) {
  Result<std::unique_ptr<RandomAccessFile>> file = job.files->NewRandomAccessFile(path_);
  if (!file) return Told(file.error());
  file_ = std::move(*file);
  const RandomAccessFile* const shared = file_.get();
  const std::string_view mapped = file_->Mapped();
  uint64_t bytes = mapped.size();
  if (mapped.empty()) {
    Result<uint64_t> size = job.files->GetFileSize(path_);
    if (!size) return Told(size.error());
    bytes = *size;
    file_ = std::make_unique<ReadAheadFile>(std::move(file_), bytes);
  }
  if (bytes < bytes_claimed) {
    return {Code::kCorruption, path_ + ": has " + std::to_string(bytes) + " bytes, not " +
                                   std::to_string(bytes_claimed)};
  }
  file_->ReadsInOrder();
  file_->WillNeed(0, bytes_claimed);
  blocks_ = {.file = file_.get(),
             .path = &path_,
             .bytes = bytes_claimed,
             .mapped = mapped.substr(0, bytes_claimed)};
  shared_ = blocks_;
  shared_.file = shared;
  return Status::Ok();
}

// The manifest names the table: that it is missing is damage, and no answer to what was asked for.
Status TableInput::Told(const Status& status) const {
  if (status.code() != Code::kNotFound) return status;
  return {Code::kCorruption, path_ + " is missing"};
}

Status TableInput::ReadIndex() {
  if (blocks_.bytes < table::kFooterBytes) {
    return {Code::kCorruption, path_ + ": is too short for a table"};
  }
  char scratch[table::kFooterBytes];
  std::string_view footer_bytes;
  Status status = base::ReadOnAt(*file_, blocks_.bytes - table::kFooterBytes, table::kFooterBytes,
                                 &footer_bytes, scratch);
  if (!status.ok()) return status;
  if (footer_bytes.size() != table::kFooterBytes) {
    return {Code::kCorruption, path_ + ": ends early"};
  }
  status = footer_.DecodeFrom(footer_bytes);
  if (!status.ok()) return {status.code(), path_ + ": " + std::string(status.message())};
  Result<table::BlockContents> index = table::ReadBlock(blocks_, footer_.index, true);
  if (!index) return index.error();
  bytes_read_ += table::kFooterBytes + footer_.index.bytes + table::kBlockTrailerBytes;
  handle_ = footer_.index;
  // The window that a file not in memory was read through moves on: keep what lies in it.
  if (index->owned == nullptr && blocks_.mapped.empty()) {
    index->owned = std::make_unique_for_overwrite<char[]>(index->data.size());
    std::memcpy(index->owned.get(), index->data.data(), index->data.size());
    index->data = {index->owned.get(), index->data.size()};
  }
  index_block_ = std::move(*index);
  if (!index_.StartBlock(index_block_.data)) return Corruption(index_.damage());
  return Status::Ok();
}

Result<bool> TableInput::NextHandle(table::BlockHandle* handle) {
  while (!at_end_) {
    switch (index_.Next()) {
      case EntryWalk<table::VirtualOrder>::Step::kEndOfBlock: at_end_ = true; continue;
      case EntryWalk<table::VirtualOrder>::Step::kDamaged: return Corruption(index_.damage());
      case EntryWalk<table::VirtualOrder>::Step::kEntry: break;
    }
    keys_bytes_ += index_.key().size();  // whoever divides a job keeps them
    if (keys_bytes_ > table::RestoredKeysBytesMax(index_block_.data.size())) {
      return Corruption("is an index with too long keys");
    }
    std::string_view value = index_.value();
    table::BlockHandle next;
    if (!next.TakeFrom(&value)) return Corruption("is an index with an invalid handle");
    if (EndsBefore(range_.first)) continue;
    may_reach_beyond_ = range_.end.has_value() && !EndsBefore(range_.end);
    // The keys of all further blocks lie beyond this one's separator.
    at_end_ = may_reach_beyond_;
    *handle = next;
    return true;
  }
  return false;
}

// Whether all keys of the block at hand lie before `bound`. Keys without a trailer, as damaged
// tables have them, come before all others.
bool TableInput::EndsBefore(std::optional<std::string_view> bound) const {
  if (!bound.has_value()) return false;
  return separator().size() < table::kTrailerBytes ||
         comparator_.CompareUser(table::UserKey(separator()), *bound) < 0;
}

Result<std::string_view> TableInput::NextBlock() {
  table::BlockHandle handle;
  Result<bool> more = NextHandle(&handle);
  if (!more) return more.error();
  if (!*more) return std::string_view();
  handle_ = handle;
  Result<table::BlockContents> block = table::ReadBlock(blocks_, handle, true);
  if (!block) return block.error();
  bytes_read_ += handle.bytes + table::kBlockTrailerBytes;
  block_ = std::move(*block);
  if (block_.owned != nullptr) FetchBehind(handle);
  if (block_.data.empty()) return Corruption("is too short for a block");
  return block_.data;
}

// The next block mostly lies behind this one and is about as long: it comes nearer while this one's
// entries are merged, so that its checksum does not wait for memory.
void TableInput::FetchBehind(const table::BlockHandle& handle) const {
  constexpr uint64_t kLineBytes = 64;
  const uint64_t begin = handle.offset + handle.bytes + table::kBlockTrailerBytes;
  const uint64_t end =
      std::min<uint64_t>(begin + std::min(handle.bytes, kFetchBytesMax), blocks_.mapped.size());
  for (uint64_t at = begin; at < end; at += kLineBytes) {
    __builtin_prefetch(blocks_.mapped.data() + at, 0, 2);
  }
}

Status TableInput::CheckOtherBlocks() const {
  Result<table::BlockContents> metaindex = table::ReadBlock(blocks_, footer_.metaindex, true);
  if (!metaindex) return metaindex.error();
  std::vector<table::BlockHandle> handles;
  EntryWalk<table::VirtualOrder> walk(table::VirtualOrder{BytewiseComparator()});
  bool damaged = !walk.StartBlock(metaindex->data);
  while (!damaged) {
    const auto step = walk.Next();
    if (step == EntryWalk<table::VirtualOrder>::Step::kEndOfBlock) break;
    std::string_view value = walk.value();
    damaged = step != EntryWalk<table::VirtualOrder>::Step::kEntry ||
              !handles.emplace_back().TakeFrom(&value);
  }
  if (damaged) return {Code::kCorruption, path_ + ": metaindex block is damaged"};
  for (const table::BlockHandle& handle : handles) {
    Result<table::BlockContents> block = table::ReadBlock(blocks_, handle, true);
    if (!block) return block.error();
  }
  return Status::Ok();
}

Status TableInput::Corruption(std::string_view what) const {
  return {Code::kCorruption,
          path_ + ": block at " + std::to_string(handle_.offset) + " " + std::string(what)};
}

}  // namespace weft::compaction
