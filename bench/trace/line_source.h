// bench/trace/line_source.h: the lines of a file, without their line breaks.
//
// Breaks    "\n" or "\r\n". The last line may do without.
// Empty     lines, and those of spaces alone, are skipped, but counted.
// Threads   one at a time.
// Errors    ByteSource's; kCorruption: a line longer than kBytesMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bench/trace/byte_source.h"
#include "weft/status.h"

namespace weft::bench {

class LineSource {
 public:
  static constexpr size_t kBytesMax = ByteSource::kAheadBytesMax - 1;

  explicit LineSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  const std::string& path() const { return source_->path(); }
  // The next line, valid until the next call. False: there is none.
  Result<bool> Next(std::string_view* line);
  // kCorruption that names the file and the last line, from 1.
  Status Damaged(std::string_view what) const;

 private:
  Result<bool> NextOfAny(std::string_view* line);

  std::unique_ptr<ByteSource> source_;
  size_t line_bytes_ = 0;  // of the last one, with its break: still ready in the source
  uint64_t number_ = 0;
};

}  // namespace weft::bench
