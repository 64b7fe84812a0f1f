#include "table/table_builder.h"

#include "base/check.h"
#include "table/stored_block.h"

namespace weft::table {

TableBuilder::TableBuilder(const TableFormat& format, WritableFile* file)
    : format_(format),
      compressor_(format.compression, format.zstd_level),
      block_(format.block_restart_interval),
      index_(1) {
  if (format.filter != nullptr) filter_.emplace(format.filter);
  out_.Reserve(kAppendBytes + 2 * format.block_size);
  Start(file);
}

void TableBuilder::Start(WritableFile* file) {
  file_ = file;
  status_ = Status::Ok();
  out_.Clear();
  index_bytes_.Clear();
  index_.Begin(&index_bytes_);
  index_pending_ = false;
  entries_ = 0;
  flushed_bytes_ = 0;
  if (filter_.has_value()) {
    filter_->Clear();
    filter_->StartBlock(0);
  }
  BeginBlock();
}

void TableBuilder::ChangeFormat(const TableFormat& format) {
  next_format_ = format;
  if (block_.empty()) BeginBlock();
}

// Without compression the block is filled where it is sent from, else beside it.
void TableBuilder::BeginBlock() {
  if (next_format_.has_value()) {
    format_.block_size = next_format_->block_size;
    format_.block_restart_interval = next_format_->block_restart_interval;
    format_.compression = next_format_->compression;
    format_.zstd_level = next_format_->zstd_level;
    compressor_ = BlockCompressor(format_.compression, format_.zstd_level);
    block_.SetRestartInterval(format_.block_restart_interval);
    next_format_.reset();
  }
  const bool in_place = compressor_.kind() == Compression::kNone;
  if (!in_place) raw_.Clear();
  block_.Begin(in_place ? &out_ : &raw_);
}

void TableBuilder::FlushBlock() {
  WEFT_DCHECK(file_ != nullptr);
  if (block_.empty()) return;
  const std::string_view raw = block_.Finish();
  pending_handle_.offset = flushed_bytes_;
  pending_handle_.bytes =
      compressor_.kind() == Compression::kNone
          ? AppendBlockTrailer(out_.size() - raw.size(), Compression::kNone, &out_)
          : AppendBlock(raw, &compressor_, &out_);
  flushed_bytes_ += pending_handle_.bytes + kBlockTrailerBytes;
  index_pending_ = true;
  if (out_.size() >= kAppendBytes) WriteOut();
  if (filter_.has_value()) filter_->StartBlock(flushed_bytes_);
  BeginBlock();
}

// Only now, with the next block's first key known, can a short separator be found.
void TableBuilder::AddIndexEntryBefore(std::string_view key) {
  separator_.assign(block_.last_key());
  format_.comparator->FindShortestSeparator(&separator_, key);
  AddIndexEntry(separator_);
}

void TableBuilder::AddIndexEntry(std::string_view separator) {
  handle_bytes_.clear();
  pending_handle_.AppendTo(&handle_bytes_);
  index_.Add(separator, handle_bytes_);
  index_pending_ = false;
}

void TableBuilder::WriteOut() {
  if (status_.ok()) status_ = file_->Append(out_.From(0));
  out_.Clear();
}

Status TableBuilder::Finish() {
  WEFT_CHECK(file_ != nullptr);
  FlushBlock();
  if (index_pending_) {
    separator_.assign(block_.last_key());
    format_.comparator->FindShortSuccessor(&separator_);
    AddIndexEntry(separator_);
  }
  TableEnd end{.filter = {}, .index = index_.Finish(), .offset = flushed_bytes_};
  if (filter_.has_value()) end.filter = filter_->Finish();
  flushed_bytes_ += AppendTableEnd(format_, end, &compressor_, &out_);
  WriteOut();
  file_ = nullptr;
  return status_;
}

}  // namespace weft::table
