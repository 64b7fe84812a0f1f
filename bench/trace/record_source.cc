#include "bench/trace/record_source.h"

#include <utility>

#include <fmt/format.h>

namespace weft::bench {

Status RecordSource::Damaged(std::string_view what) const {
  return {Code::kCorruption, fmt::format("{}: record {}: {}", source_->path(), number_, what)};
}

Result<const char*> RecordSource::Next() {
  source_->Take(std::exchange(held_bytes_, 0));
  auto ahead = source_->Ahead(record_bytes_);
  if (!ahead) return ahead.error();
  if (ahead->empty()) return static_cast<const char*>(nullptr);
  ++number_;
  if (ahead->size() < record_bytes_) {
    return Damaged(
        fmt::format("the file ends within it, after {} of {} bytes", ahead->size(), record_bytes_));
  }
  held_bytes_ = record_bytes_;
  return ahead->data();
}

}  // namespace weft::bench
