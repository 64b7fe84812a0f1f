// bench/trace/decoder.h: one method of compression, undone piece by piece.
//
// Members   a file may have several, one behind the other. They count as one.
// Memory    what a file asks for, up to kDecoderMemoryBytesMax.
// Threads   one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "weft/status.h"

namespace weft::bench {

enum class Compression : uint8_t { kNone, kGzip, kXz, kZstd };

// By a file's first bytes. A plain file that begins like a compressed one is taken for one.
Compression CompressionOf(std::string_view first_bytes);

inline constexpr int kDecoderMemoryLog = 28;
inline constexpr size_t kDecoderMemoryBytesMax = size_t{1} << kDecoderMemoryLog;

// What a step did. Its counts hold even if it failed.
struct DecodeStep {
  size_t taken = 0;         // bytes of the input
  size_t made = 0;          // bytes of the output
  bool is_between = false;  // true: the last member has ended and the next has not begun
  Status status;            // the message says what is wrong, without the file and the byte
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  // Takes what it can of `in` and fills `out`, which has room. `is_last`: the file has no more than
  // `in`. If a step takes and makes nothing, it has reached the end of its input.
  virtual DecodeStep Decode(std::string_view in, bool is_last, std::span<char> out) = 0;
};

// kUnsupported: built without the library, which the message names.
Result<std::unique_ptr<Decoder>> MakeDecoder(Compression compression);

// Those of the libraries that are there. kNoMemory: the library finds none.
Result<std::unique_ptr<Decoder>> MakeGzipDecoder();
Result<std::unique_ptr<Decoder>> MakeXzDecoder();
Result<std::unique_ptr<Decoder>> MakeZstdDecoder();

}  // namespace weft::bench
