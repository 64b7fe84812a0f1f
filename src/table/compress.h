// table/compress.h: makes blocks smaller on their way into a table.
//
// Threads   one thread at a time for a compressor.
// Cost      Zstd's working memory is made once for a compressor.
// Source    the rule of what is kept is LevelDB's: at least an eighth must be saved.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "weft/db_options.h"

namespace weft::table {

class BlockCompressor {
 public:
  BlockCompressor(Compression kind, int zstd_level);
  ~BlockCompressor();
  BlockCompressor(BlockCompressor&&) noexcept;
  BlockCompressor& operator=(BlockCompressor&&) noexcept;

  Compression kind() const { return kind_; }
  // Room that Compress asks for.
  size_t BytesMax(size_t raw_bytes) const;
  // Writes `raw` compressed to `to` and returns its size; 0 where it is better kept as it is.
  // REQUIRES: kind() != kNone; BytesMax(raw.size()) of room, which does not overlap `raw`
  size_t Compress(std::string_view raw, char* to);

 private:
  struct ZstdState;

  Compression kind_;
  int zstd_level_;
  std::unique_ptr<ZstdState> zstd_;
};

}  // namespace weft::table
