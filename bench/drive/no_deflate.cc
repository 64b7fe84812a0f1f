// Instead of deflate.cc where zlib is not installed.
#include "bench/drive/deflate.h"

namespace weft::bench {

Result<std::string> Deflate(std::string_view) {
  return Status(
      Code::kUnsupported,
      "this weft-bench cannot write histogram logs, because it was built without zlib (Debian's "
      "zlib1g-dev)");
}

}  // namespace weft::bench
