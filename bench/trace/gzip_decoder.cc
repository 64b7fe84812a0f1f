// Compiled where zlib is installed.
#include <string>

#include <zlib.h>

#include "bench/trace/decoder.h"

namespace weft::bench {
namespace {

constexpr int kGzipWindow = 15 + 16;  // of any size; with gzip's heads and no other

class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() : is_open_(inflateInit2(&stream_, kGzipWindow) == Z_OK) {}
  ~GzipDecoder() override {
    if (is_open_) inflateEnd(&stream_);
  }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  bool is_open() const { return is_open_; }

  DecodeStep Decode(std::string_view in, bool, std::span<char> out) override {
    if (in.empty() && is_between_) return {.is_between = true, .status = {}};
    if (is_between_) inflateReset(&stream_);
    is_between_ = false;
    // The library declares what it only reads as if it wrote to it.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int answer = inflate(&stream_, Z_NO_FLUSH);
    is_between_ = answer == Z_STREAM_END;
    return {.taken = in.size() - stream_.avail_in,
            .made = out.size() - stream_.avail_out,
            .is_between = is_between_,
            .status = StatusOf(answer)};
  }

 private:
  Status StatusOf(int answer) const {
    switch (answer) {
      case Z_OK:
      case Z_STREAM_END:
      case Z_BUF_ERROR: return Status::Ok();  // the last: it was given nothing to go on with
      case Z_MEM_ERROR: return {Code::kNoMemory, "gzip: no memory"};
      default: break;
    }
    const char* what = stream_.msg != nullptr ? stream_.msg : "damaged";
    return {Code::kCorruption, std::string("gzip: ") + what};
  }

  z_stream stream_ = {};
  const bool is_open_;
  bool is_between_ = true;
};

}  // namespace

Result<std::unique_ptr<Decoder>> MakeGzipDecoder() {
  auto decoder = std::make_unique<GzipDecoder>();
  if (!decoder->is_open()) return Status(Code::kNoMemory, "gzip: no memory");
  return std::unique_ptr<Decoder>(std::move(decoder));
}

}  // namespace weft::bench
