// bench/trace/record_source.h: the records of a file in which all have the same length.
//
// Threads   one at a time.
// Errors    ByteSource's; kCorruption: the file ends within a record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "bench/trace/byte_source.h"
#include "weft/status.h"

namespace weft::bench {

class RecordSource {
 public:
  RecordSource(std::unique_ptr<ByteSource> source, size_t record_bytes)
      : source_(std::move(source)), record_bytes_(record_bytes) {}

  // The next record, valid until the next call. False: there is none.
  Result<bool> Next(std::string_view* record);
  // kCorruption that names the file and the last record, from 1.
  Status Damaged(std::string_view what) const;

 private:
  std::unique_ptr<ByteSource> source_;
  const size_t record_bytes_;
  size_t held_bytes_ = 0;  // of the last record: still ready in the source
  uint64_t number_ = 0;
};

}  // namespace weft::bench
