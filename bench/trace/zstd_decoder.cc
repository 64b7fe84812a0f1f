// Compiled where libzstd is installed.
#include <string>

#include <zstd.h>
#include <zstd_errors.h>

#include "bench/trace/decoder.h"

namespace weft::bench {
namespace {

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder() : context_(ZSTD_createDCtx()) {
    if (context_ != nullptr) {
      ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kDecoderMemoryLog);
    }
  }

  bool is_open() const { return context_ != nullptr; }

  DecodeStep Decode(std::string_view in, bool, std::span<char> out) override {
    if (in.empty() && is_between_) return {.is_between = true, .status = {}};
    ZSTD_inBuffer from = {in.data(), in.size(), 0};
    ZSTD_outBuffer to = {out.data(), out.size(), 0};
    const size_t answer = ZSTD_decompressStream(context_.get(), &to, &from);
    is_between_ = answer == 0;
    return {
        .taken = from.pos, .made = to.pos, .is_between = is_between_, .status = ZstdStatus(answer)};
  }

 private:
  static Status ZstdStatus(size_t answer) {
    if (ZSTD_isError(answer) == 0) return Status::Ok();
    switch (ZSTD_getErrorCode(answer)) {
      case ZSTD_error_memory_allocation: return {Code::kNoMemory, "zstd: no memory"};
      case ZSTD_error_frameParameter_windowTooLarge:
        return {Code::kNoMemory, "zstd: it needs more than 256 MiB to be decompressed"};
      default: return {Code::kCorruption, std::string("zstd: ") + ZSTD_getErrorName(answer)};
    }
  }

  std::unique_ptr<ZSTD_DCtx, FreeZstd> context_;
  bool is_between_ = true;
};

}  // namespace

Result<std::unique_ptr<Decoder>> MakeZstdDecoder() {
  auto decoder = std::make_unique<ZstdDecoder>();
  if (!decoder->is_open()) return Status(Code::kNoMemory, "zstd: no memory");
  return std::unique_ptr<Decoder>(std::move(decoder));
}

}  // namespace weft::bench
