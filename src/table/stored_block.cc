#include "table/stored_block.h"

#include <string>

#include "base/coding.h"
#include "base/crc32c.h"
#include "table/block_builder.h"

namespace weft::table {

uint64_t AppendBlockTrailer(size_t start, Compression stored_as, OutputBuffer* out) {
  const size_t bytes = out->size() - start;
  char* const trailer = out->Reserve(kBlockTrailerBytes);
  trailer[0] = static_cast<char>(stored_as);
  const uint32_t crc = base::Crc32c(out->data() + start, bytes + 1);
  base::EncodeFixed32(trailer + 1, base::MaskCrc32c(crc));
  out->CommitTo(trailer + kBlockTrailerBytes);
  return bytes;
}

uint64_t AppendBlockAsIs(std::string_view raw, OutputBuffer* out) {
  const size_t start = out->size();
  out->Append(raw);
  return AppendBlockTrailer(start, Compression::kNone, out);
}

uint64_t AppendBlock(std::string_view raw, BlockCompressor* compressor, OutputBuffer* out) {
  if (compressor->kind() == Compression::kNone) return AppendBlockAsIs(raw, out);
  const size_t start = out->size();
  char* const to = out->Reserve(compressor->BytesMax(raw.size()));
  const size_t bytes = compressor->Compress(raw, to);
  if (bytes == 0) return AppendBlockAsIs(raw, out);
  out->CommitTo(to + bytes);
  return AppendBlockTrailer(start, compressor->kind(), out);
}

namespace {

std::string_view FinishMetaindex(const TableFormat& format,
                                 const std::optional<BlockHandle>& filter, OutputBuffer* bytes) {
  BlockBuilder metaindex(format.block_restart_interval);
  metaindex.Begin(bytes);
  if (filter.has_value()) {
    std::string handle;
    filter->AppendTo(&handle);
    metaindex.Add(std::string("filter.") + format.filter->Name(), handle);
  }
  return metaindex.Finish();
}

}  // namespace

uint64_t AppendTableEnd(const TableFormat& format, const TableEnd& end, BlockCompressor* compressor,
                        OutputBuffer* out) {
  uint64_t offset = end.offset;
  auto handle_of = [&](uint64_t bytes) {
    const BlockHandle handle{.offset = offset, .bytes = bytes};
    offset += bytes + kBlockTrailerBytes;
    return handle;
  };
  std::optional<BlockHandle> filter;
  if (end.filter.has_value()) filter = handle_of(AppendBlockAsIs(*end.filter, out));
  Footer footer;
  OutputBuffer metaindex;
  footer.metaindex =
      handle_of(AppendBlock(FinishMetaindex(format, filter, &metaindex), compressor, out));
  footer.index = handle_of(AppendBlock(end.index, compressor, out));
  std::string footer_bytes;
  footer.AppendTo(&footer_bytes);
  out->Append(footer_bytes);
  return offset + footer_bytes.size() - end.offset;
}

}  // namespace weft::table
