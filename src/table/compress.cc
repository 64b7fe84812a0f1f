#include "table/compress.h"

#include <snappy.h>
#include <zstd.h>

#include "base/check.h"

namespace weft::table {

struct BlockCompressor::ZstdState {
  ZstdState() : context(ZSTD_createCCtx()) { WEFT_CHECK(context != nullptr); }
  ~ZstdState() { ZSTD_freeCCtx(context); }
  ZstdState(const ZstdState&) = delete;
  ZstdState& operator=(const ZstdState&) = delete;

  ZSTD_CCtx* context;
};

BlockCompressor::BlockCompressor(Compression kind, int zstd_level)
    : kind_(kind), zstd_level_(zstd_level) {
  if (kind == Compression::kZstd) zstd_ = std::make_unique<ZstdState>();
}
BlockCompressor::~BlockCompressor() = default;
BlockCompressor::BlockCompressor(BlockCompressor&&) noexcept = default;
BlockCompressor& BlockCompressor::operator=(BlockCompressor&&) noexcept = default;

size_t BlockCompressor::BytesMax(size_t raw_bytes) const {
  switch (kind_) {
    case Compression::kNone: return raw_bytes;
    case Compression::kSnappy: return snappy::MaxCompressedLength(raw_bytes);
    case Compression::kZstd: return ZSTD_compressBound(raw_bytes);
  }
  return raw_bytes;
}

size_t BlockCompressor::Compress(std::string_view raw, char* to) {
  WEFT_DCHECK(kind_ != Compression::kNone);
  size_t bytes = 0;
  if (kind_ == Compression::kSnappy) {
    snappy::RawCompress(raw.data(), raw.size(), to, &bytes);
  } else {
    bytes = ZSTD_compressCCtx(zstd_->context, to, BytesMax(raw.size()), raw.data(), raw.size(),
                              zstd_level_);
    if (ZSTD_isError(bytes) != 0) return 0;
  }
  return bytes < raw.size() - raw.size() / 8 ? bytes : 0;
}

}  // namespace weft::table
