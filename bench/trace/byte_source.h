// bench/trace/byte_source.h: the bytes of a file, decompressed, from its beginning to its end.
//
// Damage    counts only once the reader comes to it: whatever stands before it can be read.
// Threads   one at a time.
// Errors    kNotFound, kIoError: the file. kCorruption: a compressed file that is damaged or ends
//           early; the message has the byte of the file. kNoMemory, kUnsupported: see Decoder.
// Cost      one copy of the bytes, also for a plain file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/posix_fd.h"
#include "bench/trace/decoder.h"
#include "weft/status.h"

namespace weft::bench {

class ByteSource {
 public:
  static constexpr size_t kAheadBytesMax = size_t{64} << 10;

  static Result<std::unique_ptr<ByteSource>> Open(const std::string& path);

  const std::string& path() const { return path_; }
  Compression compression() const { return compression_; }

  // The bytes that follow: at least `bytes` of them, at most kAheadBytesMax; fewer only at the end
  // of the file. Valid until the next call.
  Result<std::string_view> Ahead(size_t bytes) {
    if (ready().size() >= bytes) return ready();
    return Refill(bytes);
  }
  // The bytes that follow, as far as they are already decompressed.
  std::string_view ready() const { return {buffer_.data() + begin_, end_ - begin_}; }
  // REQUIRES: `bytes` of them are ready.
  void Take(size_t bytes) { begin_ += bytes; }

  // How many bytes follow, if that is known: for a plain file, and for a compressed one whose end
  // has been seen.
  std::optional<uint64_t> BytesLeft() const;

 private:
  ByteSource(std::string path, base::Fd fd, uint64_t file_bytes);

  Result<std::string_view> Refill(size_t bytes);
  Status ReadInput();
  void Step();
  Status ErrorAtByte(const Status& error) const;

  const std::string path_;
  const uint64_t file_bytes_;  // when it was opened
  base::Fd fd_;
  Compression compression_ = Compression::kNone;
  std::unique_ptr<Decoder> decoder_;

  // As in the file.
  std::vector<char> input_;
  size_t input_begin_ = 0, input_end_ = 0;  // read, and not yet decompressed
  uint64_t input_taken_ = 0;                // bytes of the file that were decompressed
  bool input_has_ended_ = false;

  // Decompressed.
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  bool has_ended_ = false;
  Status error_;  // what follows the buffer
};

}  // namespace weft::bench
