#include "bench/trace/decoder.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace weft::bench {
namespace {

class PlainDecoder final : public Decoder {
 public:
  DecodeStep Decode(std::string_view in, bool, std::span<char> out) override {
    const size_t bytes = std::min(in.size(), out.size());
    if (bytes != 0) std::memcpy(out.data(), in.data(), bytes);
    return {.taken = bytes, .made = bytes, .is_between = true, .status = {}};
  }
};

// Other frames of zstd's that hold no data begin with one of sixteen numbers. Files of several
// members may begin with one.
bool IsSkippableZstd(std::string_view bytes) {
  return bytes.size() >= 4 && (static_cast<uint8_t>(bytes[0]) & 0xf0) == 0x50 &&
         bytes.substr(1, 3) == "\x2a\x4d\x18";
}

[[maybe_unused]] Status BuiltWithout(std::string_view kind, std::string_view library,
                                     std::string_view package) {
  return {Code::kUnsupported, std::string("it is compressed with ") + std::string(kind) +
                                  ", and this weft-bench was built without " +
                                  std::string(library) + " (Debian's " + std::string(package) +
                                  ")"};
}

}  // namespace

Compression CompressionOf(std::string_view first_bytes) {
  if (first_bytes.starts_with("\x1f\x8b\x08")) return Compression::kGzip;
  if (first_bytes.starts_with(std::string_view("\xfd"
                                               "7zXZ\0",
                                               6)))
    return Compression::kXz;
  if (first_bytes.starts_with("\x28\xb5\x2f\xfd") || IsSkippableZstd(first_bytes)) {
    return Compression::kZstd;
  }
  return Compression::kNone;
}

Result<std::unique_ptr<Decoder>> MakeDecoder(Compression compression) {
  switch (compression) {
    case Compression::kNone: break;
    case Compression::kGzip:
#ifdef WEFT_BENCH_HAS_ZLIB
      return MakeGzipDecoder();
#else
      return BuiltWithout("gzip", "zlib", "zlib1g-dev");
#endif
    case Compression::kXz:
#ifdef WEFT_BENCH_HAS_LZMA
      return MakeXzDecoder();
#else
      return BuiltWithout("xz", "liblzma", "liblzma-dev");
#endif
    case Compression::kZstd:
#ifdef WEFT_BENCH_HAS_ZSTD
      return MakeZstdDecoder();
#else
      return BuiltWithout("zstd", "libzstd", "libzstd-dev");
#endif
  }
  return std::unique_ptr<Decoder>(std::make_unique<PlainDecoder>());
}

}  // namespace weft::bench
