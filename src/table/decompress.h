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

// REQUIRES: type != Compression::kNone
Result<Decompressed> Decompress(Compression type, std::string_view stored);

}  // namespace weft::table
