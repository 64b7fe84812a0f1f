#include "bench/trace/record_source.h"

#include <utility>

#include <fmt/format.h>

namespace weft::bench {

Status RecordSource::Damaged(std::string_view what) const {
  return {Code::kCorruption, fmt::format("{}: record {}: {}", source_->path(), number_, what)};
}

Result<bool> RecordSource::Next(std::string_view* record) {
  source_->Take(std::exchange(held_bytes_, 0));
  auto ahead = source_->Ahead(record_bytes_);
  if (!ahead) return ahead.error();
  if (ahead->empty()) return false;
  ++number_;
  if (ahead->size() < record_bytes_) {
    return Damaged(
        fmt::format("the file ends within it, after {} of {} bytes", ahead->size(), record_bytes_));
  }
  held_bytes_ = record_bytes_;
  *record = ahead->substr(0, record_bytes_);
  return true;
}

}  // namespace weft::bench
