// Compiled where liblzma is installed.
#include <lzma.h>

#include "bench/trace/decoder.h"

namespace weft::bench {
namespace {

// A check that the library does not know would let damage pass.
constexpr uint32_t kXzFlags = LZMA_CONCATENATED | LZMA_TELL_UNSUPPORTED_CHECK;

class XzDecoder final : public Decoder {
 public:
  XzDecoder()
      : is_open_(lzma_stream_decoder(&stream_, kDecoderMemoryBytesMax, kXzFlags) == LZMA_OK) {}
  ~XzDecoder() override { lzma_end(&stream_); }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;

  bool is_open() const { return is_open_; }

  DecodeStep Decode(std::string_view in, bool is_last, std::span<char> out) override {
    if (has_ended_) return {.is_between = true, .status = {}};
    stream_.next_in = reinterpret_cast<const uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<uint8_t*>(out.data());
    stream_.avail_out = out.size();
    // Only at the end of the file can it tell that no other member follows.
    const lzma_ret answer = lzma_code(&stream_, is_last ? LZMA_FINISH : LZMA_RUN);
    has_ended_ = answer == LZMA_STREAM_END;
    return {.taken = in.size() - stream_.avail_in,
            .made = out.size() - stream_.avail_out,
            .is_between = has_ended_,
            .status = XzStatus(answer)};
  }

 private:
  static Status XzStatus(lzma_ret answer) {
    switch (answer) {
      case LZMA_OK:
      case LZMA_STREAM_END:
      case LZMA_BUF_ERROR: return Status::Ok();  // the last: it was given nothing to go on with
      case LZMA_MEM_ERROR: return {Code::kNoMemory, "xz: no memory"};
      case LZMA_MEMLIMIT_ERROR:
        return {Code::kNoMemory, "xz: it needs more than 256 MiB to be decompressed"};
      case LZMA_UNSUPPORTED_CHECK:
        return {Code::kUnsupported, "xz: liblzma does not know its kind of checksum"};
      case LZMA_OPTIONS_ERROR:
        return {Code::kCorruption, "xz: damaged, or in a form unknown to liblzma"};
      case LZMA_FORMAT_ERROR:
        return {Code::kCorruption, "xz: the data after the xz stream are not xz"};
      default: return {Code::kCorruption, "xz: damaged"};
    }
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  const bool is_open_;
  bool has_ended_ = false;
};

}  // namespace

Result<std::unique_ptr<Decoder>> MakeXzDecoder() {
  auto decoder = std::make_unique<XzDecoder>();
  if (!decoder->is_open()) return Status(Code::kNoMemory, "xz: no memory");
  return std::unique_ptr<Decoder>(std::move(decoder));
}

}  // namespace weft::bench
