// table/decompress.h: opens compressed blocks.
//
// Threads   any; Zstd's working memory is kept for each thread.
// Errors    kCorruption where the bytes do not open, kUnsupported for a compression without a name,
//           kNoMemory where there is no room. Messages name no file: the caller adds it.
// Limits    the length a block claims is believed only as far as its compression could reach from
//           the bytes there are: a damaged file cannot ask for terabytes.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "weft/db_options.h"
#include "weft/status.h"

namespace weft::table {

struct Decompressed {
  std::unique_ptr<char[]> bytes;
  size_t size = 0;
};

// REQUIRES of all: type != Compression::kNone
Result<Decompressed> Decompress(Compression type, std::string_view stored);
// What Decompress would give, as `stored` claims.
Result<size_t> DecompressedBytes(Compression type, std::string_view stored);
// To where there is room for `bytes`, as DecompressedBytes has said.
Status DecompressTo(Compression type, std::string_view stored, char* to, size_t bytes);

}  // namespace weft::table
