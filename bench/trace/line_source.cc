#include "bench/trace/line_source.h"

#include <utility>

#include <fmt/format.h>

#include "bench/trace/field.h"

namespace weft::bench {

Status LineSource::Damaged(std::string_view what) const {
  return {Code::kCorruption, fmt::format("{}: line {}: {}", path(), number_, what)};
}

Result<bool> LineSource::NextOfAny(std::string_view* line) {
  source_->Take(std::exchange(line_bytes_, 0));
  size_t searched = 0;
  size_t end = std::string_view::npos;
  std::string_view ahead;
  while (end == std::string_view::npos) {
    auto more = source_->Ahead(searched + 1);
    if (!more) return more.error();
    ahead = *more;
    if (ahead.size() == searched) break;  // the end of the file
    end = ahead.find('\n', searched);
    searched = ahead.size();
    if (end == std::string_view::npos && searched > kBytesMax) break;
  }
  if (ahead.empty()) return false;
  ++number_;
  line_bytes_ = end == std::string_view::npos ? ahead.size() : end + 1;
  *line = ahead.substr(0, end);
  if (line->size() > kBytesMax) return Damaged(fmt::format("it has more than {} bytes", kBytesMax));
  if (line->ends_with('\r')) line->remove_suffix(1);
  return true;
}

Result<bool> LineSource::Next(std::string_view* line) {
  while (true) {
    auto more = NextOfAny(line);
    if (!more || !*more || !WithoutSpaces(*line).empty()) return more;
  }
}

}  // namespace weft::bench
