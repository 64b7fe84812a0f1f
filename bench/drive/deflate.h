// bench/drive/deflate.h: bytes compressed as zlib does (RFC 1950).
//
// Threads   pure.
// Errors    kUnsupported: weft-bench was built without zlib. kNoMemory: zlib has none.
#pragma once

#include <string>
#include <string_view>

#include "weft/status.h"

namespace weft::bench {

Result<std::string> Deflate(std::string_view bytes);

}  // namespace weft::bench
