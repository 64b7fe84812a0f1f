#include "table/table_builder.h"

#include "base/check.h"
#include "base/coding.h"
#include "base/crc32c.h"

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
  pending_handle_ = compressor_.kind() == Compression::kNone
                        ? AppendTrailer(out_.size() - raw.size(), Compression::kNone)
                        : AppendCompressed(raw);
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

BlockHandle TableBuilder::AppendCompressed(std::string_view raw) {
  if (compressor_.kind() == Compression::kNone) return AppendRaw(raw);
  const size_t start = out_.size();
  char* const to = out_.Reserve(compressor_.BytesMax(raw.size()));
  const size_t bytes = compressor_.Compress(raw, to);
  if (bytes == 0) return AppendRaw(raw);
  out_.CommitTo(to + bytes);
  return AppendTrailer(start, compressor_.kind());
}

BlockHandle TableBuilder::AppendRaw(std::string_view stored) {
  const size_t start = out_.size();
  out_.Append(stored);
  return AppendTrailer(start, Compression::kNone);
}

// Completes the stored block that reaches from `start` to the end of out_.
BlockHandle TableBuilder::AppendTrailer(size_t start, Compression stored_as) {
  const size_t bytes = out_.size() - start;
  char* const trailer = out_.Reserve(kBlockTrailerBytes);
  trailer[0] = static_cast<char>(stored_as);
  const uint32_t crc = base::Crc32c(out_.data() + start, bytes + 1);
  base::EncodeFixed32(trailer + 1, base::MaskCrc32c(crc));
  out_.CommitTo(trailer + kBlockTrailerBytes);
  const BlockHandle handle{.offset = flushed_bytes_, .bytes = bytes};
  flushed_bytes_ += bytes + kBlockTrailerBytes;
  return handle;
}

void TableBuilder::WriteOut() {
  if (status_.ok()) status_ = file_->Append(out_.From(0));
  out_.Clear();
}

BlockHandle TableBuilder::WriteMetaindex(const std::optional<BlockHandle>& filter) {
  OutputBuffer bytes;
  BlockBuilder metaindex(format_.block_restart_interval);
  metaindex.Begin(&bytes);
  if (filter.has_value()) {
    std::string handle;
    filter->AppendTo(&handle);
    metaindex.Add(std::string("filter.") + format_.filter->Name(), handle);
  }
  return AppendCompressed(metaindex.Finish());
}

Status TableBuilder::Finish() {
  WEFT_CHECK(file_ != nullptr);
  FlushBlock();
  std::optional<BlockHandle> filter;
  if (filter_.has_value()) filter = AppendRaw(filter_->Finish());
  Footer footer;
  footer.metaindex = WriteMetaindex(filter);
  if (index_pending_) {
    separator_.assign(block_.last_key());
    format_.comparator->FindShortSuccessor(&separator_);
    AddIndexEntry(separator_);
  }
  footer.index = AppendCompressed(index_.Finish());
  std::string footer_bytes;
  footer.AppendTo(&footer_bytes);
  out_.Append(footer_bytes);
  flushed_bytes_ += footer_bytes.size();
  WriteOut();
  file_ = nullptr;
  return status_;
}

}  // namespace weft::table
