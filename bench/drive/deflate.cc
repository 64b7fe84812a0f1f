#include "bench/drive/deflate.h"

#include <zlib.h>

namespace weft::bench {

Result<std::string> Deflate(std::string_view bytes) {
  const auto* from = reinterpret_cast<const Bytef*>(bytes.data());
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, from, bytes.size(),
                Z_BEST_COMPRESSION) != Z_OK) {
    return Status(Code::kNoMemory, "zlib's deflate");
  }
  out.resize(size);
  return out;
}

}  // namespace weft::bench
